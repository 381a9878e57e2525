import Control
import Files
import Server

/// The files of the process in which a command was typed.
///
/// Only files that the command's arguments name are touched, and those in the folder beside them.
struct LocalFiles: CallerFiles {
    private static let folderSuffix = ".assets"
    private static let nameBytesMax = 200

    private let invocation: Invocation
    private let process: ProcessEnvironment
    private let line: ProgressLine

    init(_ invocation: Invocation, _ process: ProcessEnvironment, _ line: ProgressLine) {
        self.invocation = invocation
        self.process = process
        self.line = line
    }

    func tell(_ progress: String) -> Bool { line.show(progress) }

    func pause<Result, Failure: Error>(
        _ wait: () throws(Failure) -> Result
    ) throws(Failure) -> Result { try wait() }

    func answer(_ request: CallerFileRequest) throws(CommandFailure) -> [UInt8] {
        do {
            return try perform(request)
        } catch {
            throw error as? CommandFailure ?? CommandFailure("\(error)")
        }
    }

    private func perform(_ request: CallerFileRequest) throws -> [UInt8] {
        switch request {
        case .size(let name):
            guard let path = try path(of: name), try FileSystem.kind(of: path) != nil else {
                return []
            }
            return CallerFileRequest.number(FileSystem.size(of: path))
        case .read(let name, let offset, let count):
            if let path = try path(of: name) {
                return try FileSystem.contents(of: path, at: offset, bytesMax: count)
            }
            guard let bytes = process.readInputPiece(count) else {
                throw CommandFailure("standard input cannot be read")
            }
            return bytes
        case .write(let name, let offset, let bytes):
            guard let path = try path(of: name) else {
                process.writeOutput(bytes)
                break
            }
            if name.contains("/"), let folder = FileSystem.parent(of: path) {
                try FileSystem.makeFolder(folder)
            }
            try FileSystem.write(bytes, at: offset, of: path)
        case .finish(let name, let size):
            if let path = try path(of: name) { try FileSystem.cut(path, to: size) }
        case .print(let bytes):
            line.clear()
            process.writeOutput(bytes)
        }
        return []
    }

    /// Where a file lies that an argument names; nil for standard input or output.
    private func path(of name: String) throws(CommandFailure) -> String? {
        let parts = name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let isBeside = parts.count == 2 && parts[0].hasSuffix(Self.folderSuffix)
        let argument = isBeside ? String(parts[0].dropLast(Self.folderSuffix.count)) : name
        guard invocation.command.streams(argument), let value = invocation.value(argument) else {
            throw CommandFailure("the command asked for a file that nobody named")
        }
        guard isBeside else { return value == "-" ? nil : process.absolute(value) }
        let isPlain =
            (1...Self.nameBytesMax).contains(parts[1].utf8.count) && !parts[1].hasPrefix(".")
            && !parts[1].utf8.contains(UInt8(ascii: "/")) && !parts[1].utf8.contains(0)
        guard isPlain, value != "-" else {
            throw CommandFailure("the command asked for a file under a name that leads elsewhere")
        }
        return "\(process.absolute(value))\(Self.folderSuffix)/\(parts[1])"
    }
}

extension Command {
    /// Whether an argument names a file that is read or written piece by piece.
    fileprivate func streams(_ argument: String) -> Bool {
        positionals.contains { $0.name == argument && $0.kind == .streamed }
            || options.contains { $0.name == argument && $0.kind == .streamed }
    }
}
