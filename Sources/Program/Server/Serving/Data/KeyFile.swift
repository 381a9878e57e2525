import Control
import Cryptography
import Files

/// A file with one key of 32 bytes, as 64 hexadecimal digits.
enum KeyFile {
    private static let keyBytes = 32

    /// - Parameter setting: names the file.
    /// - Throws: `CommandFailure` for a file that holds something else; what reading it throws.
    static func bytes(of path: String, named setting: String) throws -> [UInt8] {
        var text = try FileSystem.contents(of: path, bytesMax: 1_024)[...]
        while let last = text.last, last == 0x0A || last == 0x0D || last == 0x20 {
            text = text.dropLast()
        }
        guard let bytes = Hexadecimal.decode(text), bytes.count == keyBytes else {
            throw CommandFailure(
                "\(setting): \(path) does not hold 64 lower-case hexadecimal digits; "
                    + "make one with: openssl rand -hex 32")
        }
        return bytes
    }
}

/// A data folder's name for itself, which no copy of the folder has: they are others.
enum FolderName {
    private static let nameBytes = 16

    /// Reads the name, made when it is first asked for.
    ///
    /// - Parameter file: where the folder keeps it.
    static func read(_ file: String, in folder: String, _ random: RandomSource) throws -> String {
        let path = "\(folder)/\(file)"
        if try FileSystem.kind(of: path) == nil {
            let name = Hexadecimal.encode(random.bytes(nameBytes))
            try FileSystem.write(Array("\(name)\n".utf8), over: path)
            try FileSystem.synchronize(folder)
        }
        let text = try FileSystem.contents(of: path, bytesMax: 64)
        return String(decoding: text.prefix { $0 != 0x0A }, as: UTF8.self)
    }
}
