import CloudModel
import IndexedQueries
import SQLite
import Seeding
import Storage
import StorageConformance
import Testing

@testable import SQLiteStorage

/// How the entries of an index of values come into order, beside writes, reads and crashes.
@Suite("Values of indexes")
final class IndexValueTests {
    private let location: SQLiteLocation
    private var store: any Store
    private var random = SeededRandom("values of indexes")
    /// What the index is to say of each record.
    private var values: [Int: Int] = [:]
    private var made = 0

    init() throws {
        location = try SQLiteLocation()
        store = try location.openStore()
    }

    deinit { location.remove() }

    private static let field = "size"

    private func number(_ sql: String) throws -> Int64 {
        try Connection(path: location.path, mode: .readOnly).snapshot { connection in
            let statement = try connection.prepare(sql)
            defer { statement.reset() }
            return try statement.step() ? statement.int64(0) : 0
        }
    }

    private func type() throws -> Int64 {
        let note = try #require(RecordTypeName("Note"))
        return try #require(store.schema.types[note]).number
    }

    private func makeZone() throws -> StoredZone {
        let user = try #require(UserRecordName("_" + String(repeating: "a", count: 32)))
        let name = try #require(ZoneName("Shelf"))
        let note = try #require(RecordTypeName("Note"))
        return try store.writeAndWait { transaction in
            var schema = try transaction.schema
            schema.types[note] = Schema.RecordType()
            try transaction.replaceSchema(by: schema, who: "test", difference: ["+ type Note"])
            return try transaction.makeZone(named: name, ofOwnerNamed: user)
        }
    }

    private static func body(_ value: Int) -> [UInt8] {
        Array("{\"fields\":{\"size\":{\"value\":\(value),\"type\":\"INT64\"}}}".utf8)
    }

    /// Gives records new values, or makes them.
    private func save(_ numbers: some Sequence<Int>, in zone: StoredZone) throws {
        try write(
            numbers.map { ($0, Optional(Int.random(in: 0..<1_000_000, using: &random))) }, in: zone)
    }

    private func delete(_ numbers: some Sequence<Int>, in zone: StoredZone) throws {
        try write(numbers.map { ($0, nil) }, in: zone)
    }

    /// Writes records with values, nil for a deletion, so many at a time that nothing is left for later.
    private func write(_ new: [(Int, Int?)], in zone: StoredZone) throws {
        for start in stride(from: 0, to: new.count, by: 500) {
            try writeAtOnce(Array(new[start..<min(start + 500, new.count)]), in: zone)
        }
    }

    private func writeAtOnce(_ new: [(Int, Int?)], in zone: StoredZone) throws {
        let names = try new.map { try #require(RecordName("r\($0.0)")) }
        let previous = new.map { values[$0.0].map { Self.body($0).count } }
        let type = try type()
        try store.writeAndWait { transaction in
            for (index, name) in names.enumerated() {
                let body = new[index].1.map(Self.body)
                _ = try transaction.save(
                    NewVersion(
                        zone: zone, name: name, position: try transaction.takePosition(),
                        previous: try transaction.head(of: name, in: zone.number),
                        previousBytes: previous[index] ?? 0,
                        previousIsAlive: previous[index] != nil,
                        type: type, flags: body == nil ? [.tombstone] : [],
                        body: body ?? Array("\"\(name.text)\"".utf8)))
            }
        }
        for (number, value) in new { values[number] = value }
        made = max(made, (new.map(\.0).max() ?? -1) + 1)
    }

    /// Does a step of the work on indexes; whether there is more.
    private func step() throws -> Bool {
        try store.writeAndWait { transaction in
            guard let work = try transaction.take(.index) else { return false }
            guard try !transaction.maintain(.index, step: 500) else { return true }
            try transaction.finish(work)
            return false
        }
    }

    private func finish(stepsMax: Int) throws {
        var steps = 0
        while try step() {
            steps += 1
            try #require(steps < stepsMax, "the work does not end")
        }
    }

    private func prepare() throws -> Int64 {
        let need = IndexNeed(Self.field, .values)
        let type = try type()
        try store.writeAndWait { try $0.makeIndexes([need], ofType: type) }
        try finish(stepsMax: 1_000)
        let found = try store.read { try $0.indexReader.indexes(ofType: type) }
        return try #require(found.first { $0.need == need && $0.state == .whole }).number
    }

    /// Reads the index from end to end, page by page, in both directions.
    private func expectOrder(_ index: Int64, in zone: StoredZone) throws {
        let whole = IndexRange(index: index, zone: zone.number)
        let expected = values.values.sorted()
        try store.read { snapshot in
            for descending in [false, true] {
                var (range, found): (IndexRange, [Int]) = (whole, [])
                while true {
                    var rows: [IndexRow] = []
                    try snapshot.indexReader.append(
                        range, descending: descending, limit: 700, to: &rows)
                    for case .integer(let value) in rows.map(\.value) { found.append(Int(value)) }
                    guard rows.count == 700, let last = rows.last else { break }
                    let location = IndexPosition(last.value, last.record)
                    if descending { range.to = location } else { range.from = location }
                }
                #expect(found == (descending ? expected.reversed() : expected))
            }
            #expect(try snapshot.indexReader.count(whole, limit: .max) == expected.count)
        }
    }

    @Test("An index says the same while its entries are put in order, beside writes and a crash")
    func passes() throws {
        let zone = try makeZone()
        try save(0..<10, in: zone)
        let index = try prepare()
        for part in 0..<11 { try save(part * 1_000..<part * 1_000 + 1_000, in: zone) }
        #expect(try number("SELECT count(*) FROM index_values") == 0)
        var steps = 0
        while try step() {
            steps += 1
            try #require(steps < 200, "the work does not end")
            // Of both tables, and new ones.
            let numbers = Set((0..<40).map { _ in Int.random(in: 0..<made, using: &random) })
            try save(numbers.sorted() + (made..<made + 10), in: zone)
            try delete(Set((0..<5).map { _ in Int.random(in: 0..<made, using: &random) }), in: zone)
            if steps == 4 {
                store = try #require(try location.openAfterCrash())
                // What the crash has cut short waits until there is enough again.
                for _ in 0..<4 { try save(made..<made + 1_000, in: zone) }
            } else if steps % 10 == 0 {
                try expectOrder(index, in: zone)
                #expect(try location.problems() == [])
            }
        }
        #expect(steps > 10)
        #expect(try number("SELECT count(*) FROM index_values") > 5_000)
        #expect(try number("SELECT count(*) FROM work WHERE kind = 3") == 0)
        try expectOrder(index, in: zone)
        #expect(try location.problems() == [])
    }

    @Test("What one write saves, changes and deletes is in the index as the write leaves it")
    func together() throws {
        let zone = try makeZone()
        try save(0..<3, in: zone)
        let index = try prepare()
        let type = try type()
        // Neither as many as one statement takes, nor a multiple of it.
        let steps: [[(Int, Int?)]] = [
            (10..<21).map { ($0, $0) }, (10..<15).map { ($0, $0 + 100) },
            (18..<21).map { ($0, nil) }, (21..<24).map { ($0, $0) },
        ]
        let known = Dictionary(
            uniqueKeysWithValues: try (10..<24).map { ($0, try #require(RecordName("r\($0)"))) })
        try store.writeAndWait { transaction in
            for step in steps {
                _ = try transaction.save(
                    step.compactMap { number, value -> NewVersion? in
                        guard let name = known[number] else { return nil }
                        let previous = try transaction.head(of: name, in: zone.number)
                        return NewVersion(
                            zone: zone, name: name, position: try transaction.takePosition(),
                            previous: previous,
                            previousBytes: previous == nil ? 0 : Self.body(number).count,
                            previousIsAlive: previous != nil, type: type,
                            flags: value == nil ? [.tombstone] : [],
                            body: value.map(Self.body) ?? Array("\"\(name.text)\"".utf8))
                    })
            }
        }
        for (number, value) in steps.joined() { values[number] = value }
        try expectOrder(index, in: zone)
        #expect(try location.problems() == [])
    }

    @Test("An index over records that are there already comes into order while it is filled")
    func fills() throws {
        let zone = try makeZone()
        for part in 0..<14 { try save(part * 1_000..<part * 1_000 + 1_000, in: zone) }
        let index = try prepare()
        #expect(try number("SELECT count(*) FROM index_values") > 4_000)
        try expectOrder(index, in: zone)
        let type = try type()
        try store.writeAndWait { try $0.dropIndexes(ofType: type, fields: [Self.field]) }
        try finish(stepsMax: 1_000)
        for table in ["index_values", "new_index_values", "gone_index_values"] {
            #expect(try number("SELECT count(*) FROM \(table)") == 0)
        }
        #expect(try location.problems() == [])
    }

    /// A zone whose index has all its entries in order.
    private func ordered() throws -> (zone: StoredZone, index: Int64) {
        let zone = try makeZone()
        for part in 0..<13 { try save(part * 1_000..<part * 1_000 + 1_000, in: zone) }
        let index = try prepare()
        #expect(try number("SELECT count(*) FROM index_values") > 5_000)
        return (zone, index)
    }

    @Test("Entries that go wait, too: changes and deletes leave the index as it is until a pass")
    func goes() throws {
        let (zone, index) = try ordered()
        let whole = try number("SELECT count(*) FROM index_values")
        // What changes and changes back has never gone.
        let kept = values
        let numbers = 0..<3_000
        try save(numbers, in: zone)
        try expectOrder(index, in: zone)
        try write(numbers.map { ($0, kept[$0]) }, in: zone)
        #expect(try number("SELECT count(*) FROM gone_index_values") == 0)
        try delete(numbers, in: zone)
        #expect(try number("SELECT count(*) FROM index_values") == whole)
        #expect(try number("SELECT count(*) FROM gone_index_values") > 500)
        try expectOrder(index, in: zone)
        #expect(try location.problems() == [])
        store = try #require(try location.openAfterCrash())
        try expectOrder(index, in: zone)
        for part in 3..<10 { try save(part * 1_000..<part * 1_000 + 1_000, in: zone) }
        try finish(stepsMax: 200)
        #expect(try number("SELECT count(*) FROM gone_index_values") == 0)
        #expect(try number("SELECT count(*) FROM index_values") == 10_000)
        try expectOrder(index, in: zone)
        #expect(try location.problems() == [])
    }

    @Test("The entries of a zone that is deleted leave the index, and queued work sees to it")
    func purged() throws {
        let (zone, index) = try ordered()
        try store.writeAndWait { try $0.deleteZone(zone) }
        while try store.writeAndWait({ try $0.collect(olderThan: 0, limit: 500) }) {}
        values = [:]
        try expectOrder(index, in: zone)
        #expect(try location.problems() == [])
        #expect(try number("SELECT count(*) FROM work WHERE kind = 3") == 1)
        try finish(stepsMax: 200)
        #expect(try number("SELECT count(*) FROM index_values") == 0)
        #expect(try number("SELECT count(*) FROM gone_index_values") == 0)
        #expect(try location.problems() == [])
    }

    @Test("An index that is given up takes with it what had gone before")
    func givenUp() throws {
        let (zone, _) = try ordered()
        try delete(0..<2_000, in: zone)
        let type = try type()
        try store.writeAndWait { try $0.dropIndexes(ofType: type, fields: [Self.field]) }
        try finish(stepsMax: 1_000)
        for table in ["index_values", "new_index_values", "gone_index_values", "indexes"] {
            #expect(try number("SELECT count(*) FROM \(table)") == 0)
        }
        #expect(try location.problems() == [])
    }

    @Test("A step that is undone leaves every entry where it was")
    func undone() throws {
        struct Undone: Error {}
        let zone = try makeZone()
        try save(0..<10, in: zone)
        let index = try prepare()
        for part in 0..<11 { try save(part * 1_000..<part * 1_000 + 1_000, in: zone) }
        for _ in 0..<3 {
            #expect(throws: Undone.self) {
                try self.store.writeAndWait { transaction in
                    _ = try transaction.maintain(.index, step: 500)
                    throw Undone()
                }
            }
            try expectOrder(index, in: zone)
            #expect(try step())
            try expectOrder(index, in: zone)
        }
        try finish(stepsMax: 200)
        try expectOrder(index, in: zone)
        #expect(try location.problems() == [])
    }

    @Test("The check tells of an entry that is in two tables or in none, and of one wrongly gone")
    func damage() throws {
        let zone = try makeZone()
        try save(0..<10, in: zone)
        _ = try prepare()
        #expect(try location.problems() == [])
        let file = try Connection(path: location.path, mode: .readWrite)
        for (change, undo) in [
            (
                "INSERT INTO index_values SELECT * FROM new_index_values LIMIT 1",
                "DELETE FROM index_values"
            ),
            (
                "INSERT INTO gone_index_values SELECT * FROM new_index_values LIMIT 1",
                "DELETE FROM gone_index_values"
            ),
            (
                "INSERT INTO gone_index_values SELECT field, 1, -1, 1 FROM new_index_values LIMIT 1",
                "DELETE FROM gone_index_values"
            ),
            (
                """
                INSERT INTO index_values SELECT * FROM new_index_values;
                DELETE FROM new_index_values;
                INSERT INTO gone_index_values SELECT * FROM index_values LIMIT 1
                """, "DELETE FROM gone_index_values"
            ),
            ("DELETE FROM index_values WHERE record = 3", ""),
        ] {
            try file.execute(change)
            #expect(try location.problems().count == 1, "\(change)")
            try file.execute(undo)
            #expect(try location.problems().isEmpty == !undo.isEmpty, "\(change)")
        }
    }
}
