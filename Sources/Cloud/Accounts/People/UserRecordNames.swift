import CloudModel
import Cryptography
import Storage

/// Derives the names under which a container knows its users and server keys.
///
/// In a container, an account always has the same name. In two containers, it has unrelated names.
/// Without the catalog's secret, nobody can tell that they belong together.
package struct UserRecordNames: Sendable {
    private static let secretName = "user-record-names"
    private static let keyBytes = 32

    private let key: HMACSHA256
    /// Those of containers that came from servers with another key, by their folded names.
    private let keysElsewhere: [String: HMACSHA256]

    /// Reads the secret, making it in a new catalog.
    package init(catalog: some CatalogStorage, random: RandomSource) throws {
        key = HMACSHA256(
            key: try catalog.secret(Self.secretName, orStore: random.bytes(Self.keyBytes)))
        keysElsewhere = try KeysElsewhere(of: catalog).keys.mapValues { HMACSHA256(key: $0) }
    }

    /// Has a catalog give a container's users the names that they have in another catalog.
    ///
    /// A catalog that has given no names yet takes the other's key for all its containers.
    package static func adopt(
        _ container: ContainerID, of source: any CatalogStorage, in target: any CatalogStorage,
        random: RandomSource
    ) throws {
        let sources = try source.secret(secretName, orStore: random.bytes(keyBytes))
        let key = try KeysElsewhere(of: source).keys[container.folded] ?? sources
        let targets = try target.secret(secretName, orStore: sources)
        var elsewhere = try KeysElsewhere(of: target)
        guard elsewhere.keys[container.folded] ?? targets != key else { return }
        try elsewhere.set(key, of: container, in: target)
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
        let key = keysElsewhere[container.folded] ?? key
        let code = key.code(for: Array(container.folded.utf8) + [0] + Array(identity.utf8))
        guard let name = UserRecordName("_" + Hexadecimal.encode(code.prefix(16))) else {
            preconditionFailure("16 bytes make 32 hexadecimal digits")
        }
        return name
    }
}

/// The keys of containers that came from servers with another key, as a catalog keeps them.
private struct KeysElsewhere {
    private static let secretName = "user-record-names-elsewhere"
    private static let keyBytes = 32

    private let kept: [UInt8]
    private(set) var keys: [String: [UInt8]] = [:]

    init(of catalog: some CatalogStorage) throws {
        kept = try catalog.secret(Self.secretName, orStore: [])
        // Each is a key, the length of a name and the name.
        var rest = kept[...]
        while rest.count > Self.keyBytes {
            let key = Array(rest.prefix(Self.keyBytes))
            rest = rest.dropFirst(Self.keyBytes)
            let name = rest.dropFirst().prefix(Int(rest.first ?? 0))
            rest = rest.dropFirst(1 + name.count)
            keys[String(decoding: name, as: UTF8.self)] = key
        }
    }

    mutating func set(
        _ key: [UInt8], of container: ContainerID, in catalog: any CatalogStorage
    ) throws {
        keys[container.folded] = key
        let changed = keys.sorted { $0.key < $1.key }.flatMap { name, key in
            key + [UInt8(clamping: name.utf8.count)] + Array(name.utf8)
        }
        let change = SealedChange(
            location: .own(Self.secretName), previous: kept, sealed: changed)
        guard try catalog.replace([change]) == 1 else {
            throw BrokenInvariant("one process at a time says which keys containers have brought")
        }
    }
}
