import CloudDatabase
import CloudModel
import Cryptography
import Dispatch
import JSON
import Storage

/// What an operator gets of records.
package struct RecordsPage: Sendable {
    /// As `records/lookup` answers them, item errors too.
    package let records: [[UInt8]]
    /// How many of them are item errors.
    package let failed: Int
    /// How many were left out, as they are not what was written.
    package let damaged: Int
    /// Where the next page begins; nil at the end.
    package let next: ListCursor?

    init(_ records: [[UInt8]], failed: Int = 0, damaged: Int = 0, next: ListCursor? = nil) {
        self.records = records
        self.failed = failed
        self.damaged = damaged
        self.next = next
    }
}

/// Lists the zones of a database, as `zones/list` answers them.
///
/// Refusals: as `ListRecords`.
package struct ListDatabaseZones: OperatedReading {
    package let target: OperatedDatabase

    package init(in target: OperatedDatabase) { self.target = target }

    package var name: String { "zone list" }

    package func run(in data: any ServerData, by actor: Operator) throws -> [[UInt8]] {
        let opened = try target.opened(in: data)
        return try RecordsRefusal.of {
            try opened.database.storage.read { snapshot in
                var writer = JSONWriter(reserving: 1_024)
                writer.raw("[")
                try ListZones(
                    opened.database, key: HMACSHA256(key: opened.tokenKey), snapshot: snapshot
                ).appendAll(to: &writer)
                writer.raw("]")
                return try JSONDocument(parsing: writer.bytes).root.elements.map { element in
                    element.withRawBytes { [UInt8]($0) }
                }
            }
        }
    }
}

/// Lists the records of a zone, those that changed last first; no index is needed.
///
/// Refusals: `RecordsRefusal`, `UnusableCursor`; as `OperatedDatabase.opened`.
package struct ListRecords: OperatedReading {
    private static let cursorName = "records"

    package let target: OperatedDatabase
    private let type: String?
    private let request: ListRequest

    package init(in target: OperatedDatabase, type: String? = nil, _ request: ListRequest) {
        self.target = target
        self.type = type
        self.request = request
    }

    package var name: String { "record list" }

    package func run(in data: any ServerData, by actor: Operator) throws -> RecordsPage {
        let before = try request.after.map { cursor in
            guard let position = Int64(try cursor.fields(of: Self.cursorName, count: 1)[0]),
                position > 0
            else { throw UnusableCursor() }
            return position
        }
        let opened = try target.opened(in: data)
        let type = try type.map { try RecordTypeName(operatorGives: $0) }
        let page = try RecordsRefusal.of {
            try BrowseRecords(opened.zone, of: opened.database, type: type, prefix: request.prefix)
                .page(before: before, limit: request.limit)
        }
        return RecordsPage(
            page.records, damaged: page.damaged,
            next: page.next.map { ListCursor(list: Self.cursorName, fields: ["\($0)"]) })
    }
}

/// Looks records up by their names.
///
/// Refusals: as `ListRecords`.
package struct GetRecords: OperatedReading {
    package let target: OperatedDatabase
    private let names: [String]

    package init(_ names: [String], in target: OperatedDatabase) {
        self.target = target
        self.names = names
    }

    package var name: String { "record get" }

    package func run(in data: any ServerData, by actor: Operator) throws -> RecordsPage {
        let opened = try target.opened(in: data)
        return try RecordsRefusal.of {
            try opened.database.storage.read { snapshot in
                let lookup = try LookupRecords(
                    in: opened.zone, of: opened.database, snapshot: snapshot)
                var failed = 0
                let records = zip(names, try lookup.bodies(named: names)).map { name, found in
                    switch found {
                    case .success(let body): return body
                    case .failure(let fault):
                        failed += 1
                        var writer = JSONWriter()
                        fault.append(record: name, to: &writer)
                        return writer.bytes
                    }
                }
                return RecordsPage(records, failed: failed)
            }
        }
    }
}

/// Finds records by what is in them, with filters and sorts as people write them (`FilterLanguage`).
///
/// Refusals: as `ListRecords`; also what the schema does not let be asked.
package struct FindRecords: OperatedReading {
    package let target: OperatedDatabase
    private let type: String
    private let filters: [String]
    private let sorts: [String]
    private let request: ListRequest

    package init(
        of type: String, in target: OperatedDatabase, filters: [String] = [], sorts: [String] = [],
        _ request: ListRequest
    ) {
        self.target = target
        self.type = type
        self.filters = filters
        self.sorts = sorts
        self.request = request
    }

    package var name: String { "record query" }

    package func run(in data: any ServerData, by actor: Operator) throws -> RecordsPage {
        let opened = try target.opened(in: data)
        return try RecordsRefusal.of {
            let query = RecordQuery(
                type: try RecordTypeName(operatorGives: type),
                filters: try filters.map { try FilterLanguage.filter($0) },
                sorts: try sorts.map { try FilterLanguage.sort($0) })
            let page = QueryRequest(
                query: try QueryCheck.admit(
                    query, to: opened.database.storage.schema, in: opened.database),
                zone: opened.zone, continuationMarker: request.after?.text,
                resultsLimit: request.limit)
            return try answer(
                QueryRecords(page, of: opened.database, key: HMACSHA256(key: opened.tokenKey)),
                opened)
        }
    }

    /// One page; waits for an index that the query needs, for a while.
    private func answer(
        _ query: QueryRecords, _ opened: OperatedDatabase.Opened
    ) throws -> RecordsPage {
        let notices = opened.database.storage.notices
        let deadline = DispatchTime.now() + .seconds(Self.indexSecondsMax)
        while true {
            let mark = notices.mark
            var writer = JSONWriter(reserving: 65_536)
            writer.raw("[")
            do {
                let end = try query.append(to: &writer)
                writer.raw("]")
                return RecordsPage(
                    try Self.records(writer.bytes), next: end.marker.map { ListCursor($0) })
            } catch let unprepared as QueryUnprepared {
                guard let fault = try query.prepare(unprepared) else { continue }
                let moved = DispatchSemaphore(value: 0)
                let watch = notices.watch([.indexes], since: mark)
                watch.whenMoved { _ in moved.signal() }
                guard moved.wait(timeout: deadline) == .success else {
                    watch.end()
                    throw fault
                }
            }
        }
    }

    private static let indexSecondsMax = 30

    private static func records(_ array: [UInt8]) throws -> [[UInt8]] {
        try JSONDocument(parsing: array).root.elements.map { element in
            element.withRawBytes { [UInt8]($0) }
        }
    }
}

extension RecordTypeName {
    init(operatorGives text: String) throws(RecordsRefusal) {
        guard let type = RecordTypeName(text) else {
            throw RecordsRefusal(
                "'\(Fault.shown(text))' is no record type: a letter, then letters, digits and _")
        }
        self = type
    }
}
