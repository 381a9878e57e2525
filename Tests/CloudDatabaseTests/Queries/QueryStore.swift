import CloudDatabase
import CloudModel
import Cryptography
import Dispatch
import Foundation
import IndexedQueries
import JSON
import Storage
import Synchronization

@testable import SQLiteStorage

/// A store of one user's records, saved and queried without a wire.
final class QueryStore {
    /// A field of a record to be saved, as its JSON and its type.
    struct Field {
        let json: String
        let type: FieldType

        static func int(_ value: Int64) -> Field {
            Field(json: "\(value)", type: FieldType(.int64))
        }

        static func double(_ value: Double) -> Field {
            Field(json: value.description, type: FieldType(.double))
        }

        static func text(_ value: String) -> Field {
            Field(json: quoted(value), type: FieldType(.string))
        }

        static func texts(_ values: [String]) -> Field {
            Field(
                json: "[\(values.map(quoted).joined(separator: ","))]",
                type: FieldType(.string, isList: true))
        }

        static func location(_ latitude: Double, _ longitude: Double) -> Field {
            Field(
                json: "{\"latitude\":\(latitude),\"longitude\":\(longitude)}",
                type: FieldType(.location))
        }

        private static func quoted(_ text: String) -> String {
            var writer = JSONWriter()
            writer.string(text)
            return String(decoding: writer.bytes, as: UTF8.self)
        }
    }

    typealias Fields = [String: Field]

    static let type = RecordTypeName("Note").required

    let folder: URL
    let path: String
    private(set) var store: SQLiteStore
    private var work: WorkRunner
    private let failures = WorkFailures()
    var limits = QueryStore.patientLimits
    let user = UserRecordName("_" + String(repeating: "a", count: 32)).required

    init() throws {
        folder = URL(filePath: FileManager.default.temporaryDirectory.path)
            .appending(path: "query-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appending(path: "store.sqlite").path
        (store, work) = try Self.open(path, failures)
    }

    deinit {
        work.stop()
        store.close()
        try? FileManager.default.removeItem(at: folder)
    }

    /// A query that a busy machine held up comes out as any other.
    private static var patientLimits: ServiceLimits {
        var limits = ServiceLimits()
        (limits.queryMillisecondsMax, limits.indexWaitMilliseconds) = (600_000, 600_000)
        (limits.writerMillisecondsMax, limits.decisionAttemptsMax) = (600_000, 1_000)
        return limits
    }

    /// What failed of queued work; its clock stands still, so that it is not tried again.
    private final class WorkFailures: Sendable {
        let first = Mutex<(any Error)?>(nil)
    }

    private static func open(
        _ path: String, _ failures: WorkFailures
    ) throws -> (SQLiteStore, WorkRunner) {
        let store = try SQLiteStore(
            path: path,
            options: SQLiteStore.Options(
                clock: Clock { 1_700_000_000_000 },
                random: { count in (0..<count).map { _ in .random(in: 0...255) } }),
            onIndeterminate: { _ in })
        var options = WorkRunner.Options()
        options.report = { _, error in failures.first.withLock { $0 = $0 ?? error } }
        let work = WorkRunner(store, options)
        work.begin()
        return (store, work)
    }

    /// Closes the file and opens it again, as a restart does.
    func reopen(_ change: () throws -> Void = {}) throws {
        work.stop()
        store.close()
        try change()
        (store, work) = try Self.open(path, failures)
    }

    var database: Database { database(until: nil) }

    func database(until stop: StopSignal?) -> Database {
        Database(
            scope: .private, environment: .development,
            caller: Caller(kind: .user, userRecordName: user), limits: limits, storage: store,
            stop: stop, identities: NoPeople(), random: .system)
    }

    /// What `check` finds in the file.
    func problems() throws -> [String] { try StoreCheck(path: path).problems() }

    // MARK: - Writing

    func save(_ records: [(name: String, fields: Fields)], in zone: ZoneID = .defaultZone) throws {
        var rest = records[...]
        while !rest.isEmpty {
            let batch = rest.prefix(limits.operationsPerRequestMax)
            rest = rest.dropFirst(batch.count)
            try modify(batch.map { Self.operation(.forceReplace, $0.name, $0.fields) }, zone)
        }
    }

    func save(_ name: String, _ fields: Fields, in zone: ZoneID = .defaultZone) throws {
        try save([(name, fields)], in: zone)
    }

    func delete(_ names: [String], in zone: ZoneID = .defaultZone) throws {
        try modify(names.map { Self.operation(.forceDelete, $0, [:]) }, zone)
    }

    func make(_ zone: ZoneID) throws { try zones(.create, zone) }

    func remove(_ zone: ZoneID) throws { try zones(.delete, zone) }

    /// Removes what deleted zones leave, by small steps.
    func collect() throws {
        while try store.writeAndWait({ try $0.collect(olderThan: 0, limit: 7) }) {}
    }

    private func zones(_ kind: ModifyZones.Operation.Kind, _ zone: ZoneID) throws {
        let use = try ModifyZones(
            [ModifyZones.Operation(kind: kind, zone: zone)], in: database, key: try key)
        let done = Arrival<[ModifyZones.Outcome]>()
        use.run { done.arrive($0) }
        for outcome in try done.wait() { _ = try outcome.get() }
    }

    private func modify(_ operations: [DecodedOperation], _ zone: ZoneID) throws {
        let use = try ModifyRecords(
            operations, in: zone, of: database, atomic: nil, device: "iCloud")
        let done = Arrival<[RecordOutcome]>()
        let work = LongWork(stop: StopSignal(), habits: DecisionHabits()) { body in
            DispatchQueue(label: "query store").async { body() }
        }
        use.run(beside: work) { done.arrive($0) }
        for outcome in try done.wait() {
            if case .failed(_, let fault) = outcome { throw fault }
        }
    }

    private static func operation(
        _ kind: RecordOperation.Kind, _ name: String, _ fields: Fields
    ) -> DecodedOperation {
        var encoded = EncodedFields()
        for (field, value) in fields.sorted(by: { $0.key < $1.key }) {
            if !encoded.bytes.isEmpty { encoded.bytes.append(UInt8(ascii: ",")) }
            let start = encoded.bytes.count
            encoded.bytes += Array(
                "\"\(field)\":{\"value\":\(value.json),\"type\":\"\(value.type.name)\"}".utf8)
            encoded.fields.append(
                EncodedFields.Field(
                    name: FieldName(field).required, type: value.type,
                    range: start..<encoded.bytes.count, references: []))
        }
        return .operation(
            RecordOperation(
                kind: kind, name: RecordName(name).required, type: type, changeTag: nil,
                fields: encoded, parent: .absent, rendering: .whole))
    }

    // MARK: - Reading

    private var key: HMACSHA256 {
        get throws { HMACSHA256(key: try store.identity.tokenKey) }
    }

    /// One page: the names of its records and the marker of the next one.
    func page(
        _ query: RecordQuery, in zone: ZoneID? = .defaultZone, limit: Int = 200,
        marker: String? = nil, access: QueryAccess = .all
    ) throws -> (names: [String], marker: String?) {
        let use = try QueryRecords(
            QueryRequest(
                query: query, zone: zone, continuationMarker: marker, resultsLimit: limit,
                access: access), of: database, key: try key)
        var writer = JSONWriter()
        writer.raw("[")
        let marker = try append(use, to: &writer)
        writer.raw("]")
        let answer = try JSONDocument(parsing: writer.bytes).root
        return (answer.elements.compactMap { $0["recordName"]?.string }, marker)
    }

    /// A page as soon as its indexes are whole.
    private func append(_ use: QueryRecords, to writer: inout JSONWriter) throws -> String? {
        while true {
            do {
                return try use.append(to: &writer).marker
            } catch let missing as QueryUnprepared {
                if let failure = failures.first.withLock({ $0 }) { throw failure }
                // Entries that come late are there for a look of its own.
                while try use.prepare(missing) != nil, !missing.isLate,
                    failures.first.withLock({ $0 }) == nil
                { sched_yield() }
                sched_yield()
            }
        }
    }

    /// Asks for what a query needs first; how far that is, nil once it can be answered.
    func prepare(_ query: RecordQuery) throws -> Int? {
        try store.prepare(
            StoreQuery(
                query, type: typeNumber, zones: [], sight: .all, words: [:], start: nil, limit: 1,
                bytesMax: 1,
                bounds: QueryBounds(recordsMax: 1, millisecondsMax: 1, sharedRecordsMax: 1)))
    }

    /// The names of all pages.
    func names(
        _ query: RecordQuery, in zone: ZoneID? = .defaultZone, limit: Int = 200,
        access: QueryAccess = .all
    ) throws -> [String] {
        var names: [String] = []
        var marker: String?
        repeat {
            let page = try page(query, in: zone, limit: limit, marker: marker, access: access)
            names += page.names
            marker = page.marker
        } while marker != nil
        return names
    }

    /// How far the indexes of the type are, by field and kind.
    func indexes() throws -> [IndexNeed: StoredIndex.State] {
        try store.read { snapshot in
            let type = try snapshot.schema.number(of: Self.type) ?? 0
            let all = try (snapshot as? SQLiteSnapshot)?.storedIndexes.indexes(ofType: type) ?? []
            return Dictionary(uniqueKeysWithValues: all.map { ($0.need, $0.state) })
        }
    }

    var typeNumber: Int64 { get throws { try store.schema.types[Self.type]?.number ?? 0 } }
}

/// These tests share nothing with anybody.
private struct NoPeople: Identities {
    func person(named name: UserRecordName) throws -> Person? { nil }
}

/// A result that comes from another thread.
final class Arrival<Value: Sendable>: Sendable {
    private let done = DispatchSemaphore(value: 0)
    private let result = Mutex<Result<Value, any Error>?>(nil)

    func arrive(_ value: Result<Value, any Error>) {
        result.withLock { $0 = value }
        done.signal()
    }

    /// - Throws: what came instead of a value; `NothingCame` when nothing has come after a minute.
    func wait() throws -> Value {
        guard done.wait(timeout: .now() + 60) == .success, let result = result.withLock({ $0 })
        else { throw NothingCame() }
        return try result.get()
    }

    struct NothingCame: Error {}
}

extension Optional {
    /// What is there; a test that finds nothing here is wrong itself.
    var required: Wrapped {
        guard let self else { preconditionFailure("a name of the test is none") }
        return self
    }
}

extension RecordQuery {
    /// A query of the tests' one type.
    static func notes(
        _ filters: [Filter] = [], by sorts: [Sort] = []
    ) -> RecordQuery {
        RecordQuery(type: QueryStore.type, filters: filters, sorts: sorts)
    }
}

extension RecordQuery.Filter {
    static func field(
        _ name: String, _ comparator: RecordQuery.Comparator, _ value: RecordQuery.Value,
        distance: Double? = nil
    ) -> RecordQuery.Filter {
        RecordQuery.Filter(
            subject: .field(FieldName(name).required), comparator: comparator,
            type: FieldType(.string), value: value, distance: distance)
    }
}

extension RecordQuery.Sort {
    static func field(
        _ name: String, ascending: Bool = true, from location: RecordQuery.Coordinate? = nil
    ) -> RecordQuery.Sort {
        RecordQuery.Sort(
            subject: .field(FieldName(name).required), ascending: ascending, relativeTo: location)
    }
}
