/// How much of everything one client may ask of the wire.
///
/// Sizes of bodies, counts of connections and the time between requests are settings. The others are the same on every
/// server, for the reason that stands with each.
package struct WireLimits: Sendable {
    /// Request line and header fields together, which browsers keep below it; over it 431.
    package var headerBytesMax = 16 * 1024
    /// Header fields of one request, trailers included, to which proxies add few; over it 431.
    package var headerCountMax = 100
    /// The request target, of which a web token is the longest part, below 1 KiB; over it 414.
    package var targetBytesMax = 8 * 1024
    /// A body as it comes over the wire, chunk framing not counted; over it 413.
    package var bodyBytesMax = 16 * 1024 * 1024
    /// A body with its gzip undone; over it 413.
    package var inflatedBodyBytesMax = 16 * 1024 * 1024
    /// Bodies of all requests in progress, with gzip undone, and what is made of them; over it 503.
    package var bodyMemoryBytesMax = 128 * 1024 * 1024
    /// What is thrown away of a body whose request has its answer; with more to come the connection
    /// ends.
    package var drainedBodyBytesMax = 64 * 1024
    /// Heads without an end, requests that wait behind others and answers that nobody takes, of all
    /// connections.
    ///
    /// Over it those that last longest are ended, heads with 503. A client that reads and writes steadily has none.
    package var waitingBytesMax = 8 * 1024 * 1024
    /// How many connections from one address may be open at a time; a further one is answered 503
    /// and closed.
    ///
    /// Unix sockets and trusted proxies have no such limit.
    package var connectionsPerAddressMax = Int.max
    /// Connections open at a time; each further one is answered 503 and closed.
    package var connectionCountMax = 20_000

    /// From the first byte of a head (or of a TLS handshake) to its last, which take longer only where somebody delays
    /// them; then 408.
    package var headerSecondsMax = 10
    /// For a body, before the allowance of `bodyBytesPerSecondMin`, as networks that lose packets need to recover; then
    /// 408.
    package var bodySecondsMax = 30
    /// Each so many bytes of a body received, or of an answer taken, win a second more: a tenth of what the slowest
    /// mobile networks carry.
    package var bodyBytesPerSecondMin = 1_024
    /// For an answer to be taken, before the same allowance; then the connection is closed.
    package var answerSecondsMax = 30
    /// Between requests; then the connection is closed.
    package var idleSecondsMax = 75
    /// After an answer that closes, for the client to read it; what it still sends is thrown away.
    package var lingerSecondsMax = 5

    /// Answers shorter than this are not compressed: they fit into a packet as they are.
    package var gzipBodyBytesMin = 1024

    package init() {}
}
