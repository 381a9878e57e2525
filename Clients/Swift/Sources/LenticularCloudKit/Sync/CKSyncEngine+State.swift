import Foundation

extension CKSyncEngine {
    /// A change to a record that waits to be sent.
    ///
    /// The record itself is asked for when it is.
    public enum PendingRecordZoneChange: Hashable, Sendable {
        /// A record is to be saved.
        case saveRecord(CKRecord.ID)
        /// A record is to be deleted.
        case deleteRecord(CKRecord.ID)

        var recordID: CKRecord.ID {
            switch self {
            case .saveRecord(let id), .deleteRecord(let id): id
            }
        }
    }

    /// A change to a zone that waits to be sent.
    public enum PendingDatabaseChange: Hashable, Sendable {
        /// A zone is to be made.
        case saveZone(CKRecordZone)
        /// A zone is to be deleted, with all that is in it.
        case deleteZone(CKRecordZone.ID)

        var zoneID: CKRecordZone.ID {
            switch self {
            case .saveZone(let zone): zone.zoneID
            case .deleteZone(let id): id
            }
        }
    }

    /// What the engine knows and is about to do.
    ///
    /// Everything that must outlive the process is in `Serialization`, which comes with each `stateUpdate`
    /// event: keep the last one, and hand it to the next engine.
    public final class State: Sendable {
        /// The state as the app keeps it: opaque, for this library alone.
        public struct Serialization: Codable, Sendable {
            let state: StoredState

            /// Reads a state that any version of this library has written.
            ///
            /// - Throws: what the decoder throws for anything else.
            public init(from decoder: any Decoder) throws {
                state = try StoredState(from: decoder)
            }

            /// Writes the state.
            ///
            /// - Throws: what the encoder throws.
            public func encode(to encoder: any Encoder) throws { try state.encode(to: encoder) }

            init(_ state: StoredState) { self.state = state }
        }

        private let memory: EngineMemory

        init(_ memory: EngineMemory) { self.memory = memory }

        /// Changes to records that wait, in their order.
        public var pendingRecordZoneChanges: [PendingRecordZoneChange] {
            memory.read { $0.records.changes }
        }

        /// Changes to zones that wait, in their order.
        public var pendingDatabaseChanges: [PendingDatabaseChange] {
            memory.read { $0.database.changes }
        }

        /// Zones that have changed on the server and were not fetched yet.
        public var zoneIDsWithUnfetchedServerChanges: [CKRecordZone.ID] {
            memory.read { $0.unfetched }
        }

        /// Whether the app has changes of its own to send that are not in the lists.
        public var hasPendingUntrackedChanges: Bool {
            get { memory.read { $0.hasUntracked } }
            set { memory.change { $0.setUntracked(newValue) } }
        }

        /// Lets changes wait to be sent; each thing once.
        public func add(pendingRecordZoneChanges changes: [PendingRecordZoneChange]) {
            memory.change { $0.records.add(changes) }
        }

        /// Takes changes back that were not sent yet; those under way do not wait again when they fail.
        public func remove(pendingRecordZoneChanges changes: [PendingRecordZoneChange]) {
            memory.change { $0.remove(changes) }
        }

        /// Lets changes wait to be sent; each zone once.
        public func add(pendingDatabaseChanges changes: [PendingDatabaseChange]) {
            memory.change { $0.database.add(changes) }
        }

        /// Takes changes back that were not sent yet; those under way do not wait again when they fail.
        public func remove(pendingDatabaseChanges changes: [PendingDatabaseChange]) {
            memory.change { $0.remove(changes) }
        }
    }
}
