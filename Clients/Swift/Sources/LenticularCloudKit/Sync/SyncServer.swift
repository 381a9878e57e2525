import Foundation

/// What the engine asks of a server: a database, or a script in tests.
protocol SyncServer: Sendable {
    /// Who is signed in; nil for nobody.
    func account() async throws -> CKRecord.ID?

    func databasePage(since token: CKServerChangeToken?) async throws -> SyncDatabasePage

    func recordPage(
        of zone: CKRecordZone.ID, since token: CKServerChangeToken?
    ) async throws -> CKDatabase.ZonePage

    func change(
        saving zones: [CKRecordZone], deleting ids: [CKRecordZone.ID]
    ) async throws -> (
        saved: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
        deleted: [CKRecordZone.ID: Result<Void, any Error>]
    )

    /// - Parameter writeID: the same for all tries of one batch, in all runs of the program.
    func change(
        _ batch: CKSyncEngine.RecordZoneChangeBatch, as writeID: String
    ) async throws -> (
        saved: [CKRecord.ID: Result<CKRecord, any Error>],
        deleted: [CKRecord.ID: Result<Void, any Error>]
    )

    /// Makes sure that changes of the database are told to the account's devices.
    ///
    /// - Parameter id: the subscription to use; nil for any that does.
    /// - Returns: the one that does.
    func subscribe(as id: CKSubscription.ID?) async throws -> CKSubscription.ID

    /// What this device is told; ends when there is nothing more to hope for.
    func signs() -> AsyncThrowingStream<SyncSign, any Error>
}

/// Why an engine looks before its timer does.
enum SyncSign: Sendable {
    /// Telling begins: what has changed until now is not told.
    case begun
    /// A subscription has something to say.
    case told(CKNotification)
}

/// A page of the feed of zones.
struct SyncDatabasePage: Sendable {
    var modifications: [CKDatabase.DatabaseChange.Modification] = []
    var deletions: [CKDatabase.DatabaseChange.Deletion] = []
    let token: CKServerChangeToken
    let moreComing: Bool
}

extension CKDatabase: SyncServer {
    func account() async throws -> CKRecord.ID? {
        do {
            return CKRecord.ID(recordName: try await caller.name(by: connection))
        } catch {
            let error = CKError(error)
            guard error.code == .notAuthenticated else { throw error }
            return nil
        }
    }

    func databasePage(since token: CKServerChangeToken?) async throws -> SyncDatabasePage {
        let page = try await databaseChanges(since: token)
        return SyncDatabasePage(
            modifications: page.modifications, deletions: page.deletions,
            token: page.changeToken, moreComing: page.moreComing)
    }

    func recordPage(
        of zone: CKRecordZone.ID, since token: CKServerChangeToken?
    ) async throws -> ZonePage {
        let page = try await zonePage(
            of: zone, since: token, desiredKeys: nil, resultsLimit: nil)
        // One file that nobody can get any more must not keep all that comes after it from the app.
        try await fetchFiles(of: page.records, isStrict: false)
        try await openValues(of: page.records)
        return page
    }

    func change(
        saving zones: [CKRecordZone], deleting ids: [CKRecordZone.ID]
    ) async throws -> (
        saved: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
        deleted: [CKRecordZone.ID: Result<Void, any Error>]
    ) {
        let done = try await modifyRecordZones(saving: zones, deleting: ids)
        return (done.saveResults, done.deleteResults)
    }

    func change(
        _ batch: CKSyncEngine.RecordZoneChangeBatch, as writeID: String
    ) async throws -> (
        saved: [CKRecord.ID: Result<CKRecord, any Error>],
        deleted: [CKRecord.ID: Result<Void, any Error>]
    ) {
        let done = try await modifyRecords(
            saving: batch.recordsToSave, deleting: batch.recordIDsToDelete,
            RecordBatch.Manner(isAtomic: batch.atomicByZone, writeID: writeID))
        return (done.saveResults, done.deleteResults)
    }

    func subscribe(as id: CKSubscription.ID?) async throws -> CKSubscription.ID {
        let known = try await allSubscriptions().compactMap { $0 as? CKDatabaseSubscription }
        let fitting = known.first {
            id == nil ? $0.recordType == nil : $0.subscriptionID == id
        }
        if let fitting { return fitting.subscriptionID }
        let made = CKDatabaseSubscription(
            subscriptionID: id ?? "lenticular-sync-\(databaseScope.path)")
        let info = CKSubscription.NotificationInfo()
        info.shouldSendContentAvailable = true
        made.notificationInfo = info
        return try await save(made).subscriptionID
    }

    func signs() -> AsyncThrowingStream<SyncSign, any Error> { access.signs() }
}
