import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Why no answer of the protocol came.
public enum TransportFailure: Error, Equatable, Sendable {
    /// There is no way to any network.
    case offline
    /// The server could not be reached, or did not answer in time.
    case unreachable
    /// The connection broke after the request was sent: it may have been carried out.
    case responseLost
    /// The task was cancelled.
    case cancelled
    /// Something answered that does not speak the protocol.
    case unreadable(status: Int)
    /// The program has not said how to be let in, or signing in has failed.
    case notSignedIn
    /// The address of the service cannot be used.
    case badAddress

    /// - Parameter isWrite: whether the request may have changed something before its answer was lost.
    init(_ error: any Error, isWrite: Bool) {
        if let failure = error as? TransportFailure {
            self = failure
            return
        }
        guard let error = error as? URLError else {
            self = error is CancellationError ? .cancelled : .unreachable
            return
        }
        switch error.code {
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff: self = .offline
        case .cancelled: self = .cancelled
        case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .secureConnectionFailed,
            .serverCertificateUntrusted, .serverCertificateHasBadDate, .timedOut:
            self = .unreachable
        // Whatever else breaks does so after the request has left.
        default: self = isWrite ? .responseLost : .unreachable
        }
    }
}
