import Foundation

/// Saves and deletes records.
public final class CKModifyRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    // Unchecked: as its parent.

    /// Which versions of a record a save goes over.
    public enum RecordSavePolicy: Int, Sendable {
        /// Only the version that was fetched.
        case ifServerRecordUnchanged = 0
        /// Any: the keys that were set take the place of the server's.
        case changedKeys = 1
        /// Any: all keys of the record do; keys that only the server has stay.
        case allKeys = 2
    }

    /// Records to save.
    public var recordsToSave: [CKRecord]?
    /// Records to delete.
    public var recordIDsToDelete: [CKRecord.ID]?
    /// Which versions the saves go over.
    public var savePolicy = RecordSavePolicy.ifServerRecordUnchanged
    /// Whether what concerns one zone is done whole or not at all.
    public var isAtomic = true

    /// What the device leaves for itself: it comes back with the zone's feed, once that holds this change.
    public var clientChangeTokenData: Data?

    /// Told of each record that was to be saved.
    @preconcurrency public var perRecordSaveBlock:
        (@Sendable (CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// Told of each record that was to be deleted.
    @preconcurrency public var perRecordDeleteBlock:
        (@Sendable (CKRecord.ID, Result<Void, any Error>) -> Void)?
    /// Told when a record has been sent: 1.
    @preconcurrency public var perRecordProgressBlock: (@Sendable (CKRecord, Double) -> Void)?
    /// Told at the end: fails only when nothing can be said of any record.
    @preconcurrency public var modifyRecordsResultBlock:
        (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form: failures of items come here, too, as one partial failure.
    @preconcurrency public var perRecordCompletionBlock:
        (@Sendable (CKRecord, (any Error)?) -> Void)?
    /// The older form of the end.
    @preconcurrency public var modifyRecordsCompletionBlock:
        (@Sendable ([CKRecord]?, [CKRecord.ID]?, (any Error)?) -> Void)?

    /// Takes what to save and delete.
    public init(recordsToSave: [CKRecord]? = nil, recordIDsToDelete: [CKRecord.ID]? = nil) {
        self.recordsToSave = recordsToSave
        self.recordIDsToDelete = recordIDsToDelete
    }

    override var longLivedInput: LongLivedInput? {
        LongLivedInput(
            .modifyRecords, database,
            objects: ["records": recordsToSave ?? [], "ids": recordIDsToDelete ?? []],
            numbers: ["policy": savePolicy.rawValue, "atomic": isAtomic ? 1 : 0])
    }

    override func run() async {
        let records = recordsToSave ?? []
        let ids = recordIDsToDelete ?? []
        do {
            let done = try await requiredDatabase().modifyRecords(
                saving: records, deleting: ids,
                RecordBatch.Manner(
                    policy: savePolicy, isAtomic: isAtomic, clientData: clientChangeTokenData,
                    // A later run of the program knows its writes by it.
                    writeID: operationID))
            tell(records, ids, done.saveResults, done.deleteResults)
        } catch {
            modifyRecordsResultBlock?(.failure(CKError(error)))
            modifyRecordsCompletionBlock?(nil, nil, CKError(error))
        }
    }

    private func tell(
        _ records: [CKRecord], _ ids: [CKRecord.ID],
        _ saved: [CKRecord.ID: Result<CKRecord, any Error>],
        _ deleted: [CKRecord.ID: Result<Void, any Error>]
    ) {
        var failures = ItemFailures()
        for record in records {
            guard let result = saved[record.recordID] else { continue }
            if case .success = result { perRecordProgressBlock?(record, 1) }
            perRecordSaveBlock?(record.recordID, result)
            let error = failures.note(record.recordID, result)
            perRecordCompletionBlock?(record, error)
        }
        for id in ids {
            guard let result = deleted[id] else { continue }
            perRecordDeleteBlock?(id, result)
            failures.note(id, result)
        }
        modifyRecordsResultBlock?(.success(()))
        modifyRecordsCompletionBlock?(
            records.filter { failures.errors[$0.recordID] == nil },
            ids.filter { failures.errors[$0] == nil }, failures.partialFailure)
    }
}

/// What failed of an operation's items, for the older callbacks.
struct ItemFailures {
    private(set) var errors: [AnyHashable: any Error] = [:]

    /// - Returns: the item's error, if it failed.
    @discardableResult
    mutating func note<Value>(
        _ item: some Hashable, _ result: Result<Value, any Error>
    ) -> (any Error)? {
        guard case .failure(let error) = result else { return nil }
        errors[AnyHashable(item)] = error
        return error
    }

    var partialFailure: CKError? {
        guard !errors.isEmpty else { return nil }
        return CKError(
            .partialFailure, "\(errors.count) items failed",
            userInfo: [CKPartialErrorsByItemIDKey: errors])
    }
}
