import Dispatch
import HTTP
import Synchronization

/// One request to the operators' interface whose body or answer streams.
///
/// A client that does not read holds up its command, and so does a command that does not read its client.
final class ConsoleExchange: ConsoleStream, BodySink {
    private struct State {
        var pieces: [[UInt8]] = []
        var isGone = false
        var hasBegun = false
        /// Whether it may go on, which is asked again and again.
        var isValid: @Sendable () -> Bool = { true }
    }

    private let reply: HTTPReply
    private let headers: [(name: String, value: String)]
    private let incoming: BodyStream?
    private let isStopped: @Sendable () -> Bool
    private let open = OpenBody()
    private let state = Mutex(State())
    /// Signalled for each piece, for the end, and when the client has gone.
    private let arrived = DispatchSemaphore(value: 0)

    /// Made on the event loop, before the request is answered.
    ///
    /// - Parameters:
    ///   - headers: of an answer that goes on, without its type.
    ///   - incoming: the request's body; nil for one that has come whole.
    ///   - isStopped: whether the server ends.
    init(
        _ reply: HTTPReply, headers: [(name: String, value: String)], incoming: BodyStream? = nil,
        isStopped: @escaping @Sendable () -> Bool
    ) {
        self.reply = reply
        self.headers = headers
        self.incoming = incoming
        self.isStopped = isStopped
        reply.whenAbandoned { [weak self] in self?.abort() }
    }

    var isGone: Bool {
        let (isGone, isValid) = state.withLock { ($0.isGone, $0.isValid) }
        return isStopped() || isGone || !isValid()
    }

    /// Ends it as if its client had gone, once a condition does not hold any more.
    func hold(while isValid: @escaping @Sendable () -> Bool) {
        state.withLock { $0.isValid = isValid }
    }

    /// Whether anything was sent.
    var hasBegun: Bool { state.withLock { $0.hasBegun } }

    // MARK: - The request

    func receive(_ piece: [UInt8]) {
        state.withLock { $0.pieces.append(piece) }
        arrived.signal()
    }

    func end() { receive([]) }

    func abort() {
        state.withLock { $0.isGone = true }
        arrived.signal()
    }

    func read() -> [UInt8]? {
        guard let incoming else { return [] }
        arrived.wait()
        let piece = state.withLock { state -> [UInt8]? in
            guard !state.isGone, let piece = state.pieces.first else { return nil }
            // The end stays where it is.
            if !piece.isEmpty { state.pieces.removeFirst() }
            return piece
        }
        if let piece, !piece.isEmpty {
            incoming.consumed(piece.count)
        } else {
            arrived.signal()
        }
        return piece
    }

    // MARK: - The answer

    func send(_ bytes: [UInt8], as type: String) -> Bool {
        guard !isGone else { return false }
        let begins = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        // Nothing is no piece.
        guard begins || !bytes.isEmpty else { return true }
        let taken = Mutex(false)
        let isSent = DispatchSemaphore(value: 0)
        let whenSent: OpenBody.WhenSent = { isTaken in
            taken.withLock { $0 = isTaken }
            isSent.signal()
        }
        if begins {
            var response = HTTPResponse(
                status: 200, headers: [("Content-Type", type)] + headers, body: bytes)
            response.open = open
            reply.send(response, whenSent: whenSent)
        } else {
            open.send(bytes, whenSent: whenSent)
        }
        isSent.wait()
        let isTaken = taken.withLock { $0 }
        if !isTaken { abort() }
        return isTaken
    }

    /// Ends an answer that was begun; in its middle where the command failed.
    func finish(isWhole: Bool) {
        if isWhole { open.send([], isLast: true) { _ in } } else { open.cut() }
    }
}
