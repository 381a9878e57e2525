import CloudModel
import Cryptography
import Storage

/// Derives the names under which a container knows its users and server keys.
///
/// In a container, an account always has the same name. In two containers, it has unrelated names.
/// Without the catalog's secret, nobody can tell that they belong together.
package struct UserRecordNames: Sendable {
    private let key: HMACSHA256

    /// Reads the secret, making it in a new catalog.
    package init(catalog: some CatalogStorage, random: RandomSource) throws {
        key = HMACSHA256(
            key: try catalog.secret("user-record-names", orStore: random.bytes(32)))
    }

    /// The user's name in a container.
    package func name(of account: AccountID, in container: ContainerID) -> UserRecordName {
        name(of: account.text, in: container)
    }

    /// The name that a server key has for itself in its container.
    package func name(ofKey keyID: String, in container: ContainerID) -> UserRecordName {
        name(of: keyID, in: container)
    }

    private func name(of identity: String, in container: ContainerID) -> UserRecordName {
        let code = key.code(for: Array(container.folded.utf8) + [0] + Array(identity.utf8))
        guard let name = UserRecordName("_" + Hexadecimal.encode(code.prefix(16))) else {
            preconditionFailure("16 bytes make 32 hexadecimal digits")
        }
        return name
    }
}
