import CloudModel
import SQLite
import SQLiteStorage
import Storage
import StorageConformance
import Testing

/// How names lead to records where the file is damaged, and by which key.
@Suite("Names lead to records")
final class NameTests {
    private let location: SQLiteLocation
    private let store: any Store

    init() throws {
        location = try SQLiteLocation()
        store = try location.openStore()
    }

    deinit { location.remove() }

    private func execute(_ sql: String) throws {
        try Connection(path: location.path, mode: .readWrite).execute(sql)
    }

    private func makeZone() throws -> StoredZone {
        let user = try #require(UserRecordName("_" + String(repeating: "a", count: 32)))
        let name = try #require(ZoneName("Shelf"))
        let type = try #require(RecordTypeName("Note"))
        return try store.writeAndWait { transaction in
            var schema = try transaction.schema
            schema.types[type] = Schema.RecordType()
            try transaction.replaceSchema(by: schema, who: "test", difference: ["+ type Note"])
            return try transaction.makeZone(named: name, ofOwnerNamed: user)
        }
    }

    private func save(_ names: [String], in zone: StoredZone) throws {
        let recordNames = try names.map { try #require(RecordName($0)) }
        let note = try #require(RecordTypeName("Note"))
        try store.writeAndWait { transaction in
            let type = try #require(try transaction.schema.types[note]).number
            for name in recordNames {
                try #require(try transaction.head(of: name, in: zone.number) == nil)
                _ = try transaction.save(
                    NewVersion(
                        zone: zone, name: name, position: try transaction.takePosition(),
                        previous: nil, previousBytes: 0, previousIsAlive: false, type: type,
                        flags: [],
                        body: Array("{}".utf8)))
            }
        }
    }

    @Test(
        "The check tells of names that lead nowhere or astray, and of records that share one"
    )
    func damage() throws {
        let zone = try makeZone()
        try save(["a", "b", "c", "d"], in: zone)
        #expect(try location.problems() == [])
        func expect(_ words: String, after sql: String, undo: String) throws {
            try execute(sql)
            let problems = try location.problems()
            #expect(problems.contains { $0.hasPrefix(words) }, "\(problems)")
            try execute(undo)
            #expect(try location.problems() == [])
        }
        try expect(
            "records that their names do not lead to",
            after: "UPDATE progress SET names_through = 3",
            undo: "UPDATE progress SET names_through = 0")
        try expect(
            "names that lead to no record of that name",
            after: "INSERT INTO names VALUES (5, 1)", undo: "DELETE FROM names")
        try expect(
            "records that share their name with another",
            after: "INSERT INTO heads SELECT 99, zone, name, 99 FROM heads WHERE name = 'a'",
            undo: "DELETE FROM heads WHERE id = 99")
    }

    @Test("The check finds references without their records")
    func references() throws {
        let zone = try makeZone()
        try save(["source", "target"], in: zone)
        func link(to name: String) throws {
            let (source, target) = (
                try #require(RecordName("source")), try #require(RecordName(name))
            )
            try store.writeAndWait { transaction in
                let head = try #require(try transaction.head(of: source, in: zone.number))
                let link = Link(targetZone: zone.number, target: target, kind: .validate)
                let type = try #require(transaction.schema.types.values.first).number
                var version = NewVersion(
                    zone: zone, name: source, position: try transaction.takePosition(),
                    previous: head, previousBytes: 2, previousIsAlive: true, type: type,
                    flags: .hasLinks, body: Array("{}".utf8))
                version.links = [link]
                _ = try transaction.save(version)
            }
        }
        try link(to: "target")
        #expect(try location.problems() == [])
        try link(to: "missing")
        #expect(
            try location.problems() == ["references that must lead to a record and do not: 1"])
    }

    @Test("A store that takes another's place knows names by another key")
    func keys() throws {
        let next = try location.makeFolder("next") + "/store.sqlite"
        location.close(store)
        try SQLiteStore.makeSuccessor(
            at: next, of: location.path,
            StoreBeginning(schema: Schema(), moment: 1, who: "test", difference: []),
            random: { [UInt8](repeating: 7, count: $0) })
        let options = SQLiteStore.Options(
            clock: TestClock().clock, random: { [UInt8](repeating: 9, count: $0) })
        try SQLiteStore(path: next, options: options) { _ in }.close()
        let key = "SELECT hex(value) FROM properties WHERE name = 'name_hash_key'"
        let keys = try [location.path, next].map { path in
            try Connection(path: path, mode: .readOnly).snapshot { connection in
                let row = try connection.prepare(key)
                defer { row.reset() }
                return try #require(try row.step() ? row.string(0) : nil)
            }
        }
        #expect(keys[1] == String(repeating: "07", count: 16) && keys[0] != keys[1])
    }
}
