import Accounts
import CloudModel
import Storage

/// Lets the holder of a P-256 key sign requests to one environment of a container.
///
/// Refusals: those of `ServerKeys.add`.
package struct AddServerKey: AdministrativeAction {
    package var name: String { "server-key add" }

    package var right: ActionRight { .container.proven }

    private let target: NamedEnvironment
    private let publicKeyPEM: String
    private let keyName: String?
    private let scope: ServerKeyRecord.Scope

    /// - Parameters:
    ///   - publicKeyPEM: SubjectPublicKeyInfo on prime256v1.
    ///   - name: what people know it by; nil for none.
    package init(
        in target: NamedEnvironment, publicKeyPEM: String, name: String? = nil,
        scope: ServerKeyRecord.Scope = .public
    ) {
        self.target = target
        self.publicKeyPEM = publicKeyPEM
        keyName = name
        self.scope = scope
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data, item: keyName)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> ServerKeyRecord {
        let target = try target.found(in: data)
        return try data.serverKeys.add(
            container: target.container, environment: target.environment,
            publicKeyPEM: publicKeyPEM, name: keyName, scope: scope, now: data.clock.now())
    }
}
