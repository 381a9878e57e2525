import Dispatch

/// One whole answer.
package struct HTTPResponse: Sendable {
    package var status: Int
    /// Header fields as they go out, beside those that the connection adds itself.
    ///
    /// It adds Date, Content-Length, Connection and Content-Encoding. A name or value with CR, LF or
    /// NUL is refused by the serializer.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// What follows the body without having been in memory; nil in most answers.
    package var stream: StreamedBody?
    /// What follows the body as it is made; nil in most answers.
    package var open: OpenBody?
    /// Set when the connection must not be used again after this answer.
    package var closesConnection: Bool

    package init(
        status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        closesConnection: Bool = false
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.closesConnection = closesConnection
    }

    /// Of the whole body, as it goes out when it is not compressed.
    package var bodyBytes: Int { body.count + (stream?.byteCount ?? 0) }
}

/// What the server calls with each request.
package protocol Responder: Sendable {
    /// Answers one request by calling `reply.send` exactly once, now or later, from any thread.
    ///
    /// Called on the event loop's thread: nothing here may block. A reply sent before the call
    /// returns goes out without a hop.
    func respond(to request: HTTPRequest, reply: HTTPReply)

    /// Decides what becomes of a body of which not all has come with the head, or that is
    /// compressed.
    ///
    /// Called on the event loop's thread: nothing here may block. The request has no body yet.
    ///
    /// - Returns: `answered` only after `reply.send`; otherwise nobody may use the reply: `respond`
    ///   gets another one, with the whole request.
    func decide(on request: HTTPRequest, reply: HTTPReply) -> BodyDecision

    /// Runs what takes too long for an event loop on another thread, for the sake of a request.
    func runLong(for request: HTTPRequest, _ work: @escaping @Sendable () -> Void)

    /// Whether the body of a request to a target is handed on while it comes in.
    ///
    /// Asked on the event loop for each request with a body, so the target alone must tell.
    func streamsBody(of target: [UInt8]) -> Bool

    /// Begins a request whose body streams; its own `body` is empty.
    ///
    /// Called on the event loop's thread: nothing here may block. Answering before the body is whole
    /// refuses the rest of it, and the connection ends with that answer.
    ///
    /// - Returns: what takes the body; nil when it is not wanted and an answer says so.
    func receive(
        _ request: HTTPRequest, stream: BodyStream, reply: HTTPReply
    ) -> (any BodySink)?
}

extension Responder {
    package func decide(on request: HTTPRequest, reply: HTTPReply) -> BodyDecision {
        .receive(BodyOptions(owner: .block(request.client)))
    }

    package func runLong(
        for request: HTTPRequest, _ work: @escaping @Sendable () -> Void
    ) { DispatchQueue(label: "http.long").async(execute: work) }

    package func streamsBody(of target: [UInt8]) -> Bool { false }

    package func receive(
        _ request: HTTPRequest, stream: BodyStream, reply: HTTPReply
    ) -> (any BodySink)? {
        reply.send(HTTPResponse(status: 500, closesConnection: true))
        return nil
    }
}
