#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Sends files to the process in which somebody typed a command.
///
/// That process may write in places where the server may not.
package struct FileSender: Sendable {
    /// How long the caller may take for a piece: its disk may be slow.
    static let pieceSecondsMax = 300

    private let socket: LocalSocket

    init(to socket: LocalSocket) { self.socket = socket }

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
        var piece = [UInt8](repeating: 0, count: ControlFrame.pieceBytes)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count == 0 { return }
            if count > 0 {
                try send(.piece(Array(piece[..<count])))
            } else if errno != EINTR {
                throw failure("read", path)
            }
        }
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
