import CloudModel
import Cryptography
import Storage

/// What an operator does with the public keys of programs that sign their requests.
package struct ServerKeys: Sendable {
    private static let keyIDBytes = 32

    private let catalog: any CatalogStorage
    private let random: RandomSource

    package init(catalog: any CatalogStorage, random: RandomSource = .system) {
        self.catalog = catalog
        self.random = random
    }

    /// Registers a public key with one environment of a container.
    ///
    /// - Parameter publicKeyPEM: SubjectPublicKeyInfo on prime256v1.
    /// - Throws: `publicKeyNotPEM`, `publicKeyOfOtherKind`, `publicKeyNotP256`, `nameIllegal`,
    ///   `containerUnknown`.
    package func add(
        container: ContainerID, environment: Environment, publicKeyPEM: String,
        name: String? = nil, scope: ServerKeyRecord.Scope = .public, now: Milliseconds
    ) throws -> ServerKeyRecord {
        let keyID = Hexadecimal.encode(random.bytes(ServerKeys.keyIDBytes))
        let names = try UserRecordNames(catalog: catalog, random: random)
        let record = ServerKeyRecord(
            keyID: keyID, name: try PlainName.checked(name), container: container,
            environment: environment, publicKeyDER: try ServerKeys.key(publicKeyPEM).der,
            scope: scope, userRecordName: names.name(ofKey: keyID, in: container), createdAt: now)
        try catalog.add(record)
        return record
    }

    /// - Parameter some: only those of these containers; nil for all.
    /// - Throws: `UnusableCursor`.
    package func list(
        _ request: ListRequest = ListRequest(), of some: Set<ContainerID>? = nil
    ) throws -> ListPage<ServerKeyRecord> { try catalog.serverKeys(request, of: some) }

    /// - Throws: `serverKeyUnknown`.
    package func find(keyID: String) throws -> ServerKeyRecord {
        guard let key = try catalog.serverKey(keyID) else {
            throw CatalogRefusal.serverKeyUnknown
        }
        return key
    }

    /// Ends a key: it is refused from the next request on.
    ///
    /// - Throws: `serverKeyUnknown`.
    package func revoke(keyID: String) throws { try catalog.deleteServerKey(keyID: keyID) }

    private static func key(_ pem: String) throws(AccountsRefusal) -> P256PublicKey {
        do {
            return try P256PublicKey(pem: pem)
        } catch {
            switch error {
            case .notPEM: throw .publicKeyNotPEM
            case .wrongLabel: throw .publicKeyOfOtherKind
            case .notP256: throw .publicKeyNotP256
            }
        }
    }
}
