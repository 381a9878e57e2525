import Foundation

/// Makes and deletes zones.
public final class CKModifyRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
    // Unchecked: as its parent.

    /// Zones to make.
    public var recordZonesToSave: [CKRecordZone]?
    /// Zones to delete.
    public var recordZoneIDsToDelete: [CKRecordZone.ID]?

    /// Told of each zone that was to be made.
    @preconcurrency public var perRecordZoneSaveBlock:
        (@Sendable (CKRecordZone.ID, Result<CKRecordZone, any Error>) -> Void)?
    /// Told of each zone that was to be deleted.
    @preconcurrency public var perRecordZoneDeleteBlock:
        (@Sendable (CKRecordZone.ID, Result<Void, any Error>) -> Void)?
    /// Told at the end: fails only when nothing can be said of any zone.
    @preconcurrency public var modifyRecordZonesResultBlock:
        (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form: failures of items come here, too, as one partial failure.
    @preconcurrency public var modifyRecordZonesCompletionBlock:
        (@Sendable ([CKRecordZone]?, [CKRecordZone.ID]?, (any Error)?) -> Void)?

    /// Takes what to make and delete.
    public init(
        recordZonesToSave: [CKRecordZone]? = nil, recordZoneIDsToDelete: [CKRecordZone.ID]? = nil
    ) {
        self.recordZonesToSave = recordZonesToSave
        self.recordZoneIDsToDelete = recordZoneIDsToDelete
    }

    override var longLivedInput: LongLivedInput? {
        LongLivedInput(
            .modifyZones, database,
            objects: ["zones": recordZonesToSave ?? [], "ids": recordZoneIDsToDelete ?? []])
    }

    override func run() async {
        let zones = recordZonesToSave ?? []
        let ids = recordZoneIDsToDelete ?? []
        do {
            let done = try await requiredDatabase().modifyRecordZones(
                saving: zones, deleting: ids)
            var failures = ItemFailures()
            for zone in zones {
                guard let result = done.saveResults[zone.zoneID] else { continue }
                perRecordZoneSaveBlock?(zone.zoneID, result)
                failures.note(zone.zoneID, result)
            }
            for id in ids {
                guard let result = done.deleteResults[id] else { continue }
                perRecordZoneDeleteBlock?(id, result)
                failures.note(id, result)
            }
            modifyRecordZonesResultBlock?(.success(()))
            modifyRecordZonesCompletionBlock?(
                zones.filter { failures.errors[$0.zoneID] == nil },
                ids.filter { failures.errors[$0] == nil }, failures.partialFailure)
        } catch {
            modifyRecordZonesResultBlock?(.failure(CKError(error)))
            modifyRecordZonesCompletionBlock?(nil, nil, CKError(error))
        }
    }
}

/// Fetches zones by their IDs, or all of a database.
public final class CKFetchRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
    // Unchecked: as its parent.

    /// Nil for all zones.
    public var recordZoneIDs: [CKRecordZone.ID]?

    /// Told of each zone.
    @preconcurrency public var perRecordZoneResultBlock:
        (@Sendable (CKRecordZone.ID, Result<CKRecordZone, any Error>) -> Void)?
    /// Told at the end: fails only when nothing can be said of any zone.
    @preconcurrency public var fetchRecordZonesResultBlock:
        (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form: failures of items come here, too, as one partial failure.
    @preconcurrency public var fetchRecordZonesCompletionBlock:
        (@Sendable ([CKRecordZone.ID: CKRecordZone]?, (any Error)?) -> Void)?

    /// Takes the zones to fetch.
    public init(recordZoneIDs: [CKRecordZone.ID]) { self.recordZoneIDs = recordZoneIDs }

    public override init() {}

    /// Fetches all zones of the database.
    public static func fetchAllRecordZonesOperation() -> CKFetchRecordZonesOperation {
        CKFetchRecordZonesOperation()
    }

    override func run() async {
        do {
            let results = try await results()
            var failures = ItemFailures()
            var zones: [CKRecordZone.ID: CKRecordZone] = [:]
            for (id, result) in results {
                perRecordZoneResultBlock?(id, result)
                failures.note(id, result)
                zones[id] = try? result.get()
            }
            fetchRecordZonesResultBlock?(.success(()))
            fetchRecordZonesCompletionBlock?(zones, failures.partialFailure)
        } catch {
            fetchRecordZonesResultBlock?(.failure(CKError(error)))
            fetchRecordZonesCompletionBlock?(nil, CKError(error))
        }
    }

    private func results() async throws -> [(CKRecordZone.ID, Result<CKRecordZone, any Error>)] {
        let database = try requiredDatabase()
        guard let recordZoneIDs else {
            return try await database.allRecordZones().map { ($0.zoneID, .success($0)) }
        }
        let found = try await database.recordZones(for: recordZoneIDs)
        return recordZoneIDs.compactMap { id in found[id].map { (id, $0) } }
    }
}
