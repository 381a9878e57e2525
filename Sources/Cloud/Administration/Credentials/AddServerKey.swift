import Accounts
import CloudModel
import Storage

/// Lets the holder of a P-256 key sign requests to one environment of a container.
///
/// Refusals: those of `ServerKeys.add`.
package struct AddServerKey: AdministrativeAction {
    package var name: String { "server-key add" }

    private let place: NamedEnvironment
    private let publicKeyPEM: String
    private let keyName: String?
    private let scope: ServerKeyRecord.Scope

    /// - Parameters:
    ///   - publicKeyPEM: SubjectPublicKeyInfo on prime256v1.
    ///   - name: what people know it by; nil for none.
    package init(
        in place: NamedEnvironment, publicKeyPEM: String, name: String? = nil,
        scope: ServerKeyRecord.Scope = .public
    ) {
        self.place = place
        self.publicKeyPEM = publicKeyPEM
        keyName = name
        self.scope = scope
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(place, in: data, item: keyName)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> ServerKeyRecord {
        let place = try place.found(in: data)
        return try data.serverKeys.add(
            container: place.container, environment: place.environment,
            publicKeyPEM: publicKeyPEM, name: keyName, scope: scope, now: data.clock.now())
    }
}
