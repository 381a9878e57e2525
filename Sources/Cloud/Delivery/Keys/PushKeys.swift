import CloudModel
import Cryptography
import Storage
import Synchronization

/// Why a push key or a webhook is not kept; nothing was changed.
package enum DeliveryRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    case topicIllegal
    case keyIDIllegal
    case teamIDIllegal
    case keyIllegal
    case webhookNameIllegal
    case webhookURLIllegal
    case webhookExists
    case webhookUnknown
    case tooManyWebhooks(Int)
    /// The server's own key towards browsers does not open with the key that has sealed it.
    case ownKeyDamaged

    package var description: String {
        switch self {
        case .topicIllegal:
            "a topic is an app's bundle ID: 1 to 255 letters, digits, dots and hyphens"
        case .keyIDIllegal: "a key ID is the 10 letters and digits that Apple names the key by"
        case .teamIDIllegal: "a team ID is 10 letters and digits"
        case .keyIllegal:
            "the file is not one private key on prime256v1 in PEM, as Apple's .p8 files are"
        case .webhookNameIllegal: "a webhook's name is 1 to 64 letters, digits, dots, - and _"
        case .webhookURLIllegal:
            "a webhook's URL is https:// (http:// to outgoing.allowedNetworks alone), a host and perhaps "
                + "port, path and query, without a user's name or a fragment"
        case .webhookExists: "a webhook of that name exists"
        case .webhookUnknown: "no such webhook"
        case .ownKeyDamaged:
            "the secret \(PushKeys.ownKeyName) in the catalog, by which the server pushes to browsers, is "
                + "damaged: move the data folder away and restore a backup"
        case .tooManyWebhooks(let most):
            "an environment of a container has at most \(most) webhooks"
        }
    }
}

/// The keys by which the server pushes: of the apps of containers, for Apple's service, and its own, for
/// browsers.
package final class PushKeys: Sendable {
    /// Names the server's own key among the catalog's secrets, or begins its name.
    package static let ownKeyName = "web-push"
    /// What opens it.
    package static let ownKeySubject = SecretSubject(purpose: "web push", owner: "")

    private struct Cached {
        var version = -1
        var keys: [ContainerID: [ApplePushKey]] = [:]
    }

    private let catalog: any CatalogStorage
    private let secrets: SealedSecrets
    private let cached = Mutex(Cached())

    package init(catalog: any CatalogStorage, secrets: SealedSecrets) {
        self.catalog = catalog
        self.secrets = secrets
    }

    /// Keeps the key of one of a container's apps, in place of the one that it had.
    ///
    /// - Parameter pem: the private key as Apple gives it out.
    /// - Throws: `DeliveryRefusal`, `CatalogRefusal.containerUnknown`.
    package func add(
        _ pem: String, keyID: String, teamID: String, topic: String, to container: ContainerID,
        now: Milliseconds
    ) throws {
        guard ApplePushAddress.isTopic(topic) else { throw DeliveryRefusal.topicIllegal }
        guard Self.isName(keyID) else { throw DeliveryRefusal.keyIDIllegal }
        guard Self.isName(teamID) else { throw DeliveryRefusal.teamIDIllegal }
        let key: P256PrivateKey
        do throws(KeyRefusal) {
            key = try P256PrivateKey(pem: pem)
        } catch {
            throw DeliveryRefusal.keyIllegal
        }
        try catalog.add(
            PushKeyRecord(
                container: container, topic: topic, keyID: keyID, teamID: teamID,
                sealedKey: secrets.seal(
                    Array(key.pem.utf8), for: Self.subject(topic, of: container)),
                createdAt: now))
    }

    package func list() throws -> [PushKeyRecord] { try catalog.pushKeys() }

    /// - Throws: `CatalogRefusal.containerUnknown`, `pushKeyUnknown`.
    package func remove(topic: String, of container: ContainerID) throws {
        try catalog.delete(.pushKey(topic: topic, of: container))
    }

    /// The key of a container's app; without a topic, that of the only one.
    ///
    /// Keeps what it has read for as long as the catalog stays as it is. Nil where there is none, or it cannot
    /// be read.
    package func key(of container: ContainerID, topic: String?) -> ApplePushKey? {
        let version = catalog.version
        let known = cached.withLock { $0.version == version ? $0.keys[container] : nil }
        let keys: [ApplePushKey]
        if let known {
            keys = known
        } else {
            do {
                keys = try catalog.pushKeys(of: container).compactMap { try opened($0) }
            } catch {
                // NB: the caller says that there is no key, and tries again later.
                return nil
            }
            cached.withLock { cached in
                if cached.version != version { cached = Cached(version: version) }
                cached.keys[container] = keys
            }
        }
        guard let topic else { return keys.count == 1 ? keys[0] : nil }
        return keys.first { $0.topic == topic }
    }

    /// The server's own key towards the services of browsers, made when it is asked for the first time.
    ///
    /// It is made again when the key that sealed it is gone and the operator has begun anew without
    /// that key. Browsers must then subscribe again.
    /// - Throws: `DeliveryRefusal.ownKeyDamaged`; what the catalog reports.
    package func ownKey() throws -> P256PrivateKey {
        do {
            do { return try ownKey(named: Self.ownKeyName) } catch SecretRefusal.otherKey {
                return try ownKey(named: "\(Self.ownKeyName) \(secrets.keyNames[0])")
            }
        } catch is SecretRefusal {
            throw DeliveryRefusal.ownKeyDamaged
        }
    }

    private func ownKey(named name: String) throws -> P256PrivateKey {
        let subject = Self.ownKeySubject
        let made = secrets.seal(Array(P256PrivateKey().pem.utf8), for: subject)
        let sealed = try catalog.secret(name, orStore: made)
        return try P256PrivateKey(
            pem: String(decoding: secrets.open(sealed, for: subject), as: UTF8.self))
    }

    /// What a page hands to the browser when it subscribes: base64url of the key's point.
    ///
    /// - Throws: as `ownKey`.
    package func ownPublicKey() throws -> String {
        PushIdentification(key: try ownKey(), contact: nil).publicKey
    }

    private func opened(_ record: PushKeyRecord) throws -> ApplePushKey? {
        let pem = try secrets.open(
            record.sealedKey, for: Self.subject(record.topic, of: record.container))
        return ApplePushKey(
            topic: record.topic, team: record.teamID, name: record.keyID,
            key: try P256PrivateKey(pem: String(decoding: pem, as: UTF8.self)))
    }

    /// What opens the key of a container's app.
    package static func subject(_ topic: String, of container: ContainerID) -> SecretSubject {
        SecretSubject(purpose: "push key", owner: "\(container.folded)/\(topic)")
    }

    /// What Apple names keys and teams by.
    private static func isName(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy {
                0x30...0x39 ~= $0 || 0x41...0x5A ~= $0 || 0x61...0x7A ~= $0
            }
    }
}
