import Cryptography
import Platform

/// A file on its way that another process goes on with.
package struct ResumedAsset {
    package let upload: any AssetUpload
    /// How long the whole will be.
    package let byteCount: Int
    /// How much of it is there.
    package let received: Int
}

/// The note beside a file that is still coming in, so that the next process finds the file.
///
/// It holds the file's name, the length of the whole, and since when the machine has run.
///
/// The next process finds what a process has written. After the next start of the machine, bytes
/// that were never forced to disk may be missing in the middle. So such files do not outlive a
/// start of the machine.
struct ResumableNote: Equatable {
    static let suffix = ".note"
    private static let bytesMax = 256

    let file: String
    let byteCount: Int

    /// Nil where there is none, or one of another start of the machine.
    static func read(_ path: String) -> ResumableNote? {
        guard let machine = machineStart, let (note, start) = contents(of: path),
            start == "\(machine)\n"
        else { return nil }
        return note
    }

    /// The name of the file that a note is beside, whichever start of whichever machine it is of; nil where there is none.
    static func file(in path: String) -> String? { contents(of: path)?.note.file }

    private static func contents(of path: String) -> (note: ResumableNote, start: Substring)? {
        let descriptor = AssetFiles.open(path, O_RDONLY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // NB: what cannot be read is as good as not there: the upload begins anew.
        guard let bytes = try? AssetFiles.read(descriptor, at: 0, count: bytesMax) else {
            return nil
        }
        let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        guard words.count == 3, let byteCount = Int(words[1]), byteCount >= 0,
            Hexadecimal.decode(String(words[0])) != nil
        else { return nil }
        return (ResumableNote(file: String(words[0]), byteCount: byteCount), words[2])
    }

    /// Puts it in the place of one that is there.
    ///
    /// - Returns: false where nobody knows since when the machine has run.
    func write(_ path: String) throws(AssetFailure) -> Bool {
        guard let machine = Self.machineStart else { return false }
        let fresh = "\(path).\(file)"
        let descriptor = AssetFiles.open(fresh, O_WRONLY | O_CREAT | O_EXCL)
        guard descriptor >= 0 else { throw AssetFiles.failure("open") }
        defer { close(descriptor) }
        let text = Array("\(file) \(byteCount) \(machine)\n".utf8)
        guard Self.write(text, descriptor), rename(fresh, path) == 0 else {
            let failure = AssetFiles.failure("write")
            unlink(fresh)
            throw failure
        }
        return true
    }

    private static func write(_ text: [UInt8], _ descriptor: Int32) -> Bool {
        text.withUnsafeBytes {
            #if canImport(Glibc)
                Glibc.write(descriptor, $0.baseAddress, $0.count) == $0.count
            #else
                Darwin.write(descriptor, $0.baseAddress, $0.count) == $0.count
            #endif
        }
    }

    /// Names this start of the machine; nil where the system does not tell.
    private static let machineStart: String? = {
        #if canImport(Glibc)
            let descriptor = AssetFiles.open("/proc/sys/kernel/random/boot_id", O_RDONLY)
            guard descriptor >= 0 else { return nil }
            defer { close(descriptor) }
            // NB: where it cannot be read, nothing is gone on with.
            guard let bytes = try? AssetFiles.read(descriptor, at: 0, count: 36), bytes.count == 36
            else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        #else
            var text = [UInt8](repeating: 0, count: 64)
            var count = text.count
            guard sysctlbyname("kern.bootsessionuuid", &text, &count, nil, 0) == 0 else {
                return nil
            }
            return String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
        #endif
    }()
}
