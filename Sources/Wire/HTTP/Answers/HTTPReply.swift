/// The one chance to answer a request; usable from any thread, once.
///
/// An answer to a connection that has gone meanwhile is dropped.
package struct HTTPReply: Sendable {
    /// Runs work elsewhere, soon.
    package typealias Waking = @Sendable (@escaping @Sendable () -> Void) -> Void

    private enum Destination: Sendable {
        case closure(@Sendable (HTTPResponse) -> Void, Waking, isRead: Bool)
        // The number tells the request apart from later ones on the connection.
        case connection(HTTPConnection, request: UInt32)
    }

    private let destination: Destination

    /// - Parameters:
    ///   - isRead: whether the client reads its answer; one who does not has never taken its last byte.
    ///   - wake: what `wake` does; at once and in place when left out.
    package init(
        isRead: Bool = true, wake: @escaping Waking = { $0() },
        _ deliver: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        destination = .closure(deliver, wake, isRead: isRead)
    }

    init(_ connection: HTTPConnection, request: UInt32) {
        destination = .connection(connection, request: request)
    }

    /// Says what to call when the client goes before it has its answer: at most once, on the event loop.
    ///
    /// Called at most once for a request, on its event loop's thread, before it is answered.
    package func whenAbandoned(_ abandon: @escaping @Sendable () -> Void) {
        guard case .connection(let connection, let request) = destination else { return }
        connection.watchForAbandonment(of: request, abandon)
    }

    /// Runs work on the event loop of the request's connection, soon; from any thread.
    ///
    /// For who must do no more than wake somebody, such as a writer that has just committed. Also runs
    /// when the client has gone: there is still something to be logged.
    package func wake(_ work: @escaping @Sendable () -> Void) {
        switch destination {
        case .closure(_, let wake, _): wake(work)
        case .connection(let connection, _): connection.shared.events.post(work)
        }
    }

    /// Runs work on the event loop of the request's connection, soon, as if the request had come just now; from
    /// any thread.
    ///
    /// - Returns: false, and nothing is run, where the request came by no connection.
    package func resumeOnLoop(_ work: @escaping @Sendable () -> Void) -> Bool {
        guard case .connection(let connection, _) = destination else { return false }
        connection.shared.events.post(work)
        return true
    }

    /// Answers; a second call does nothing.
    ///
    /// - Parameter whenSent: told once, on any thread, whether the system has taken the answer's last byte for
    ///   the client. Must not block.
    package func send(_ response: HTTPResponse, whenSent: (@Sendable (Bool) -> Void)? = nil) {
        switch destination {
        case .closure(let deliver, _, let isRead):
            deliver(response)
            if isRead { whenSent?(true) }
        case .connection(let connection, let request):
            connection.answer(response, to: request, whenSent: whenSent)
        }
    }
}
