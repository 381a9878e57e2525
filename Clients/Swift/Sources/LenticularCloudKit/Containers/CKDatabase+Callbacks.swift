import Foundation

// The methods with completion handlers. They call back on a thread of this library's, never on the main one.
extension CKDatabase {
    /// What saving and deleting gives, item by item.
    public typealias ModifyRecordsResults = (
        saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
        deleteResults: [CKRecord.ID: Result<Void, any Error>]
    )

    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func fetch(
        withRecordID recordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKRecord?, (any Error)?) -> Void
    ) {
        Callback.answer(completionHandler) {
            try await self.record(for: recordID)
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func fetch(
        withRecordIDs recordIDs: [CKRecord.ID],
        desiredKeys: [CKRecord.FieldKey]? = nil,
        completionHandler:
            @escaping @Sendable (
                Result<[CKRecord.ID: Result<CKRecord, any Error>], any Error>
            ) -> Void
    ) {
        Callback.result(completionHandler) {
            try await self.records(for: recordIDs, desiredKeys: desiredKeys)
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func save(
        _ record: CKRecord,
        completionHandler: @escaping @Sendable (CKRecord?, (any Error)?) -> Void
    ) {
        Callback.answer(completionHandler) {
            try await self.save(record)
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func delete(
        withRecordID recordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void
    ) {
        Callback.answer(completionHandler) {
            try await self.deleteRecord(withID: recordID)
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func modifyRecords(
        saving recordsToSave: [CKRecord],
        deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged,
        atomically: Bool = true,
        completionHandler:
            @escaping @Sendable (
                Result<ModifyRecordsResults, any Error>
            ) -> Void
    ) {
        Callback.result(completionHandler) {
            try await self.modifyRecords(
                saving: recordsToSave, deleting: recordIDsToDelete, savePolicy: savePolicy,
                atomically: atomically)
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func fetch(
        withQuery query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID? = nil,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults,
        completionHandler: @escaping @Sendable (Result<MatchResults, any Error>) -> Void
    ) {
        Callback.result(completionHandler) {
            try await self.records(
                matching: query, inZoneWith: zoneID, desiredKeys: desiredKeys,
                resultsLimit: resultsLimit)
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func fetch(
        withCursor cursor: CKQueryOperation.Cursor,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults,
        completionHandler: @escaping @Sendable (Result<MatchResults, any Error>) -> Void
    ) {
        Callback.result(completionHandler) {
            try await self.records(
                continuingMatchFrom: cursor, desiredKeys: desiredKeys, resultsLimit: resultsLimit)
        }
    }

    /// The older form of `fetch(withQuery:)`: the records of the first page.
    @preconcurrency
    public func perform(
        _ query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID?,
        completionHandler: @escaping @Sendable ([CKRecord]?, (any Error)?) -> Void
    ) {
        Callback.answer(completionHandler) {
            try await self.records(matching: query, inZoneWith: zoneID).matchResults
                .map { try $0.1.get() }
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func fetchAllRecordZones(
        completionHandler: @escaping @Sendable ([CKRecordZone]?, (any Error)?) -> Void
    ) {
        Callback.answer(completionHandler) {
            try await self.allRecordZones()
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func fetch(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping @Sendable (CKRecordZone?, (any Error)?) -> Void
    ) {
        Callback.answer(completionHandler) {
            try await self.recordZone(for: zoneID)
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func fetch(
        withRecordZoneIDs zoneIDs: [CKRecordZone.ID],
        completionHandler:
            @escaping @Sendable (
                Result<[CKRecordZone.ID: Result<CKRecordZone, any Error>], any Error>
            ) -> Void
    ) {
        Callback.result(completionHandler) {
            try await self.recordZones(for: zoneIDs)
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func save(
        _ zone: CKRecordZone,
        completionHandler: @escaping @Sendable (CKRecordZone?, (any Error)?) -> Void
    ) {
        Callback.answer(completionHandler) {
            try await self.save(zone)
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func delete(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping @Sendable (CKRecordZone.ID?, (any Error)?) -> Void
    ) {
        Callback.answer(completionHandler) {
            try await self.deleteRecordZone(withID: zoneID)
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func modifyRecordZones(
        saving zones: [CKRecordZone],
        deleting ids: [CKRecordZone.ID],
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
                        deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
                    ), any Error
                >
            ) -> Void
    ) {
        Callback.result(completionHandler) {
            try await self.modifyRecordZones(saving: zones, deleting: ids)
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func fetch(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping @Sendable (CKSubscription?, (any Error)?) -> Void
    ) {
        Callback.answer(completionHandler) {
            try await self.subscription(for: subscriptionID)
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func fetch(
        withSubscriptionIDs subscriptionIDs: [CKSubscription.ID],
        completionHandler:
            @escaping @Sendable (
                Result<[CKSubscription.ID: Result<CKSubscription, any Error>], any Error>
            ) -> Void
    ) {
        Callback.result(completionHandler) {
            try await self.subscriptions(for: subscriptionIDs)
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func fetchAllSubscriptions(
        completionHandler: @escaping @Sendable ([CKSubscription]?, (any Error)?) -> Void
    ) {
        Callback.answer(completionHandler) {
            try await self.allSubscriptions()
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func save(
        _ subscription: CKSubscription,
        completionHandler: @escaping @Sendable (CKSubscription?, (any Error)?) -> Void
    ) {
        Callback.answer(completionHandler) {
            try await self.save(subscription)
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func delete(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping @Sendable (CKSubscription.ID?, (any Error)?) -> Void
    ) {
        Callback.answer(completionHandler) {
            try await self.deleteSubscription(withID: subscriptionID)
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func modifySubscriptions(
        saving subscriptions: [CKSubscription],
        deleting ids: [CKSubscription.ID],
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        saveResults: [CKSubscription.ID: Result<CKSubscription, any Error>],
                        deleteResults: [CKSubscription.ID: Result<Void, any Error>]
                    ), any Error
                >
            ) -> Void
    ) {
        Callback.result(completionHandler) {
            try await self.modifySubscriptions(saving: subscriptions, deleting: ids)
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func fetchDatabaseChanges(
        since token: CKServerChangeToken?,
        resultsLimit: Int? = nil,
        completionHandler: @escaping @Sendable (Result<DatabaseChanges, any Error>) -> Void
    ) {
        Callback.result(completionHandler) {
            try await self.databaseChanges(since: token, resultsLimit: resultsLimit)
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func fetchRecordZoneChanges(
        inZoneWith zoneID: CKRecordZone.ID,
        since token: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int? = nil,
        completionHandler: @escaping @Sendable (Result<RecordZoneChanges, any Error>) -> Void
    ) {
        Callback.result(completionHandler) {
            try await self.recordZoneChanges(
                inZoneWith: zoneID, since: token, desiredKeys: desiredKeys,
                resultsLimit: resultsLimit)
        }
    }
}
