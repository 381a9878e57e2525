import CloudModel
import Cryptography
import Storage
import Synchronization

/// The server keys that requests were signed with lately, decoded and at hand.
///
/// It also remembers IDs that no key has, so that asking for one again takes as long as for a key. This is a
/// cache: every process has its own, and a new version of the catalog empties it.
final class KeyRing: Sendable {
    struct Entry: Sendable {
        let record: ServerKeyRecord
        let key: P256PublicKey
    }

    private struct State {
        var version = 0
        /// By key ID; nil for one that no key has.
        var entries: [String: Entry?] = [:]
    }

    /// When there are more, all are dropped.
    private static let entriesMax = 4_096
    /// No key has a longer ID.
    private static let keyIDBytesMax = 128

    private let catalog: any CatalogStorage
    private let state = Mutex(State())

    init(catalog: any CatalogStorage) { self.catalog = catalog }

    /// The key of that ID, if it is one of this container and environment.
    func entry(
        _ keyID: String, container: ContainerID, environment: Environment
    ) throws -> Entry? {
        guard keyID.utf8.count <= Self.keyIDBytesMax, let entry = try entry(keyID),
            entry.record.container == container, entry.record.environment == environment
        else { return nil }
        return entry
    }

    private func entry(_ keyID: String) throws -> Entry? {
        let version = catalog.version
        let known = state.withLock { state in
            if state.version != version {
                state.version = version
                state.entries = [:]
            }
            return state.entries[keyID]
        }
        if let known { return known }
        let entry = try catalog.serverKey(keyID).map {
            Entry(record: $0, key: try P256PublicKey(der: $0.publicKeyDER))
        }
        state.withLock { state in
            // Another thread may have seen a later version meanwhile.
            guard state.version == version else { return }
            if state.entries.count >= Self.entriesMax { state.entries = [:] }
            state.entries.updateValue(entry, forKey: keyID)
        }
        return entry
    }
}
