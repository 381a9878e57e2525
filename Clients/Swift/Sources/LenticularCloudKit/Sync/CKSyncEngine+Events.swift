import Foundation

extension CKSyncEngine {
    /// What the engine tells its delegate, one event after the other.
    public enum Event: Sendable {
        case stateUpdate(StateUpdate)
        case accountChange(AccountChange)
        case fetchedDatabaseChanges(FetchedDatabaseChanges)
        case fetchedRecordZoneChanges(FetchedRecordZoneChanges)
        case sentDatabaseChanges(SentDatabaseChanges)
        case sentRecordZoneChanges(SentRecordZoneChanges)
        case willFetchChanges(WillFetchChanges)
        case willFetchRecordZoneChanges(WillFetchRecordZoneChanges)
        case didFetchRecordZoneChanges(DidFetchRecordZoneChanges)
        case didFetchChanges(DidFetchChanges)
        case willSendChanges(WillSendChanges)
        case didSendChanges(DidSendChanges)

        /// The state has changed: keep it in place of the last one.
        public struct StateUpdate: Sendable {
            public let stateSerialization: State.Serialization
        }

        /// Somebody else is signed in than before.
        public struct AccountChange: Sendable {
            public enum ChangeType: Sendable {
                case signIn(currentUser: CKRecord.ID)
                case signOut(previousUser: CKRecord.ID)
                case switchAccounts(previousUser: CKRecord.ID, currentUser: CKRecord.ID)
            }

            public let changeType: ChangeType
        }

        public struct FetchedDatabaseChanges: Sendable {
            public let modifications: [CKDatabase.DatabaseChange.Modification]
            public let deletions: [CKDatabase.DatabaseChange.Deletion]
        }

        public struct FetchedRecordZoneChanges: Sendable {
            public let modifications: [CKDatabase.RecordZoneChange.Modification]
            public let deletions: [CKDatabase.RecordZoneChange.Deletion]
        }

        public struct SentDatabaseChanges: Sendable {
            public struct FailedZoneSave: Sendable {
                public let zone: CKRecordZone
                public let error: CKError
            }

            public let savedZones: [CKRecordZone]
            public let failedZoneSaves: [FailedZoneSave]
            public let deletedZoneIDs: [CKRecordZone.ID]
            public let failedZoneDeletes: [CKRecordZone.ID: CKError]
        }

        public struct SentRecordZoneChanges: Sendable {
            public struct FailedRecordSave: Sendable {
                public let record: CKRecord
                public let error: CKError
            }

            public let savedRecords: [CKRecord]
            public let failedRecordSaves: [FailedRecordSave]
            public let deletedRecordIDs: [CKRecord.ID]
            public let failedRecordDeletes: [CKRecord.ID: CKError]
        }

        public struct WillFetchChanges: Sendable {
            public let context: FetchChangesContext
        }

        public struct WillFetchRecordZoneChanges: Sendable {
            public let zoneID: CKRecordZone.ID
        }

        public struct DidFetchRecordZoneChanges: Sendable {
            public let zoneID: CKRecordZone.ID
            public let error: CKError?
        }

        public struct DidFetchChanges: Sendable {
            public let context: FetchChangesContext
        }

        public struct WillSendChanges: Sendable {
            public let context: SendChangesContext
        }

        public struct DidSendChanges: Sendable {
            public let context: SendChangesContext
        }
    }

    /// Why the engine is at work.
    public enum SyncReason: Sendable {
        /// By itself.
        case scheduled
        /// The app has asked for it.
        case manual
    }

    public struct FetchChangesContext: Sendable {
        public let reason: SyncReason
        public let options: FetchChangesOptions
    }

    public struct SendChangesContext: Sendable {
        public let reason: SyncReason
        public let options: SendChangesOptions
    }

    /// Which changes to fetch.
    public struct FetchChangesOptions: Sendable {
        public enum Scope: Sendable {
            case all
            case allExcluding([CKRecordZone.ID])
            case zoneIDs([CKRecordZone.ID])

            public func contains(_ zoneID: CKRecordZone.ID) -> Bool {
                switch self {
                case .all: true
                case .allExcluding(let zones): !zones.contains(zoneID)
                case .zoneIDs(let zones): zones.contains(zoneID)
                }
            }
        }

        public var scope: Scope
        /// Fetched before the others.
        public var prioritizedZoneIDs: [CKRecordZone.ID] = []

        public init(scope: Scope = .all) { self.scope = scope }
    }

    /// Which changes to send.
    public struct SendChangesOptions: Sendable {
        public enum Scope: Sendable {
            case all
            case allExcluding([CKRecordZone.ID])
            case zoneIDs([CKRecordZone.ID])
            case recordIDs([CKRecord.ID])

            public func contains(_ recordID: CKRecord.ID) -> Bool {
                switch self {
                case .all: true
                case .allExcluding(let zones): !zones.contains(recordID.zoneID)
                case .zoneIDs(let zones): zones.contains(recordID.zoneID)
                case .recordIDs(let records): records.contains(recordID)
                }
            }

            public func contains(_ change: PendingRecordZoneChange) -> Bool {
                contains(change.recordID)
            }

            func contains(_ change: PendingDatabaseChange) -> Bool {
                switch self {
                case .all: true
                case .allExcluding(let zones): !zones.contains(change.zoneID)
                case .zoneIDs(let zones): zones.contains(change.zoneID)
                case .recordIDs: false
                }
            }
        }

        public var scope: Scope

        public init(scope: Scope = .all) { self.scope = scope }
    }
}
