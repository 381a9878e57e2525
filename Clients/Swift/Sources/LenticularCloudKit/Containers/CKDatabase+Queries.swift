import CloudKitWire
import Foundation

// Queries.
extension CKDatabase {
    /// A page of a query's results, and where the next begins.
    public typealias MatchResults = (
        matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
        queryCursor: CKQueryOperation.Cursor?
    )

    /// The first page of a query's results.
    ///
    /// - Parameters:
    ///   - zoneID: nil asks all zones of the database.
    ///   - desiredKeys: the fields to fetch; nil for all.
    ///   - resultsLimit: how many; 0 lets the server decide.
    /// - Throws: `CKError`, `invalidArguments` for what no server can answer or no index is there for.
    public func records(
        matching query: CKQuery, inZoneWith zoneID: CKRecordZone.ID? = nil,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults
    ) async throws -> MatchResults {
        try await page(of: query, in: zoneID, after: nil, desiredKeys, resultsLimit)
    }

    /// The page that follows one.
    ///
    /// - Throws: `CKError`, `invalidArguments` for a cursor that the server no longer knows.
    public func records(
        continuingMatchFrom cursor: CKQueryOperation.Cursor,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults
    ) async throws -> MatchResults {
        try await page(
            of: cursor.query, in: cursor.zone, after: cursor.marker, desiredKeys, resultsLimit)
    }

    private func page(
        of query: CKQuery, in zone: CKRecordZone.ID?, after marker: String?,
        _ desiredKeys: [CKRecord.FieldKey]?, _ limit: Int
    ) async throws -> MatchResults {
        let sorts = try query.sorts()
        guard let filters = try query.filters() else { return ([], nil) }
        let answer = try await call("records/query") { json in
            if let zone {
                json.zone(zone)
            } else if databaseScope == .private {
                json.key("zoneWide")
                json.bool(true)
            }
            if let marker { json.member("continuationMarker", marker) }
            json.desiredKeys(desiredKeys)
            json.resultsLimit(limit)
            json.key("query")
            try json.query(query.recordType, filters, sorts)
        }
        let reader = try await reader()
        var results: [(CKRecord.ID, Result<CKRecord, any Error>)] = []
        for item in answer["records"]?.elements ?? answer.elements {
            guard let record = reader.record(item) else { continue }
            results.append((record.recordID, await completed(.success(record))))
        }
        let next = answer["continuationMarker"]?.string.map {
            CKQueryOperation.Cursor(marker: $0, query: query, zone: zone)
        }
        return (results, next)
    }
}

extension JSONText {
    /// Writes a query as the protocol has it.
    mutating func query(
        _ type: String, _ filters: [CKQuery.Filter], _ sorts: [CKQuery.Sort]
    ) throws {
        try object { json in
            json.member("recordType", type)
            json.key("filterBy")
            try json.array { json in for filter in filters { try json.filter(filter) } }
            guard !sorts.isEmpty else { return }
            json.key("sortBy")
            try json.array { json in for sort in sorts { try json.sort(sort) } }
        }
    }

    private mutating func filter(_ filter: CKQuery.Filter) throws {
        try object { json in
            json.member("fieldName", SystemKey.wire(filter.key))
            json.member("comparator", filter.comparator.rawValue)
            json.key("fieldValue")
            try json.field(filter.value, in: .default)
            if let metres = filter.metres {
                json.key("distance")
                json.double(metres)
            }
        }
    }

    private mutating func sort(_ sort: CKQuery.Sort) throws {
        try object { json in
            json.member("fieldName", SystemKey.wire(sort.key))
            json.key("ascending")
            json.bool(sort.isAscending)
            if let place = sort.place {
                json.key("relativeLocation")
                try json.field(.location(place), in: .default)
            }
        }
    }
}

/// The names by which predicates and sorts ask for what the server keeps of every record.
enum SystemKey {
    private static let names: [String: CKRecord.FieldKey] = [
        "recordID": CKRecord.SystemFieldKey.recordID,
        "recordName": CKRecord.SystemFieldKey.recordID,
        "creationDate": CKRecord.SystemFieldKey.creationDate,
        "modificationDate": CKRecord.SystemFieldKey.modificationDate,
        "creatorUserRecordID": CKRecord.SystemFieldKey.creatorUserRecordID,
        "lastModifiedUserRecordID": CKRecord.SystemFieldKey.lastModifiedUserRecordID,
        "parent": CKRecord.SystemFieldKey.parent,
        "share": CKRecord.SystemFieldKey.share,
    ]

    /// The name as the protocol has it; that of any other field stays.
    static func wire(_ key: CKRecord.FieldKey) -> CKRecord.FieldKey { names[key] ?? key }
}
