import CloudModel
import SQLite
import SQLiteStorage
import Storage
import StorageConformance
import Testing

/// How names lead to records: from stores of before hashes, and where the file is damaged.
@Suite("Names lead to records")
final class NameTests {
    private let place: SQLitePlace
    private var store: any Store
    private var saved: Set<String> = []

    init() throws {
        place = try SQLitePlace()
        store = try place.openStore()
    }

    deinit { place.remove() }

    private func execute(_ sql: String) throws {
        try Connection(path: place.path, mode: .readWrite).execute(sql)
    }

    private func number(_ sql: String) throws -> Int64 {
        try Connection(path: place.path, mode: .readOnly).snapshot { connection in
            let statement = try connection.prepare(sql)
            defer { statement.reset() }
            return try statement.step() ? statement.int64(0) : 0
        }
    }

    private func makeZone() throws -> StoredZone {
        let user = try #require(UserRecordName("_" + String(repeating: "a", count: 32)))
        let name = try #require(ZoneName("Shelf"))
        let type = try #require(RecordTypeName("Note"))
        return try store.writeAndWait { transaction in
            var schema = try transaction.schema
            schema.types[type] = Schema.RecordType()
            try transaction.replaceSchema(by: schema, who: "test", difference: ["+ type Note"])
            let owner = try transaction.makeOwner(user, account: nil)
            return try transaction.makeZone(named: name, of: owner.number)
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
                        former: nil, formerBytes: 0, formerIsAlive: false, type: type, flags: [],
                        body: Array("{}".utf8)))
            }
        }
        saved.formUnion(names)
    }

    /// Puts the store back to how a version before hashes has left it, just migrated.
    private func makeFormer() throws {
        place.close(store)
        try execute(
            """
            CREATE UNIQUE INDEX heads_by_name ON heads (zone, name);
            DELETE FROM names; DELETE FROM properties WHERE name = 'name_hash_key';
            UPDATE progress SET names_through = 0, names_by_text = 1;
            DELETE FROM work WHERE kind = 7;
            INSERT INTO work (kind, subject, item, enqueued_at) VALUES (7, 0, 0, 0);
            """)
        store = try place.openStore()
    }

    private func step(_ namesMax: Int) throws -> Bool {
        try store.writeAndWait { transaction in
            var turn = WorkTurn(WorkHolder(1), [.names])
            guard let work = try transaction.takeWork(&turn) else { return false }
            guard
                let cursor = try transaction.workOnNames(after: work.cursor, namesMax: namesMax)
            else {
                try transaction.finish(work)
                return false
            }
            try transaction.advance(work, to: cursor)
            return true
        }
    }

    private func expectAll(in zone: StoredZone) throws {
        let names = saved.sorted()
        let recordNames = try names.map { try #require(RecordName($0)) }
        let missing = try #require(RecordName("missing"))
        try store.read { snapshot in
            var records: Set<RecordNumber> = []
            try snapshot.current(of: recordNames + [missing], in: zone.number) { index, version in
                #expect(index < names.count)
                records.insert(version.record)
            }
            #expect(records.count == names.count)
        }
    }

    @Test("A store of before hashes finds its records before, while and after its names move")
    func formerStores() throws {
        let zone = try makeZone()
        try save((0..<600).map { "old-\($0)" }, in: zone)
        try makeFormer()
        try expectAll(in: zone)
        var steps = 0
        var isCrashed = false
        repeat {
            try save((0..<10).map { "new-\(steps)-\($0)" }, in: zone)
            try expectAll(in: zone)
            #expect(try place.problems() == [])
            steps += 1
            try #require(steps < 100)
            if steps % 3 == 0, !isCrashed {
                isCrashed = true
                store = try #require(try place.openAfterCrash())
            }
        } while try step(60)
        #expect(steps > 10)
        #expect(try number("SELECT count(*) FROM sqlite_schema WHERE name = 'heads_by_name'") == 0)
        #expect(try number("SELECT count(*) FROM work") == 0)
        try save(["last"], in: zone)
        try expectAll(in: zone)
        #expect(try place.problems() == [])
    }

    @Test("Nothing is left of the former index where so many names move that they are put in order")
    func manyFormerNames() throws {
        let zone = try makeZone()
        for part in 0..<11 {
            try save((0..<1_000).map { "old-\(part)-\($0)" }, in: zone)
        }
        try makeFormer()
        var steps = 0
        while try step(2_000) {
            steps += 1
            try #require(steps < 100)
        }
        try expectAll(in: zone)
        #expect(try number("SELECT count(*) FROM names") > 0)
        #expect(try number("SELECT count(*) FROM work") == 0)
        #expect(try number("SELECT count(*) FROM sqlite_schema WHERE name = 'heads_by_name'") == 0)
        #expect(try place.problems() == [])
    }

    @Test("The step that moves the last names can be undone and done again")
    func undoneStep() throws {
        struct Undone: Error {}
        let zone = try makeZone()
        try save(["a", "b", "c"], in: zone)
        try makeFormer()
        for _ in 0..<2 {
            #expect(throws: Undone.self) {
                try self.store.writeAndWait { transaction in
                    var cursor: Int64? = 0
                    while let after = cursor {
                        cursor = try transaction.workOnNames(after: after, namesMax: 100)
                    }
                    throw Undone()
                }
            }
            try expectAll(in: zone)
            try save(["d\(saved.count)"], in: zone)
            #expect(try place.problems() == [])
        }
        while try step(100) {}
        try expectAll(in: zone)
        try save(["last"], in: zone)
        #expect(try place.problems() == [])
        #expect(try number("SELECT count(*) FROM sqlite_schema WHERE name = 'heads_by_name'") == 0)
    }

    @Test("A reader that began before the names had moved sees what it saw")
    func readersGoOn() throws {
        let zone = try makeZone()
        try save(["a", "b"], in: zone)
        try makeFormer()
        let name = try #require(RecordName("a"))
        try store.read { snapshot in
            let head = try #require(try snapshot.head(of: name, in: zone.number))
            while try step(1) {}
            try save(["c"], in: zone)
            #expect(try snapshot.head(of: name, in: zone.number)?.position == head.position)
            let other = try #require(RecordName("c"))
            #expect(try snapshot.head(of: other, in: zone.number) == nil)
        }
        try expectAll(in: zone)
    }

    @Test(
        "The check tells of names that lead nowhere or astray, and of records that share one"
    )
    func damage() throws {
        let zone = try makeZone()
        try save(["a", "b", "c", "d"], in: zone)
        #expect(try place.problems() == [])
        func expect(_ words: String, after sql: String, undo: String) throws {
            try execute(sql)
            let problems = try place.problems()
            #expect(problems.contains { $0.hasPrefix(words) }, "\(problems)")
            try execute(undo)
            #expect(try place.problems() == [])
        }
        try expect(
            "records that their names do not lead to",
            after: "UPDATE progress SET names_through = 3",
            undo: "UPDATE progress SET names_through = 0")
        try expect(
            "names that lead to no record of theirs",
            after: "INSERT INTO names VALUES (5, 1)", undo: "DELETE FROM names")
        try expect(
            "stores that say another way",
            after: "UPDATE progress SET names_by_text = 1",
            undo: "UPDATE progress SET names_by_text = 0")
        try expect(
            "records that share their name with another",
            after: "INSERT INTO heads SELECT 99, zone, name, 99 FROM heads WHERE name = 'a'",
            undo: "DELETE FROM heads WHERE id = 99")
    }

    @Test("The check finds references without their records by either way of finding names")
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
                try transaction.replaceLinks(of: head.record, with: [link])
            }
        }
        for isFormer in [false, true] {
            if isFormer { try makeFormer() }
            try link(to: "target")
            #expect(try place.problems() == [])
            try link(to: "missing")
            let words = "references that must lead to a record and do not: 1"
            #expect(try place.problems() == [words])
        }
    }

    @Test("A store that takes another's place knows names by another key")
    func keys() throws {
        let next = try place.makeFolder("next") + "/store.sqlite"
        place.close(store)
        try SQLiteStore.makeSuccessor(
            at: next, of: place.path,
            StoreBeginning(schema: Schema(), moment: 1, who: "test", difference: []),
            random: { [UInt8](repeating: 7, count: $0) })
        let options = SQLiteStore.Options(
            clock: TrialClock().clock, random: { [UInt8](repeating: 9, count: $0) })
        try SQLiteStore(path: next, options: options) { _ in }.close()
        let key = "SELECT hex(value) FROM properties WHERE name = 'name_hash_key'"
        let keys = try [place.path, next].map { path in
            try Connection(path: path, mode: .readOnly).snapshot { connection in
                let row = try connection.prepare(key)
                defer { row.reset() }
                return try #require(try row.step() ? row.string(0) : nil)
            }
        }
        #expect(keys[1] == String(repeating: "09", count: 16) && keys[0] != keys[1])
    }
}
