import Cryptography
import HTTP

/// Who may read the metrics at the addresses of the protocol: every caller with the token of the configuration.
///
/// Where a request comes from decides nothing: behind a proxy on this machine everybody seems to be here.
package struct MetricsAccess: Sendable {
    package enum Decision: Sendable, Equatable {
        case granted
        /// The page needs a token, and none came, or another one.
        case unauthorized
        /// There is no token, so there is no page.
        case hidden
    }

    private let token: [UInt8]?

    /// - Parameter token: nil or empty when nobody may read.
    package init(token: String?) {
        self.token = token.flatMap { $0.isEmpty ? nil : Array($0.utf8) }
    }

    package func decide(_ request: HTTPRequest) -> Decision {
        guard let token else { return .hidden }
        guard let given = bearer(request.headers["authorization"]) else { return .unauthorized }
        return ConstantTime.areEqual(given, token) ? .granted : .unauthorized
    }

    private func bearer(_ header: String?) -> [UInt8]? {
        guard let header, header.utf8.count > 7, header.prefix(7).lowercased() == "bearer " else {
            return nil
        }
        return Array(header.utf8.dropFirst(7))
    }
}
