import Foundation

/// The engine's state in memory, which the app and the engine share.
final class EngineMemory: @unchecked Sendable {
    // Unchecked: everything is behind the lock.

    struct Contents {
        var records = PendingList<CKSyncEngine.PendingRecordZoneChange, CKRecord.ID> {
            $0.recordID
        }
        var database = PendingList<CKSyncEngine.PendingDatabaseChange, CKRecordZone.ID> {
            $0.zoneID
        }
        /// Handed to the server, not answered yet.
        var recordsInFlight: [CKSyncEngine.PendingRecordZoneChange] = []
        var databaseInFlight: [CKSyncEngine.PendingDatabaseChange] = []
        var databaseToken: CKServerChangeToken?
        var zoneTokens: [CKRecordZone.ID: CKServerChangeToken] = [:]
        var unfetched: [CKRecordZone.ID] = []
        var user: CKRecord.ID?
        /// What tells this account's devices of changes.
        var subscription: CKSubscription.ID?
        var hasUntracked = false

        /// Whether there is anything to send.
        var hasWork: Bool { !records.changes.isEmpty || !database.changes.isEmpty || hasUntracked }

        /// Takes changes back that the app no longer wants; those that the server is just asked for do not wait again.
        ///
        /// - Returns: whether anything has changed.
        mutating func remove(_ changes: [CKSyncEngine.PendingRecordZoneChange]) -> Bool {
            let isInFlight = Self.remove(Set(changes), from: &recordsInFlight)
            return records.remove(changes) || isInFlight
        }

        /// As for records.
        mutating func remove(_ changes: [CKSyncEngine.PendingDatabaseChange]) -> Bool {
            let isInFlight = Self.remove(Set(changes), from: &databaseInFlight)
            return database.remove(changes) || isInFlight
        }

        private static func remove<Change>(_ gone: Set<Change>, from list: inout [Change]) -> Bool {
            let before = list.count
            list.removeAll(where: gone.contains)
            return list.count != before
        }

        mutating func setUntracked(_ value: Bool) -> Bool {
            defer { hasUntracked = value }
            return hasUntracked != value
        }

        /// Forgets everything of an account that is no longer there.
        mutating func reset() {
            let fresh = Contents()
            self = fresh
        }
    }

    private let lock = NSLock()
    private var contents: Contents
    /// Told after each change that must be kept.
    private var onChange: @Sendable () -> Void = {}

    init(_ contents: Contents) { self.contents = contents }

    func observe(_ onChange: @escaping @Sendable () -> Void) {
        lock.withLock { self.onChange = onChange }
    }

    func read<Value>(_ body: (Contents) -> Value) -> Value {
        lock.withLock { body(contents) }
    }

    /// A change that the app makes: the engine is told when there is something new in it.
    func change(_ body: (inout Contents) -> Bool) {
        let tell = lock.withLock { body(&contents) ? onChange : {} }
        tell()
    }

    /// A change that the engine makes, and tells of itself.
    func settle<Value>(_ body: (inout Contents) -> Value) -> Value {
        lock.withLock { body(&contents) }
    }

    /// What must outlive the process: what is in flight counts as waiting.
    var serialization: CKSyncEngine.State.Serialization {
        .init(StoredState(read { $0 }))
    }
}
