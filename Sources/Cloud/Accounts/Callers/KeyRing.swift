import CloudModel
import Cryptography
import Storage
import Synchronization

/// The server keys, decoded and at hand.
///
/// All are held at once, so that looking for one that does not exist takes as long as for one that
/// does.
final class KeyRing: Sendable {
    struct Entry: Sendable {
        let record: ServerKeyRecord
        let key: P256PublicKey
    }

    private struct State {
        /// The catalog's version from before the keys were read; nil before the first time.
        var version: Int?
        var entries: [String: Entry] = [:]
    }

    private let catalog: any CatalogStorage
    private let state = Mutex(State())

    init(catalog: any CatalogStorage) { self.catalog = catalog }

    /// The key of that ID, if it is one of this container and environment.
    func entry(
        _ keyID: String, container: ContainerID, environment: Environment
    ) throws -> Entry? {
        let entry = try current()[keyID]
        guard let entry, entry.record.container == container,
            entry.record.environment == environment
        else { return nil }
        return entry
    }

    private func current() throws -> [String: Entry] {
        let version = catalog.version
        let (known, isCurrent) = state.withLock {
            ($0.entries, $0.version == version)
        }
        if isCurrent { return known }
        var entries: [String: Entry] = [:]
        for record in try catalog.serverKeys() {
            if let entry = known[record.keyID], entry.record.publicKeyDER == record.publicKeyDER {
                entries[record.keyID] = Entry(record: record, key: entry.key)
            } else {
                entries[record.keyID] = Entry(
                    record: record, key: try P256PublicKey(der: record.publicKeyDER))
            }
        }
        let read = entries
        state.withLock { state in
            // Another thread may have read a later state meanwhile.
            guard (state.version ?? -1) < version else { return }
            state.entries = read
            state.version = version
        }
        return read
    }
}
