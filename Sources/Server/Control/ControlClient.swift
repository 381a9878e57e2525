/// Sends commands to the server that holds a data folder.
package struct ControlClient: Sendable {
    private let path: String

    package init(path: String) { self.path = path }

    /// Has the server run a command; nil when no server listens.
    ///
    /// - Parameter secondsMax: how long to wait for the answer; nil for as long as it takes.
    /// - Throws: `CommandFailure` when the server gives no answer, so that nobody knows what it did.
    package func run(
        _ arguments: [String], inputs: [String: [UInt8]], secondsMax: Int?
    ) throws(CommandFailure) -> CommandAnswer? {
        do {
            let socket = try LocalSocket.connect(to: path)
            socket.setDeadline(seconds: secondsMax)
            try socket.send(ControlRequest(arguments: arguments, inputs: inputs).frame)
            guard let answer = CommandAnswer(frame: try socket.receive()) else {
                throw CommandFailure("the server's answer cannot be read")
            }
            return answer
        } catch LocalSocket.Failure.absent {
            return nil
        } catch let failure as CommandFailure {
            throw failure
        } catch let failure as LocalSocket.Failure {
            throw CommandFailure(
                "the server did not answer the command: \(FileFailure.reason(of: failure))")
        } catch {
            throw CommandFailure("the server did not answer the command")
        }
    }
}
