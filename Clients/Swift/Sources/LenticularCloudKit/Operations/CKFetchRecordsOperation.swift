import Foundation

/// Fetches records by their IDs.
public final class CKFetchRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    // Unchecked: as its parent.

    /// The records to fetch.
    public var recordIDs: [CKRecord.ID]?
    /// The fields to fetch; nil for all.
    public var desiredKeys: [CKRecord.FieldKey]?

    /// Told of each record.
    public var perRecordResultBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// Told when a record has come: 1.
    public var perRecordProgressBlock: ((CKRecord.ID, Double) -> Void)?
    /// Told at the end: fails only when nothing can be said of any record.
    public var fetchRecordsResultBlock: ((Result<Void, any Error>) -> Void)?
    /// The older form: failures of items come here, too, as one partial failure.
    public var perRecordCompletionBlock: ((CKRecord?, CKRecord.ID?, (any Error)?) -> Void)?
    /// The older form of the end.
    public var fetchRecordsCompletionBlock: (([CKRecord.ID: CKRecord]?, (any Error)?) -> Void)?

    /// Takes the records to fetch.
    public init(recordIDs: [CKRecord.ID]) { self.recordIDs = recordIDs }

    public override init() {}

    override func run() async {
        let ids = recordIDs ?? []
        do {
            let found = try await requiredDatabase().records(for: ids, desiredKeys: desiredKeys)
            tell(ids, found)
        } catch {
            fetchRecordsResultBlock?(.failure(CKError(error)))
            fetchRecordsCompletionBlock?(nil, CKError(error))
        }
    }

    private func tell(
        _ ids: [CKRecord.ID], _ found: [CKRecord.ID: Result<CKRecord, any Error>]
    ) {
        var failures = ItemFailures()
        var records: [CKRecord.ID: CKRecord] = [:]
        for id in ids {
            guard let result = found[id] else { continue }
            let record = try? result.get()
            records[id] = record
            if record != nil { perRecordProgressBlock?(id, 1) }
            perRecordResultBlock?(id, result)
            let error = failures.note(id, result)
            perRecordCompletionBlock?(record, id, error)
        }
        fetchRecordsResultBlock?(.success(()))
        fetchRecordsCompletionBlock?(records, failures.partialFailure)
    }
}
