import Foundation

/// Fetches one page of what has changed in a zone: the older form of `CKFetchRecordZoneChangesOperation`.
public final class CKFetchRecordChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    // Unchecked: as its parent; `moreComing` is set before the last callback, and read from it.

    /// The zone.
    public var recordZoneID: CKRecordZone.ID?
    /// Where to begin; nil for the beginning.
    public var previousServerChangeToken: CKServerChangeToken?
    /// How many; 0 lets the server decide.
    public var resultsLimit = 0
    /// The fields to fetch; nil for all.
    public var desiredKeys: [CKRecord.FieldKey]?
    /// Whether there is more after this page; known once the operation has ended.
    public private(set) var moreComing = false

    /// Told of each record that was made or changed.
    @preconcurrency public var recordChangedBlock: (@Sendable (CKRecord) -> Void)?
    /// Told of each record that is gone.
    @preconcurrency public var recordWithIDWasDeletedBlock: (@Sendable (CKRecord.ID) -> Void)?
    /// Told at the end, with where the next page begins and what a device has left for itself.
    @preconcurrency public var fetchRecordChangesCompletionBlock:
        (@Sendable (CKServerChangeToken?, Data?, (any Error)?) -> Void)?

    /// Takes where to begin, and what of.
    public init(recordZoneID: CKRecordZone.ID, previousServerChangeToken: CKServerChangeToken?) {
        self.recordZoneID = recordZoneID
        self.previousServerChangeToken = previousServerChangeToken
    }

    public override init() {}

    override func run() async {
        do {
            guard let recordZoneID else {
                throw CKError(.invalidArguments, "the operation has no zone")
            }
            let database = try requiredDatabase()
            let page = try await database.zonePage(
                of: recordZoneID, since: previousServerChangeToken, desiredKeys: desiredKeys,
                resultsLimit: resultsLimit > 0 ? resultsLimit : nil)
            for record in page.records {
                let result = await database.completed(.success(record))
                if case .success = result { recordChangedBlock?(record) }
            }
            for deletion in page.deletions { recordWithIDWasDeletedBlock?(deletion.recordID) }
            moreComing = page.moreComing
            fetchRecordChangesCompletionBlock?(page.token, page.clientData, nil)
        } catch {
            fetchRecordChangesCompletionBlock?(nil, nil, CKError(error))
        }
    }
}
