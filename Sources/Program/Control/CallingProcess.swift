import Files

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The process in which somebody typed a command, as the server sees it that runs the command.
///
/// That process may read and write in places where the server may not.
package struct CallingProcess: CallerFiles {
    /// How long the caller may take for a piece: its disk may be slow.
    static let pieceSecondsMax = 300

    private let socket: LocalSocket
    private let waiting: @Sendable (Bool) -> Void

    /// - Parameter waiting: told when the command begins and ends to wait for something.
    init(_ socket: LocalSocket, waiting: @escaping @Sendable (Bool) -> Void) {
        self.socket = socket
        self.waiting = waiting
    }

    /// Sends one file.
    ///
    /// - Parameter name: where it belongs below the caller's folder.
    /// - Throws: `CommandFailure` when the file cannot be read or the caller has gone.
    package func send(_ path: String, as name: String) throws(CommandFailure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", path) }
        defer { close(descriptor) }
        socket.setDeadline(seconds: Self.pieceSecondsMax)
        try send(.file(name: name))
        while let piece = FileSystem.piece(of: descriptor, countMax: ControlFrame.pieceBytes) {
            if piece.isEmpty { return }
            try send(.piece(piece))
        }
        throw failure("read", path)
    }

    /// Sends one file that is made on the way.
    ///
    /// - Parameter body: hands on the bytes, one after the other.
    /// - Throws: `CommandFailure` when the caller has gone; what `body` throws.
    package func stream(
        _ name: String, _ body: (@escaping ([UInt8]) throws -> Void) throws -> Void
    ) throws {
        socket.setDeadline(seconds: Self.pieceSecondsMax)
        try send(.file(name: name))
        try body { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                try send(.piece(Array(rest.prefix(ControlFrame.pieceBytes))))
                rest = rest.dropFirst(ControlFrame.pieceBytes)
            }
        }
    }

    /// Says how far the command has come; false when the caller has gone.
    package func tell(_ progress: String) -> Bool {
        // NB: who has gone needs nothing, and the command ends where it can.
        (try? send(.progress(progress))) != nil
    }

    package func answer(_ request: CallerFileRequest) throws(CommandFailure) -> [UInt8] {
        let frame: [UInt8]
        do throws(LocalSocket.Failure) {
            socket.setDeadline(seconds: Self.pieceSecondsMax)
            try socket.send(ControlFrame.request(request).bytes)
            // Standard input may be a person, or another program that takes its time.
            if case .read = request { socket.setDeadline(seconds: nil) }
            frame = try pause { () throws(LocalSocket.Failure) in try socket.receive() }
        } catch {
            throw CommandFailure("the caller has gone: \(error.reason)")
        }
        return try CallerFileReply.bytes(of: frame)
    }

    package func pause<Result, Failure: Error>(
        _ wait: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        waiting(true)
        defer { waiting(false) }
        return try wait()
    }

    private func send(_ frame: ControlFrame) throws(CommandFailure) {
        do throws(LocalSocket.Failure) {
            try socket.send(frame.bytes)
        } catch {
            throw CommandFailure(
                "the command takes no more files: \(error.reason)")
        }
    }

    private func failure(_ what: String, _ path: String) -> CommandFailure {
        CommandFailure("cannot \(what) \(path): \(String(cString: strerror(errno)))")
    }
}
