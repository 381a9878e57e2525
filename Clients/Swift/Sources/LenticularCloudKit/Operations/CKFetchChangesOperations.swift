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
    @preconcurrency public var recordZoneWithIDChangedBlock: (@Sendable (CKRecordZone.ID) -> Void)?
    /// Told of each zone that was deleted.
    @preconcurrency public var recordZoneWithIDWasDeletedBlock:
        (@Sendable (CKRecordZone.ID) -> Void)?
    /// Told of each zone that its user threw away.
    @preconcurrency public var recordZoneWithIDWasPurgedBlock:
        (@Sendable (CKRecordZone.ID) -> Void)?
    /// Told of each zone that is gone by a reset of encrypted data.
    @preconcurrency public var recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock:
        (@Sendable (CKRecordZone.ID) -> Void)?
    /// Told after each page but the last.
    @preconcurrency public var changeTokenUpdatedBlock: (@Sendable (CKServerChangeToken) -> Void)?
    /// Told at the end.
    @preconcurrency public var fetchDatabaseChangesResultBlock:
        (
            @Sendable (
                Result<(serverChangeToken: CKServerChangeToken, moreComing: Bool), any Error>
            ) -> Void
        )?
    /// The older form of the end.
    @preconcurrency public var fetchDatabaseChangesCompletionBlock:
        (@Sendable (CKServerChangeToken?, Bool, (any Error)?) -> Void)?

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
                    fetchDatabaseChangesCompletionBlock?(page.changeToken, page.moreComing, nil)
                    return
                }
                changeTokenUpdatedBlock?(page.changeToken)
            }
        } catch {
            fetchDatabaseChangesResultBlock?(.failure(CKError(error)))
            fetchDatabaseChangesCompletionBlock?(token, false, CKError(error))
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

    /// The older name of `ZoneConfiguration`.
    public typealias ZoneOptions = ZoneConfiguration

    /// Where a zone's fetch has come to.
    public typealias ZoneResult = (
        serverChangeToken: CKServerChangeToken, clientChangeTokenData: Data?, moreComing: Bool
    )

    /// The zones to fetch.
    public var recordZoneIDs: [CKRecordZone.ID]?
    /// How each is fetched; the server's page, from the beginning, unless said otherwise.
    public var configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]?
    /// Whether the operation goes on until there is nothing more.
    public var fetchAllChanges = true

    /// Told of each record that was made or changed.
    @preconcurrency public var recordWasChangedBlock:
        (@Sendable (CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// Told of each record that is gone, and its type.
    @preconcurrency public var recordWithIDWasDeletedBlock:
        (@Sendable (CKRecord.ID, CKRecord.RecordType) -> Void)?
    /// Told after each page of a zone but its last.
    @preconcurrency public var recordZoneChangeTokensUpdatedBlock:
        (@Sendable (CKRecordZone.ID, CKServerChangeToken?, Data?) -> Void)?
    /// Told once for each zone.
    @preconcurrency public var recordZoneFetchResultBlock:
        (@Sendable (CKRecordZone.ID, Result<ZoneResult, any Error>) -> Void)?
    /// The older form of `recordWasChangedBlock`: records that could be read.
    @preconcurrency public var recordChangedBlock: (@Sendable (CKRecord) -> Void)?
    /// The older form of `recordZoneFetchResultBlock`.
    @preconcurrency public var recordZoneFetchCompletionBlock:
        (
            @Sendable (CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void
        )?
    /// The older form of the end.
    @preconcurrency public var fetchRecordZoneChangesCompletionBlock:
        (@Sendable ((any Error)?) -> Void)?
    /// Told at the end: fails when no zone can be fetched.
    @preconcurrency public var fetchRecordZoneChangesResultBlock:
        (@Sendable (Result<Void, any Error>) -> Void)?

    /// Takes where to begin, and what of.
    public init(
        recordZoneIDs: [CKRecordZone.ID]? = nil,
        configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]? = nil
    ) {
        self.recordZoneIDs = recordZoneIDs
        self.configurationsByRecordZoneID = configurationsByRecordZoneID
    }

    /// The older form: takes where to begin, and what of.
    public convenience init(
        recordZoneIDs: [CKRecordZone.ID], optionsByRecordZoneID: [CKRecordZone.ID: ZoneOptions]?
    ) {
        self.init(
            recordZoneIDs: recordZoneIDs, configurationsByRecordZoneID: optionsByRecordZoneID)
    }

    /// The older name of `configurationsByRecordZoneID`.
    public var optionsByRecordZoneID: [CKRecordZone.ID: ZoneOptions]? {
        get { configurationsByRecordZoneID }
        set { configurationsByRecordZoneID = newValue }
    }

    override func run() async {
        var failure: CKError?
        var failures = ItemFailures()
        for zone in recordZoneIDs ?? [] {
            do {
                let done = try await fetch(zone)
                recordZoneFetchResultBlock?(zone, .success(done))
                recordZoneFetchCompletionBlock?(
                    zone, done.serverChangeToken, done.clientChangeTokenData, done.moreComing, nil)
            } catch {
                let error = CKError(error)
                let result = Result<ZoneResult, any Error>.failure(error)
                failures.note(zone, result)
                recordZoneFetchResultBlock?(zone, result)
                recordZoneFetchCompletionBlock?(zone, nil, nil, false, error)
                if error.concernsAllZones {
                    failure = error
                    break
                }
            }
        }
        fetchRecordZoneChangesResultBlock?(failure.map { .failure($0) } ?? .success(()))
        fetchRecordZoneChangesCompletionBlock?(failure ?? failures.partialFailure)
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
                let result = await database.completed(.success(record))
                recordWasChangedBlock?(record.recordID, result)
                if case .success = result { recordChangedBlock?(record) }
            }
            for deletion in page.deletions {
                recordWithIDWasDeletedBlock?(deletion.recordID, deletion.recordType)
            }
            token = page.token
            guard page.moreComing, fetchAllChanges else {
                return (page.token, page.clientData, page.moreComing)
            }
            recordZoneChangeTokensUpdatedBlock?(zone, page.token, page.clientData)
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
