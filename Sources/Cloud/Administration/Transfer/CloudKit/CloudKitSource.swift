import CloudModel
import Cryptography

/// Which database of CloudKit is read, and by what right.
package struct CloudKitSource: Sendable {
    /// Who reads.
    package enum Credential: Sendable {
        /// A key of the container, which reads the public database.
        case serverKey(id: String, P256PrivateKey)
        /// A session of a user, which reads their private database.
        case webToken(apiToken: String, webToken: String)
    }

    /// Where CloudKit Web Services answer.
    package static let host = "https://api.apple-cloudkit.com"

    package let host: String
    package let container: String
    package let environment: String
    package let credential: Credential

    /// - Parameters:
    ///   - host: scheme, name and perhaps a port.
    ///   - container: its identifier there.
    package init(
        host: String = CloudKitSource.host, container: String, environment: String,
        credential: Credential
    ) {
        self.host = host
        self.container = container
        self.environment = environment
        self.credential = credential
    }

    var scope: DatabaseScope {
        switch credential {
        case .serverKey: .public
        case .webToken: .private
        }
    }

    /// What an operation's URL has behind the host.
    func path(_ operation: String) -> String {
        "/database/1/\(PercentEncoding.encode(container))/\(PercentEncoding.encode(environment))/"
            + "\(scope.rawValue)/\(operation)"
    }
}
