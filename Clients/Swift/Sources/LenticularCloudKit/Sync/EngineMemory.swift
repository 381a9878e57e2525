import CloudKitWire
import Foundation

/// The engine's state in memory, which the app and the engine share.
final class EngineMemory: Sendable {
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
        /// Records that were refused because this device lacks the account's key, since it was looked for last.
        var locked: Set<CKRecord.ID> = []
        /// Names the next batch of records, until the server has answered it: what was sent and stands on the
        /// server is known by it, by a later run of the program too.
        var writeID = RecordBatch.Manner.freshWriteID()

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

        /// Takes what waits for the account's key out of what is sent next.
        ///
        /// - Returns: what was taken out, and counts as in flight.
        mutating func holdLocked() -> [CKSyncEngine.PendingRecordZoneChange] {
            let held = records.changes.filter { change in
                if case .saveRecord(let id) = change { locked.contains(id) } else { false }
            }
            records.remove(held)
            recordsInFlight += held
            return held
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

    private let contents: Locked<Contents>
    /// Told after each change that must be kept.
    private let onChange = Locked<@Sendable () -> Void>({})

    init(_ contents: Contents) { self.contents = Locked(contents) }

    func observe(_ onChange: @escaping @Sendable () -> Void) {
        self.onChange.withLock { $0 = onChange }
    }

    func read<Value>(_ body: (Contents) -> Value) -> Value {
        contents.withLock { body($0) }
    }

    /// A change that the app makes: the engine is told when there is something new in it.
    func change(_ body: (inout Contents) -> Bool) {
        if contents.withLock({ body(&$0) }) { onChange.withLock { $0 }() }
    }

    /// A change that the engine makes, and tells of itself.
    func settle<Value>(_ body: (inout Contents) -> Value) -> Value {
        contents.withLock { body(&$0) }
    }

    /// What must outlive the process: what is in flight counts as waiting.
    var serialization: CKSyncEngine.State.Serialization {
        .init(StoredState(read { $0 }))
    }
}
