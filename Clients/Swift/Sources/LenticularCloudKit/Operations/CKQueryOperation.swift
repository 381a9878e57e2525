import Foundation

/// Finds records, a page at a time.
public final class CKQueryOperation: CKDatabaseOperation, @unchecked Sendable {
    // Unchecked: as its parent.

    /// Lets the server decide how many results a page has.
    public static let maximumResults = 0

    /// Where a query's next page begins, and what of the query its pages must have in common.
    public final class Cursor: NSObject, NSCopying, @unchecked Sendable {
        // Unchecked: nothing of it changes.
        let marker: String
        let query: CKQuery
        let zone: CKRecordZone.ID?

        init(marker: String, query: CKQuery, zone: CKRecordZone.ID?) {
            self.marker = marker
            self.query = query
            self.zone = zone
        }

        public func copy(with zone: NSZone? = nil) -> Any { self }
    }

    public var query: CKQuery?
    public var cursor: Cursor?
    public var zoneID: CKRecordZone.ID?
    public var resultsLimit = CKQueryOperation.maximumResults
    public var desiredKeys: [CKRecord.FieldKey]?

    public var recordMatchedBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    public var queryResultBlock: ((Result<Cursor?, any Error>) -> Void)?
    /// The older form.
    public var recordFetchedBlock: ((CKRecord) -> Void)?
    public var queryCompletionBlock: ((Cursor?, (any Error)?) -> Void)?

    public init(query: CKQuery) { self.query = query }

    public init(cursor: Cursor) { self.cursor = cursor }

    public override init() {}

    override func run() async {
        do {
            let page = try await page()
            for (id, result) in page.matchResults {
                recordMatchedBlock?(id, result)
                if case .success(let record) = result { recordFetchedBlock?(record) }
            }
            queryResultBlock?(.success(page.queryCursor))
            queryCompletionBlock?(page.queryCursor, nil)
        } catch {
            queryResultBlock?(.failure(CKError(error)))
            queryCompletionBlock?(nil, CKError(error))
        }
    }

    private func page() async throws -> CKDatabase.MatchResults {
        let database = try requiredDatabase()
        if let cursor {
            return try await database.records(
                continuingMatchFrom: cursor, desiredKeys: desiredKeys, resultsLimit: resultsLimit)
        }
        guard let query else {
            throw CKError(.invalidArguments, "the operation has neither query nor cursor")
        }
        return try await database.records(
            matching: query, inZoneWith: zoneID, desiredKeys: desiredKeys,
            resultsLimit: resultsLimit)
    }
}
