/// Where the body of one request goes while it comes in.
///
/// Made by the responder for a request whose body is not held in memory. Everything is called on the
/// connection's event loop, in order, and must not block: the work belongs to other threads.
package protocol BodySink: AnyObject, Sendable {
    /// The next piece. Once it is dealt with, `BodyStream.consumed` must say so.
    func receive(_ piece: [UInt8])
    /// The body is whole; the answer is awaited.
    func end()
    /// Nothing more comes and no answer is awaited: the client went, broke the framing or was too
    /// slow. Not called after `end`, nor after an answer.
    func abort()
}

/// The flow of one body to its sink; usable from any thread.
package struct BodyStream: Sendable {
    private enum Source: Sendable {
        case closure(@Sendable (Int) -> Void)
        case connection(HTTPConnection, request: UInt32)
    }

    /// Bytes on the way to a sink above which nothing more is received.
    package static let windowBytes = 128 * 1024

    private let source: Source

    package init(_ consumed: @escaping @Sendable (Int) -> Void) { source = .closure(consumed) }

    init(_ connection: HTTPConnection, request: UInt32) {
        source = .connection(connection, request: request)
    }

    /// Says that so many bytes are dealt with, so that as many more may be received.
    package func consumed(_ count: Int) {
        switch source {
        case .closure(let consumed): consumed(count)
        case .connection(let connection, let request):
            connection.sinkConsumed(count, of: request)
        }
    }
}
