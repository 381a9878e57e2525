/// Why the wire itself refused a request, before any responder saw it.
package struct WireFault: Error, Equatable, Sendable {
    /// The HTTP status of the answer.
    package let status: Int
    /// What was expected, for the client's developer.
    package let reason: String
    /// When the client may try again.
    package let retryAfterSeconds: Int?

    package init(_ status: Int, _ reason: String, retryAfterSeconds: Int? = nil) {
        self.status = status
        self.reason = reason
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// The protocol's code, which clients branch on.
    var serverErrorCode: String {
        switch status {
        case 408, 503: "TRY_AGAIN_LATER"
        case 500: "INTERNAL_ERROR"
        default: "BAD_REQUEST"
        }
    }

    /// The answer in the form that the protocol gives every error; the connection ends with it.
    ///
    /// - Parameter id: of the request, in the body and in `X-Apple-Request-UUID`.
    package func response(id: String) -> HTTPResponse {
        // Neither an id nor one of our own reasons holds a character that JSON escapes.
        var headers: [(name: String, value: String)] = [
            ("Content-Type", "application/json; charset=UTF-8"), ("X-Apple-Request-UUID", id),
        ]
        var end = "}"
        if let retryAfterSeconds {
            headers.append(("Retry-After", "\(retryAfterSeconds)"))
            end = ",\"retryAfter\":\(retryAfterSeconds)}"
        }
        let body =
            #"{"uuid":"\#(id)","serverErrorCode":"\#(serverErrorCode)","reason":"\#(reason)""#
        return HTTPResponse(
            status: status, headers: headers, body: Array((body + end).utf8),
            closesConnection: true)
    }

    package static let malformedRequestLine = WireFault(
        400, "The request line is not METHOD SP TARGET SP HTTP/1.1.")
    package static let malformedTarget = WireFault(
        400, "The request target is neither a path nor a URL of the named host.")
    package static let unsupportedVersion = WireFault(
        505, "Only HTTP/1.0 and HTTP/1.1 are spoken here.")
    package static let targetTooLong = WireFault(414, "The request target is too long.")
    package static let headersTooLarge = WireFault(431, "The header fields are too large.")
    package static let tooManyHeaders = WireFault(431, "There are too many header fields.")
    package static let malformedHeader = WireFault(400, "A header field is malformed.")
    package static let illegalByte = WireFault(
        400, "The head holds a control character, or a line end other than CR LF.")
    package static let missingHost = WireFault(400, "Exactly one valid Host field is required.")
    package static let malformedLength = WireFault(
        400, "Content-Length must be given once, in decimal digits.")
    package static let malformedCoding = WireFault(
        400, "Transfer-Encoding must be given once, as chunked, in HTTP/1.1.")
    package static let ambiguousLength = WireFault(
        400, "Content-Length and Transfer-Encoding exclude each other.")
    package static let malformedChunk = WireFault(400, "The chunked body is malformed.")
    package static let bodyTooLarge = WireFault(413, "The request body is too large.")
    package static let unsupportedEncoding = WireFault(
        415, "The only Content-Encoding understood is gzip.")
    package static let encodedStream = WireFault(
        415, "A body that is stored as it comes must have no Content-Encoding.")
    package static let malformedGzip = WireFault(400, "The body is not one whole gzip stream.")
    package static let unsupportedExpectation = WireFault(
        417, "The only expectation understood is 100-continue.")
    package static let headerTimeout = WireFault(408, "The request head took too long.")
    package static let bodyTimeout = WireFault(408, "The request body came too slowly.")
    package static let tooManyConnections = WireFault(503, "Too many connections are open.")
    package static let noBodyMemory = WireFault(
        503, "There is no memory for this body now; try again later.", retryAfterSeconds: 1)
    package static let noHeadMemory = WireFault(
        503, "Too many requests are unfinished; try again later.", retryAfterSeconds: 1)
    package static let stopping = WireFault(
        503, "The server is stopping; try again later.", retryAfterSeconds: 1)
    package static let tooManyFromAddress = WireFault(
        503, "Too many connections are open from this address.")
    package static let malformedAnswer = WireFault(500, "The answer could not be sent.")
}
