import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Why no answer of the protocol came.
public enum TransportFailure: Error, Equatable, Sendable {
    /// There is no way to any network. Nothing was done.
    case offline
    /// The server could not be reached, or did not answer a question in time. Nothing was done.
    case unreachable
    /// A write has left, and no answer came, or not in time: it may have been carried out.
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
        let broken = error as? BrokenRequest
        let cause = broken?.cause ?? error
        switch cause {
        case let failure as TransportFailure: self = failure
        case is CancellationError: self = .cancelled
        case let error as URLError: self.init(error.code, broken?.hasLeft, isWrite: isWrite)
        default: self = .unreachable
        }
    }

    /// - Parameter hasLeft: whether any of the request's body has left; nil where nobody knows.
    private init(_ code: URLError.Code, _ hasLeft: Bool?, isWrite: Bool) {
        let mayBeDone: Bool
        switch code {
        case .cancelled:
            self = .cancelled
            return
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff,
            .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .secureConnectionFailed,
            .serverCertificateUntrusted, .serverCertificateHasBadDate:
            mayBeDone = hasLeft ?? false
        case .timedOut: mayBeDone = hasLeft ?? true
        // Whatever else breaks does so after the request has left.
        default: mayBeDone = true
        }
        if isWrite, mayBeDone {
            self = .responseLost
        } else {
            self = Self.withoutNetwork.contains(code) ? .offline : .unreachable
        }
    }

    private static let withoutNetwork: [URLError.Code] = [
        .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff,
    ]
}
