/// How much `OutgoingRequests` may hold and use at a time.
package struct OutgoingLimits: Sendable {
    /// Under way on one connection, if the server takes as many; HTTP/1.1 has one.
    package var requestsPerConnectionMax = 1
    /// To one origin, beside those that only finish what they have: polite to a webhook, enough for a push service.
    package var connectionsPerDestinationMax = 8
    /// To all of them, far below what a process may open; above it, they take turns.
    package var connectionsMax = 512
    /// That wait for a connection to one origin; more are refused, and come later.
    package var waitingPerDestinationMax = 1_000
    /// Of one answer's body: keys and documents of identity providers are the longest.
    package var answerBytesMax = 65_536
    /// From handing a request over to its whole answer, where the request does not say.
    package var requestMillisecondsMax = 30_000
    /// For each address of a name, until the first request may be sent.
    package var connectMillisecondsMax = 10_000
    /// A connection that was idle for longer is closed.
    package var idleMillisecondsMax = 15_000
    /// For how long the addresses of a name are used before it is looked up again.
    package var addressMillisecondsMax = 30_000

    package init() {}

    /// Where many requests share one connection.
    package static var http2: OutgoingLimits {
        var limits = OutgoingLimits()
        limits.requestsPerConnectionMax = 1_000
        limits.connectionsPerDestinationMax = 1
        limits.waitingPerDestinationMax = 10_000
        limits.idleMillisecondsMax = 600_000
        return limits
    }
}
