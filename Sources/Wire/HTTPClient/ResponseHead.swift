import HTTP

/// The status line and the fields of an answer.
package struct ResponseHead: Sendable {
    /// How the body ends (RFC 9112 §6.3).
    package enum Framing: Sendable, Equatable {
        case none
        case length(Int)
        case chunked
        case untilClose
    }

    package let status: Int
    package let headers: HTTPHeaders
    package let framing: Framing
    /// Whether another request may follow on the connection.
    package let keepsAlive: Bool

    package init(status: Int, headers: HTTPHeaders, framing: Framing, keepsAlive: Bool) {
        self.status = status
        self.headers = headers
        self.framing = framing
        self.keepsAlive = keepsAlive
    }

    /// The length that the body has, or would have had if the request had not been HEAD.
    package var contentLength: Int? { headers["content-length"].flatMap { Int($0) } }
}

/// How much a server may answer with, beside the body.
package struct ResponseLimits: Sendable {
    /// Status line and fields together.
    package var headBytesMax = 65_536
    package var fieldCountMax = 200
    /// Answers with 1xx that may come before the one that counts.
    package var interimCountMax = 8

    package init() {}
}
