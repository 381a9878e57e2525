/// What a command reads and writes where it was typed: the files that its arguments name, standard input and output.
///
/// A command that takes or makes more than a message holds goes piece by piece through here, wherever it runs. The
/// files are opened by the user who typed the command.
package protocol CallerFiles: Sendable {
    /// Does one thing there.
    ///
    /// - Throws: `CommandFailure` when it cannot be done, or when nobody is there any more.
    func answer(_ request: CallerFileRequest) throws(CommandFailure) -> [UInt8]

    /// Says how far the command has come, in a line; false when nobody is there any more.
    func tell(_ progress: String) -> Bool

    /// Waits for something, without keeping other commands from running.
    func pause<Result, Failure: Error>(
        _ wait: () throws(Failure) -> Result
    ) throws(Failure) -> Result
}

/// One thing that a command asks for where it was typed.
///
/// A file is known by the name of the argument that names it; a file beside it by this name and
/// `.assets/` and its own.
package enum CallerFileRequest: Sendable, Equatable {
    /// How long a file is: 8 bytes, the most significant first; none when there is no such file.
    case size(of: String)
    /// The bytes from a place on, as many at most; none at the end. Standard input is read where it stands.
    case read(String, at: Int64, countMax: Int)
    /// Writes bytes at a place of a file, which is made when there is none, for its user alone.
    case write(String, at: Int64, [UInt8])
    /// Cuts a file to a length, and returns once the disk has it.
    case finish(String, size: Int64)
    /// Writes to standard output.
    case print([UInt8])
}

extension CallerFiles {
    /// Of a piece that is read or written at once.
    package static var pieceBytes: Int { ControlFrame.pieceBytes }

    /// How long a file is; nil when there is none.
    package func size(of name: String) throws(CommandFailure) -> Int64? {
        let bytes = try answer(.size(of: name))
        return bytes.isEmpty ? nil : bytes.reduce(0) { $0 << 8 | Int64($1) }
    }

    /// A piece of a file or of standard input; empty at its end.
    package func read(
        _ name: String, at offset: Int64, countMax: Int = Self.pieceBytes
    ) throws(CommandFailure) -> [UInt8] {
        try answer(.read(name, at: offset, countMax: countMax))
    }

    /// Writes all of it, in pieces.
    package func write(
        _ name: String, at offset: Int64, _ bytes: [UInt8]
    ) throws(CommandFailure) {
        var done = 0
        repeat {
            let piece = Array(bytes[done..<min(bytes.count, done + Self.pieceBytes)])
            _ = try answer(.write(name, at: offset + Int64(done), piece))
            done += piece.count
        } while done < bytes.count
    }

    /// Cuts a file to a length, and returns once the disk has it.
    package func finish(_ name: String, size: Int64) throws(CommandFailure) {
        _ = try answer(.finish(name, size: size))
    }

    /// Writes to standard output.
    package func print(_ bytes: [UInt8]) throws(CommandFailure) { _ = try answer(.print(bytes)) }
}
