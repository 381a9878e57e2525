import Cryptography
import HTTP

/// Who may read the metrics: this machine itself, or whoever bears the token of the configuration.
package struct MetricsAccess: Sendable {
    package enum Decision: Sendable, Equatable {
        case granted
        /// A token would open the page, and none or another came.
        case unauthorized
        /// There is no token, so for this peer there is no page.
        case hidden
    }

    /// Headers that a proxy adds: with one of them the peer speaks for somebody else.
    private static let forwardingHeaders = [
        "forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via",
    ]

    private let token: [UInt8]?

    /// - Parameter token: nil or empty when only this machine may read.
    package init(token: String?) {
        self.token = token.flatMap { $0.isEmpty ? nil : Array($0.utf8) }
    }

    package func decide(_ request: HTTPRequest) -> Decision {
        let isForwarded = Self.forwardingHeaders.contains { request.headers[$0] != nil }
        if request.peer.isLoopback, !isForwarded { return .granted }
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
