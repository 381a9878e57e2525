/// The one chance to answer a request; usable from any thread, once.
///
/// An answer to a connection that has gone meanwhile is dropped.
package struct HTTPReply: Sendable {
    private enum Destination: Sendable {
        case closure(@Sendable (HTTPResponse) -> Void)
        // The number tells the request apart from later ones on the connection.
        case connection(HTTPConnection, request: UInt32)
    }

    private let destination: Destination

    package init(_ deliver: @escaping @Sendable (HTTPResponse) -> Void) {
        destination = .closure(deliver)
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

    /// Answers; a second call does nothing.
    package func send(_ response: HTTPResponse) {
        switch destination {
        case .closure(let deliver): deliver(response)
        case .connection(let connection, let request):
            connection.answer(response, to: request)
        }
    }
}
