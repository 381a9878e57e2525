/// For whom answers are compressed, where the client accepts it.
package enum GzipPolicy: String, Sendable {
    /// Never.
    case off
    /// Not for a peer on this machine, unless a proxy passed the request on: there the way is
    /// faster than the compression.
    case remote
    /// Always.
    case on
}
