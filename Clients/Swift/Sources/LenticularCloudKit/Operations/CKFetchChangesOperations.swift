import Foundation

/// Fetches which zones have changed.
public final class CKFetchDatabaseChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    // Unchecked: as its parent.

    /// Where to begin; nil for the beginning.
    public var previousServerChangeToken: CKServerChangeToken?
    /// How many of a page; 0 lets the server decide.
    public var resultsLimit = 0
    /// Whether the operation goes on until there is nothing more.
    public var fetchAllChanges = true

    /// Told of each zone that was made or changed.
    public var recordZoneWithIDChangedBlock: ((CKRecordZone.ID) -> Void)?
    /// Told of each zone that was deleted.
    public var recordZoneWithIDWasDeletedBlock: ((CKRecordZone.ID) -> Void)?
    /// Told of each zone that its user threw away.
    public var recordZoneWithIDWasPurgedBlock: ((CKRecordZone.ID) -> Void)?
    /// Told of each zone that is gone by a reset of encrypted data.
    public var recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock:
        ((CKRecordZone.ID) -> Void)?
    /// Told after each page but the last.
    public var changeTokenUpdatedBlock: ((CKServerChangeToken) -> Void)?
    /// Told at the end.
    public var fetchDatabaseChangesResultBlock:
        (
            (Result<(serverChangeToken: CKServerChangeToken, moreComing: Bool), any Error>) ->
                Void
        )?

    /// Takes where to begin.
    public init(previousServerChangeToken: CKServerChangeToken? = nil) {
        self.previousServerChangeToken = previousServerChangeToken
    }

    override func run() async {
        var token = previousServerChangeToken
        do {
            while true {
                let page = try await requiredDatabase().databaseChanges(
                    since: token, resultsLimit: resultsLimit > 0 ? resultsLimit : nil)
                token = page.changeToken
                for change in page.modifications { recordZoneWithIDChangedBlock?(change.zoneID) }
                for change in page.deletions { tell(change) }
                guard page.moreComing, fetchAllChanges else {
                    fetchDatabaseChangesResultBlock?(
                        .success((page.changeToken, page.moreComing)))
                    return
                }
                changeTokenUpdatedBlock?(page.changeToken)
            }
        } catch {
            fetchDatabaseChangesResultBlock?(.failure(CKError(error)))
        }
    }

    private func tell(_ change: CKDatabase.DatabaseChange.Deletion) {
        switch change.reason {
        case .deleted: recordZoneWithIDWasDeletedBlock?(change.zoneID)
        case .purged: recordZoneWithIDWasPurgedBlock?(change.zoneID)
        case .encryptedDataReset:
            recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock?(change.zoneID)
        }
    }
}

/// Fetches what has changed in zones.
public final class CKFetchRecordZoneChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    // Unchecked: as its parent.

    /// From where on and how much of a zone is fetched.
    public final class ZoneConfiguration: NSObject, @unchecked Sendable {
        // Unchecked: as the operation's settings.
        /// Where to begin; nil for the beginning.
        public var previousServerChangeToken: CKServerChangeToken?
        /// How many of a page; 0 lets the server decide.
        public var resultsLimit = 0
        /// The fields to fetch; nil for all.
        public var desiredKeys: [CKRecord.FieldKey]?

        /// Takes where to begin, and what of.
        public init(
            previousServerChangeToken: CKServerChangeToken? = nil, resultsLimit: Int? = nil,
            desiredKeys: [CKRecord.FieldKey]? = nil
        ) {
            self.previousServerChangeToken = previousServerChangeToken
            self.resultsLimit = resultsLimit ?? 0
            self.desiredKeys = desiredKeys
        }
    }

    /// Where a zone's fetch has come to.
    public typealias ZoneResult = (
        serverChangeToken: CKServerChangeToken, clientChangeTokenData: Data?, moreComing: Bool
    )

    /// The zones to fetch.
    public var recordZoneIDs: [CKRecordZone.ID]?
    /// How each is fetched.
    public var configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]?
    /// Whether the operation goes on until there is nothing more.
    public var fetchAllChanges = true

    /// Told of each record that was made or changed.
    public var recordWasChangedBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// Told of each record that is gone, and its type.
    public var recordWithIDWasDeletedBlock: ((CKRecord.ID, CKRecord.RecordType) -> Void)?
    /// Told after each page of a zone but its last.
    public var recordZoneChangeTokensUpdatedBlock:
        ((CKRecordZone.ID, CKServerChangeToken?, Data?) -> Void)?
    /// Told once for each zone.
    public var recordZoneFetchResultBlock:
        ((CKRecordZone.ID, Result<ZoneResult, any Error>) -> Void)?
    /// Told at the end: fails when no zone can be fetched.
    public var fetchRecordZoneChangesResultBlock: ((Result<Void, any Error>) -> Void)?

    /// Takes where to begin, and what of.
    public init(
        recordZoneIDs: [CKRecordZone.ID]? = nil,
        configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]? = nil
    ) {
        self.recordZoneIDs = recordZoneIDs
        self.configurationsByRecordZoneID = configurationsByRecordZoneID
    }

    override func run() async {
        var failure: CKError?
        for zone in recordZoneIDs ?? [] {
            do {
                recordZoneFetchResultBlock?(zone, .success(try await fetch(zone)))
            } catch {
                let error = CKError(error)
                recordZoneFetchResultBlock?(zone, .failure(error))
                if error.concernsAllZones {
                    failure = error
                    break
                }
            }
        }
        fetchRecordZoneChangesResultBlock?(failure.map { .failure($0) } ?? .success(()))
    }

    /// Tokens that were told before a failure stay good: the next operation begins there.
    private func fetch(_ zone: CKRecordZone.ID) async throws -> ZoneResult {
        let settings = configurationsByRecordZoneID?[zone] ?? ZoneConfiguration()
        var token = settings.previousServerChangeToken
        while true {
            let database = try requiredDatabase()
            let limit = settings.resultsLimit
            let page = try await database.zonePage(
                of: zone, since: token, desiredKeys: settings.desiredKeys,
                resultsLimit: limit > 0 ? limit : nil)
            for record in page.records {
                recordWasChangedBlock?(
                    record.recordID, await database.completed(.success(record)))
            }
            for deletion in page.deletions {
                recordWithIDWasDeletedBlock?(deletion.recordID, deletion.recordType)
            }
            token = page.token
            guard page.moreComing, fetchAllChanges else {
                return (page.token, nil, page.moreComing)
            }
            recordZoneChangeTokensUpdatedBlock?(zone, page.token, nil)
        }
    }
}

extension CKError {
    /// Whether the other zones would fail the same way.
    fileprivate var concernsAllZones: Bool {
        switch code {
        case .zoneNotFound, .userDeletedZone, .changeTokenExpired, .zoneBusy, .invalidArguments:
            false
        default: true
        }
    }
}
