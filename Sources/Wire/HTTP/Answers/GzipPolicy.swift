/// Which clients get compressed answers, where they accept them.
package enum GzipPolicy: String, Sendable {
    /// Never.
    case off
    /// Not for a peer on this machine, unless a proxy passed the request on. On one machine,
    /// sending is faster than compressing.
    case remote
    /// Always.
    case on
}
