/// How much requests over HTTP/2 may hold and use at a time.
package struct HTTP2Limits: Sendable {
    /// Under way on one connection, if the server takes as many.
    package var streamsPerConnectionMax = 1_000
    /// To one origin, beside those that only finish what they have.
    package var connectionsPerDestinationMax = 1
    /// That wait for their turn at one origin; more are refused.
    package var waitingPerDestinationMax = 10_000
    /// Of one answer's body.
    package var answerBytesMax = 65_536
    /// From handing a request over to its whole answer, where the request does not say.
    package var requestMillisecondsMax = 30_000
    /// For each address of a name, until the server has said what it takes.
    package var connectMillisecondsMax = 10_000
    /// A connection that was idle for longer is closed.
    package var idleMillisecondsMax = 600_000
    /// For how long the addresses of a name are used before it is looked up again.
    package var addressMillisecondsMax = 30_000

    package init() {}
}
