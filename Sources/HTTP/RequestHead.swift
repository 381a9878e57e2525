/// A request's head, checked: everything before its body.
struct RequestHead {
    enum Framing: Equatable {
        case none
        case length(Int)
        case chunked
    }

    var method = HTTPRequest.Method.get
    /// In origin form, or `*`.
    var target: [UInt8] = []
    var headers = HTTPHeaders([])
    var framing = Framing.none
    var isVersion10 = false
    /// Whether the client lets the connection live on.
    var keepsAlive = true
    var expectsContinue = false
    var isGzipped = false
    var acceptsGzip = false
    /// Whether a proxy says that it passed the request on.
    var isForwarded = false
}

/// A whole request, taken off the wire.
struct IncomingRequest {
    var head: RequestHead
    var body: [UInt8]
}
