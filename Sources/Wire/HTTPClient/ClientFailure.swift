/// Why a request has no whole answer.
package enum ClientFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// Nothing answers at the address.
    case unreachable(String)
    /// The certificate is not one for that host that is believed.
    case untrusted(String)
    /// The connection ended, or broke, before the answer did.
    case broken(String)
    /// Nothing moved for the time that was given.
    case timedOut
    /// What came is not HTTP/1.1, or is over a limit.
    case malformed(String)
    /// The request's own body could not be read.
    case unreadableBody(String)
    /// The target may not be reached; nothing was sent.
    case refused(TargetRefusal)
    /// Too many wait for the same destination, or the client has stopped; nothing was sent.
    case overloaded

    package var description: String {
        switch self {
        case .unreachable(let reason): "not reachable: \(reason)"
        case .untrusted(let reason): "the certificate is not trusted: \(reason)"
        case .broken(let reason): "the connection broke: \(reason)"
        case .timedOut: "no answer in time"
        case .malformed(let reason): "the answer is malformed: \(reason)"
        case .unreadableBody(let reason): "the request's body: \(reason)"
        case .refused(let refusal): "the target may not be reached: \(refusal)"
        case .overloaded: "too many requests wait for the same destination"
        }
    }
}
