/// A request's head, checked: everything before its body.
package struct RequestHead: Sendable {
    /// Where the body ends.
    package enum Framing: Equatable, Sendable {
        case none
        case length(Int)
        case chunked
    }

    package var method = HTTPRequest.Method.get
    /// In origin form, or `*`.
    package var target: [UInt8] = []
    package var headers = HTTPHeaders.none
    package var framing = Framing.none
    package var isVersion10 = false
    /// Whether the client lets the connection live on.
    package var keepsAlive = true
    package var expectsContinue = false
    package var isGzipped = false
    package var acceptsGzip = false
    /// Whether a proxy says that it passed the request on.
    package var isForwarded = false
}

/// A whole request, taken off the wire.
package struct IncomingRequest: Sendable {
    package var head: RequestHead
    package var body: [UInt8]

    package init(head: RequestHead, body: [UInt8]) {
        self.head = head
        self.body = body
    }
}
