/// A request that an event loop sends, with its whole body.
package struct OutgoingRequest: Sendable {
    package var method: String
    package var url: TargetURL
    /// Who has said so.
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

    /// Head and body as they go out; nil when a part of the head would break the framing.
    func bytes() -> [UInt8]? {
        let request = ClientRequest(
            method: method, target: url.target, headers: headers, body: .bytes(body))
        return request.head(to: url.origin).map { $0 + body }
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

/// How much `OutgoingRequests` may hold and use at a time.
package struct OutgoingLimits: Sendable {
    /// To one origin.
    package var connectionsPerDestinationMax = 8
    /// To all of them.
    package var connectionsMax = 512
    /// That wait for a connection to one origin; more are refused.
    package var waitingPerDestinationMax = 1_000
    /// Of one answer's body.
    package var answerBytesMax = 65_536
    /// From handing a request over to its whole answer, where the request does not say.
    package var requestMillisecondsMax = 30_000
    /// For each address of a name, handshake included.
    package var connectMillisecondsMax = 10_000
    /// A connection that was idle for longer is closed.
    package var idleMillisecondsMax = 15_000
    /// For how long the addresses of a name are used before it is looked up again.
    package var addressMillisecondsMax = 30_000
    package var response = ResponseLimits()

    package init() {}
}

/// A request that waits or is under way, and who is told what comes of it.
final class PendingRequest {
    let request: OutgoingRequest
    let bytes: [UInt8]
    /// By the loop's clock.
    let deadline: UInt64
    private let then: @Sendable (Result<OutgoingAnswer, ClientFailure>) -> Void
    /// A request is sent a second time, not a third.
    var isSecondTry = false

    init(
        _ request: OutgoingRequest, bytes: [UInt8], deadline: UInt64,
        then: @escaping @Sendable (Result<OutgoingAnswer, ClientFailure>) -> Void
    ) {
        self.request = request
        self.bytes = bytes
        self.deadline = deadline
        self.then = then
    }

    func end(_ result: Result<OutgoingAnswer, ClientFailure>) { then(result) }
}
