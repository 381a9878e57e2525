/// Sends commands to the server that holds a data folder.
package struct ControlClient: Sendable {
    private let path: String

    package init(path: String) { self.path = path }

    /// Asks the server to run a command; nil when no server listens.
    ///
    /// - Parameters:
    ///   - secondsMax: how long to wait for the answer; nil for as long as it takes.
    ///   - files: does what the command asks for here; nil for one that asks for nothing.
    ///   - receive: gets what else the server sends before its answer.
    /// - Throws: `CommandFailure` when the server gives no answer, so that nobody knows what it did, and
    ///   what `receive` throws.
    package func run(
        _ request: ControlRequest, secondsMax: Int?, files: (any CallerFiles)? = nil,
        receive: (ControlFrame) throws -> Void = { _ in }
    ) throws(CommandFailure) -> CommandAnswer? {
        do {
            let socket = try LocalSocket.connect(to: path)
            socket.setDeadline(seconds: secondsMax)
            try socket.send(request.frame)
            while true {
                let frame = ControlFrame(try socket.receive())
                if case .request(let asked) = frame {
                    try socket.send(CallerFileReply.frame(to: asked, for: files))
                    continue
                }
                try receive(frame)
                guard case .answer(let bytes) = frame else { continue }
                guard let answer = CommandAnswer(frame: bytes) else {
                    throw CommandFailure("the server's answer cannot be read")
                }
                return answer
            }
        } catch LocalSocket.Failure.absent {
            return nil
        } catch let failure as CommandFailure {
            throw failure
        } catch let failure as LocalSocket.Failure {
            throw CommandFailure(
                "the server did not answer the command: \(failure.reason)")
        } catch {
            throw CommandFailure("the server did not answer the command")
        }
    }
}
