import Foundation

/// Fetches records by their IDs.
public final class CKFetchRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    // Unchecked: as its parent.

    /// The records to fetch.
    public var recordIDs: [CKRecord.ID]?
    /// The fields to fetch; nil for all.
    public var desiredKeys: [CKRecord.FieldKey]?

    /// Told of each record.
    @preconcurrency public var perRecordResultBlock:
        (@Sendable (CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// Told when a record has come: 1.
    @preconcurrency public var perRecordProgressBlock: (@Sendable (CKRecord.ID, Double) -> Void)?
    /// Told at the end: fails only when nothing can be said of any record.
    @preconcurrency public var fetchRecordsResultBlock:
        (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form: failures of items come here, too, as one partial failure.
    @preconcurrency public var perRecordCompletionBlock:
        (@Sendable (CKRecord?, CKRecord.ID?, (any Error)?) -> Void)?
    /// The older form of the end.
    @preconcurrency public var fetchRecordsCompletionBlock:
        (@Sendable ([CKRecord.ID: CKRecord]?, (any Error)?) -> Void)?

    /// Takes the records to fetch.
    public init(recordIDs: [CKRecord.ID]) { self.recordIDs = recordIDs }

    public override init() {}

    /// Fetches the record that stands for the signed-in user.
    public static func fetchCurrentUserRecordOperation() -> CKFetchRecordsOperation {
        let operation = CKFetchRecordsOperation()
        operation.isAboutCaller = true
        return operation
    }

    private var isAboutCaller = false

    override var longLivedInput: LongLivedInput? {
        isAboutCaller
            ? nil : LongLivedInput(.fetchRecords, database, objects: ["ids": recordIDs ?? []])
    }

    override func run() async {
        do {
            let ids = try await ids()
            let found = try await requiredDatabase().records(for: ids, desiredKeys: desiredKeys)
            tell(ids, found)
        } catch {
            fetchRecordsResultBlock?(.failure(CKError(error)))
            fetchRecordsCompletionBlock?(nil, CKError(error))
        }
    }

    private func ids() async throws -> [CKRecord.ID] {
        guard isAboutCaller else { return recordIDs ?? [] }
        let database = try requiredDatabase()
        do {
            return [
                CKRecord.ID(recordName: try await database.caller.name(by: database.connection))
            ]
        } catch {
            throw CKError(error)
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
