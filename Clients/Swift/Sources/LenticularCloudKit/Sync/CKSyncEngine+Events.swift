import Foundation

extension CKSyncEngine {
    /// What the engine tells its delegate, one event after the other.
    public enum Event: Sendable {
        /// What the engine knows has changed: keep it.
        case stateUpdate(StateUpdate)
        /// Somebody else is signed in than before, or nobody any more.
        case accountChange(AccountChange)
        /// Zones that others have changed or deleted.
        case fetchedDatabaseChanges(FetchedDatabaseChanges)
        /// Records that others have changed or deleted.
        case fetchedRecordZoneChanges(FetchedRecordZoneChanges)
        /// What has become of zones that were sent.
        case sentDatabaseChanges(SentDatabaseChanges)
        /// What has become of records that were sent.
        case sentRecordZoneChanges(SentRecordZoneChanges)
        /// A fetch begins.
        case willFetchChanges(WillFetchChanges)
        /// The fetch of one zone's records begins.
        case willFetchRecordZoneChanges(WillFetchRecordZoneChanges)
        /// The fetch of one zone's records has ended.
        case didFetchRecordZoneChanges(DidFetchRecordZoneChanges)
        /// A fetch has ended.
        case didFetchChanges(DidFetchChanges)
        /// Sending begins.
        case willSendChanges(WillSendChanges)
        /// Sending has ended.
        case didSendChanges(DidSendChanges)

        /// The state has changed: keep it in place of the last one.
        public struct StateUpdate: Sendable {
            /// What to hand to the next engine.
            public let stateSerialization: State.Serialization
        }

        /// Somebody else is signed in than before.
        public struct AccountChange: Sendable {
            /// What has become of the account.
            public enum ChangeType: Sendable {
                /// Somebody has signed in where nobody was.
                case signIn(currentUser: CKRecord.ID)
                /// Nobody is signed in any more.
                case signOut(previousUser: CKRecord.ID)
                /// Somebody else is signed in.
                case switchAccounts(previousUser: CKRecord.ID, currentUser: CKRecord.ID)
            }

            /// What has become of the account.
            public let changeType: ChangeType
        }

        /// A page of the feed of zones.
        public struct FetchedDatabaseChanges: Sendable {
            /// Zones that were made, or whose records changed.
            public let modifications: [CKDatabase.DatabaseChange.Modification]
            /// Zones that are gone, and why.
            public let deletions: [CKDatabase.DatabaseChange.Deletion]
        }

        /// A page of a zone's feed.
        public struct FetchedRecordZoneChanges: Sendable {
            /// Records as they are now.
            public let modifications: [CKDatabase.RecordZoneChange.Modification]
            /// Records that are gone.
            public let deletions: [CKDatabase.RecordZoneChange.Deletion]
        }

        /// The answer to a batch of zones.
        public struct SentDatabaseChanges: Sendable {
            /// A zone that was not made.
            public struct FailedZoneSave: Sendable {
                /// The zone.
                public let zone: CKRecordZone
                /// Why.
                public let error: CKError
            }

            /// Zones that are there now.
            public let savedZones: [CKRecordZone]
            /// Zones that were not made; those that the engine tries again are still pending.
            public let failedZoneSaves: [FailedZoneSave]
            /// Zones that are gone now.
            public let deletedZoneIDs: [CKRecordZone.ID]
            /// Zones that were not deleted.
            public let failedZoneDeletes: [CKRecordZone.ID: CKError]
        }

        /// The answer to a batch of records.
        public struct SentRecordZoneChanges: Sendable {
            /// A record that was not saved.
            public struct FailedRecordSave: Sendable {
                /// The record as it was handed over.
                public let record: CKRecord
                /// Why.
                public let error: CKError
            }

            /// Records that were saved, with their new versions.
            public let savedRecords: [CKRecord]
            /// Records that were not saved; those that the engine tries again are still pending.
            public let failedRecordSaves: [FailedRecordSave]
            /// Records that are gone now.
            public let deletedRecordIDs: [CKRecord.ID]
            /// Records that were not deleted.
            public let failedRecordDeletes: [CKRecord.ID: CKError]
        }

        /// The beginning of a fetch.
        public struct WillFetchChanges: Sendable {
            /// Why, and what of.
            public let context: FetchChangesContext
        }

        /// The beginning of one zone's fetch.
        public struct WillFetchRecordZoneChanges: Sendable {
            /// The zone.
            public let zoneID: CKRecordZone.ID
        }

        /// The end of one zone's fetch.
        public struct DidFetchRecordZoneChanges: Sendable {
            /// The zone.
            public let zoneID: CKRecordZone.ID
            /// Why it could not be fetched; nil when it was.
            public let error: CKError?
        }

        /// The end of a fetch.
        public struct DidFetchChanges: Sendable {
            /// Why, and what of.
            public let context: FetchChangesContext
        }

        /// The beginning of sending.
        public struct WillSendChanges: Sendable {
            /// Why, and what of.
            public let context: SendChangesContext
        }

        /// The end of sending.
        public struct DidSendChanges: Sendable {
            /// Why, and what of.
            public let context: SendChangesContext
        }
    }

    /// Why the engine syncs.
    public enum SyncReason: Sendable {
        /// By itself.
        case scheduled
        /// The app has asked for it.
        case manual
    }

    /// Why a fetch is under way, and what of.
    public struct FetchChangesContext: Sendable {
        /// Whether the app has asked for it.
        public let reason: SyncReason
        /// Which changes.
        public let options: FetchChangesOptions
    }

    /// Why changes are being sent, and which.
    public struct SendChangesContext: Sendable {
        /// Whether the app has asked for it.
        public let reason: SyncReason
        /// Which changes.
        public let options: SendChangesOptions
    }

    /// Which changes to fetch.
    public struct FetchChangesOptions: Sendable {
        /// Which zones or records.
        public enum Scope: Sendable {
            /// Everything.
            case all
            /// Everything but what is in these zones.
            case allExcluding([CKRecordZone.ID])
            /// What is in these zones.
            case zoneIDs([CKRecordZone.ID])

            /// Whether a zone is meant.
            public func contains(_ zoneID: CKRecordZone.ID) -> Bool {
                switch self {
                case .all: true
                case .allExcluding(let zones): !zones.contains(zoneID)
                case .zoneIDs(let zones): zones.contains(zoneID)
                }
            }
        }

        /// Which zones or records.
        public var scope: Scope
        /// What the requests belong to.
        public var operationGroup: CKOperationGroup?
        /// Fetched before the others.
        public var prioritizedZoneIDs: [CKRecordZone.ID] = []

        /// Takes a scope; everything unless said otherwise.
        public init(scope: Scope = .all, operationGroup: CKOperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup
        }
    }

    /// Which changes to send.
    public struct SendChangesOptions: Sendable {
        /// Which zones or records.
        public enum Scope: Sendable {
            /// Everything.
            case all
            /// Everything but what is in these zones.
            case allExcluding([CKRecordZone.ID])
            /// What is in these zones.
            case zoneIDs([CKRecordZone.ID])
            /// These records.
            case recordIDs([CKRecord.ID])

            /// Whether a record is meant.
            public func contains(_ recordID: CKRecord.ID) -> Bool {
                switch self {
                case .all: true
                case .allExcluding(let zones): !zones.contains(recordID.zoneID)
                case .zoneIDs(let zones): zones.contains(recordID.zoneID)
                case .recordIDs(let records): records.contains(recordID)
                }
            }

            /// Whether a change is meant.
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

        /// Which zones or records.
        public var scope: Scope
        /// What the requests belong to.
        public var operationGroup: CKOperationGroup?

        /// Takes a scope; everything unless said otherwise.
        public init(scope: Scope = .all, operationGroup: CKOperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup
        }
    }
}
