import Foundation

/// Finds records, a page at a time.
public final class CKQueryOperation: CKDatabaseOperation, @unchecked Sendable {
    // Unchecked: as its parent.

    /// Lets the server decide how many results a page has.
    public static let maximumResults = 0

    /// Where a query's next page begins.
    public typealias Cursor = CKQueryCursor

    /// What to ask; or `cursor`.
    public var query: CKQuery?
    /// Where to go on.
    public var cursor: Cursor?
    /// The zone to ask; nil for all.
    public var zoneID: CKRecordZone.ID?
    /// How many results; 0 lets the server decide.
    public var resultsLimit = CKQueryOperation.maximumResults
    /// The fields to fetch; nil for all.
    public var desiredKeys: [CKRecord.FieldKey]?

    /// Told of each record that was found.
    @preconcurrency public var recordMatchedBlock:
        (@Sendable (CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// Told at the end, with where the next page begins; nil after the last.
    @preconcurrency public var queryResultBlock: (@Sendable (Result<Cursor?, any Error>) -> Void)?
    /// The older form.
    @preconcurrency public var recordFetchedBlock: (@Sendable (CKRecord) -> Void)?
    /// The older form of the end.
    @preconcurrency public var queryCompletionBlock: (@Sendable (Cursor?, (any Error)?) -> Void)?

    /// Asks from the beginning.
    public init(query: CKQuery) { self.query = query }

    /// Goes on where a page ended.
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

/// Where a query's next page begins, and what of the query its pages must have in common.
public final class CKQueryCursor: NSObject, NSSecureCoding, NSCopying, Sendable {
    let marker: String
    let query: CKQuery
    let zone: CKRecordZone.ID?

    init(marker: String, query: CKQuery, zone: CKRecordZone.ID?) {
        self.marker = marker
        self.query = query
        self.zone = zone
    }

    /// Itself: it does not change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// True: archives name their classes.
    public static var supportsSecureCoding: Bool { true }

    /// Writes it into an archive.
    public func encode(with coder: NSCoder) {
        coder.encode(marker as NSString, forKey: "CursorData")
        coder.encode(query, forKey: "Query")
        coder.encode(zone, forKey: "ZoneID")
    }

    /// Reads it from an archive; nil for anything else.
    public convenience init?(coder: NSCoder) {
        guard let marker = coder.object(NSString.self, "CursorData"),
            let query = coder.object(CKQuery.self, "Query")
        else { return nil }
        self.init(
            marker: String(marker), query: query,
            zone: coder.object(CKRecordZone.ID.self, "ZoneID"))
    }
}
