/// One whole answer.
package struct HTTPResponse: Sendable {
    package var status: Int
    /// Header fields as they go out, beside those that the connection adds itself.
    ///
    /// It adds Date, Content-Length, Connection and Content-Encoding. A name or value with CR, LF or
    /// NUL is refused by the serializer.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
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
}

/// What the server calls with each request.
package protocol Responder: Sendable {
    /// Answers one request by calling `reply.send` exactly once, now or later, from any thread.
    ///
    /// Called on the event loop's thread: nothing here may block. A reply sent before the call
    /// returns goes out without a hop.
    func respond(to request: HTTPRequest, reply: HTTPReply)
}
