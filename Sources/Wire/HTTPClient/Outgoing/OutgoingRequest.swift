/// A request that an event loop sends, with its whole body.
package struct OutgoingRequest: Sendable {
    package var method: String
    package var url: TargetURL
    /// Who has named the target.
    package var namer: TargetNamer
    /// Without `Host`, `Content-Length` and `Connection`, which are added.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// From being handed over to the whole answer; looked at about once a second.
    ///
    /// Nil for what the limits say.
    package var millisecondsMax: Int?
    /// Whether it may be sent again when a connection that was kept turns out to be closed.
    ///
    /// It may then arrive twice, since what the server did before it closed is not known.
    package var isRepeatable: Bool

    package init(
        method: String, url: TargetURL, namedBy namer: TargetNamer,
        headers: [(name: String, value: String)] = [],
        body: [UInt8] = [], millisecondsMax: Int? = nil, isRepeatable: Bool = true
    ) {
        self.method = method
        self.url = url
        self.namer = namer
        self.headers = headers
        self.body = body
        self.millisecondsMax = millisecondsMax
        self.isRepeatable = isRepeatable
    }

    /// Requests with the same may share connections: a connection that was allowed to operators is no user's.
    package var destination: String { "\(namer) \(url.origin.text)" }

    /// The head as it goes out over HTTP/1.1; nil when a part of it would break the framing.
    func head() -> [UInt8]? {
        ClientRequest(method: method, target: url.target, headers: headers, body: .bytes(body))
            .head(to: url.origin)
    }
}

/// What sends a request and tells what came of it, once, on a thread of its own; never blocks.
package typealias SendRequest =
    @Sendable (
        _ request: OutgoingRequest,
        _ then: @escaping @Sendable (Result<OutgoingAnswer, ClientFailure>) -> Void
    ) -> Void

/// The whole answer to an `OutgoingRequest`; a redirect is one as any other.
package struct OutgoingAnswer: Sendable {
    package let head: ResponseHead
    package let body: [UInt8]

    package init(head: ResponseHead, body: [UInt8]) {
        self.head = head
        self.body = body
    }

    package var status: Int { head.status }

    /// In how many seconds the server wants to be asked again (`Retry-After`); nil when it does not say, or
    /// says it by a date.
    package var retryAfterSeconds: Int? {
        head.headers["retry-after"].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
