import Control
import Server

/// What a command that comes to the operators' interface reads and writes: the body of its request, and its answer.
struct ConsoleFiles: CallerFiles {
    private let stream: any ConsoleStream
    private let type: String
    private let isReading: Bool

    init(_ stream: any ConsoleStream, for invocation: Invocation) {
        self.stream = stream
        isReading = invocation.command.readsStream
        if case .copy = invocation.command.action {
            type = "application/zip"
        } else if invocation.command.name == "record asset" {
            type = "application/octet-stream"
        } else {
            type =
                invocation.value("format") == "csv"
                ? "text/csv; charset=utf-8" : "application/x-ndjson"
        }
    }

    func answer(_ request: CallerFileRequest) throws(CommandFailure) -> [UInt8] {
        switch request {
        case .size, .finish: return []
        case .read:
            guard let piece = stream.read() else {
                throw CommandFailure("the rest of the body did not come")
            }
            return piece
        case .write(_, _, let bytes), .print(let bytes):
            // An answer that has begun is no other one.
            guard !isReading, stream.send(bytes, as: type) else {
                throw CommandFailure("the caller has gone")
            }
            return []
        }
    }

    /// Begins an answer that goes on, so that its caller knows that it does.
    func tell(_ progress: String) -> Bool {
        isReading ? !stream.isGone : stream.send([], as: type)
    }

    func pause<Result, Failure: Error>(
        _ wait: () throws(Failure) -> Result
    ) throws(Failure) -> Result { try wait() }
}
