import Administration
import Files

/// Files of a transfer inside the server, in a folder of its own.
struct FolderFiles: TransferFiles {
    private static let pieceBytes = 1_048_576
    private static let mainName = "records.jsonl"

    private let path: String
    private let goesOn: @Sendable () -> Bool

    /// Makes the folder.
    ///
    /// - Throws: `FileSystemFailure`.
    init(in path: String, while goesOn: @escaping @Sendable () -> Bool) throws {
        self.path = path
        self.goesOn = goesOn
        try FileSystem.makeFolder(path)
    }

    private func path(of file: TransferFile) -> String {
        switch file {
        case .main: "\(path)/\(Self.mainName)"
        case .beside(let name): "\(path)/asset-\(name)"
        }
    }

    func size(of file: TransferFile) throws -> Int64? {
        let path = path(of: file)
        return try FileSystem.kind(of: path) == nil ? nil : FileSystem.size(of: path)
    }

    func read(_ file: TransferFile, at offset: Int64) throws -> [UInt8] {
        try FileSystem.contents(of: path(of: file), at: offset, bytesMax: Self.pieceBytes)
    }

    func write(_ file: TransferFile, at offset: Int64, _ bytes: [UInt8]) throws {
        try FileSystem.write(bytes, at: offset, of: path(of: file))
    }

    func finish(_ file: TransferFile, size: Int64) throws {
        try FileSystem.cut(path(of: file), to: size)
    }

    func tell(_ progress: String) -> Bool { goesOn() }

    func pause<Result, Failure: Error>(
        _ wait: () throws(Failure) -> Result
    ) throws(Failure) -> Result { try wait() }
}
