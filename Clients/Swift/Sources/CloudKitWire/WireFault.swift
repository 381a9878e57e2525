/// What the server says when something fails: a whole request, or one item of it.
public struct WireFault: Error, Sendable {
    /// One of the protocol's fourteen codes, or whatever else was sent.
    public let code: String
    /// For people.
    public let reason: String
    /// The request's name in the server's log.
    public let requestID: String?
    /// In how many seconds to try again.
    public let retryAfterSeconds: Double?
    /// Whether a feed must be fetched anew.
    public let isTokenExpired: Bool
    /// Tells cases of one code apart.
    public let detail: String?
    /// Where to sign in.
    public let redirectURL: String?
    /// The record as the server has it, in a conflict.
    public let serverRecord: JSONView?
    /// The status of the answer, when the whole request failed.
    public let status: Int?

    /// A fault that was not read from an answer.
    public init(
        code: String, reason: String, requestID: String? = nil, retryAfterSeconds: Double? = nil,
        isTokenExpired: Bool = false, detail: String? = nil, redirectURL: String? = nil,
        serverRecord: JSONView? = nil, status: Int? = nil
    ) {
        self.code = code
        self.reason = reason
        self.requestID = requestID
        self.retryAfterSeconds = retryAfterSeconds.flatMap(Self.delay)
        self.isTokenExpired = isTokenExpired
        self.detail = detail
        self.redirectURL = redirectURL
        self.serverRecord = serverRecord
        self.status = status
    }

    /// A day: whatever a server says beyond that, nobody waits for.
    private static let retryAfterSecondsMax = 86_400.0

    /// A delay that can be waited for; nil for anything else.
    private static func delay(_ seconds: Double) -> Double? {
        seconds.isFinite ? max(0, min(retryAfterSecondsMax, seconds)) : nil
    }

    /// Reads an item or a body that may be a fault.
    ///
    /// - Parameter retryAfterSeconds: what the head of the answer says, for a body that says nothing of it.
    /// - Returns: nil for anything else: it has no `serverErrorCode`.
    public init?(_ view: JSONView, status: Int? = nil, retryAfterSeconds: Double? = nil) {
        guard let code = view["serverErrorCode"]?.string else { return nil }
        // A body that was refused unread has no details.
        let isTooLarge = status == 413 && code == "BAD_REQUEST"
        self.init(
            code: code, reason: view["reason"]?.string ?? code,
            requestID: view["uuid"]?.string,
            retryAfterSeconds: view["retryAfter"]?.double ?? retryAfterSeconds,
            isTokenExpired: view["changeTokenExpired"]?.bool ?? false,
            detail: view["detail"]?.string ?? (isTooLarge ? "limitExceeded" : nil),
            redirectURL: view["redirectURL"]?.string,
            serverRecord: view["serverRecord"], status: status)
    }
}
