import CloudModel
import IndexedQueries
import SQLite
import Seeding
import Storage
import StorageConformance
import Testing

@testable import SQLiteStorage

/// What writes leave of indexes for later: how it is written in steps, beside writes, crashes and changes of mind.
@Suite("Entries that come later")
final class LateEntryTests {
    private let location: SQLiteLocation
    private var store: any Store
    private var random = SeededRandom("entries that come later")
    /// What the index is to say of each record: its words, or its values.
    private var texts: [String: String] = [:]

    init() throws {
        location = try SQLiteLocation()
        store = try location.openStore()
    }

    deinit { location.remove() }

    /// As many entries as one step writes.
    private static let stepMax: Int64 = 1_024

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

    private func makeZone(_ text: String = "Shelf") throws -> StoredZone {
        let user = try #require(UserRecordName("_" + String(repeating: "a", count: 32)))
        let name = try #require(ZoneName(text))
        let note = try #require(RecordTypeName("Note"))
        return try store.writeAndWait { transaction in
            var schema = try transaction.schema
            if schema.types[note] == nil {
                schema.types[note] = Schema.RecordType()
                try transaction.replaceSchema(by: schema, who: "test", difference: ["+ type Note"])
            }
            return try transaction.makeZone(named: name, ofOwnerNamed: user)
        }
    }

    private static func body(_ text: String) -> [UInt8] {
        Array("{\"fields\":{\"t\":{\"value\":\"\(text)\",\"type\":\"STRING\"}}}".utf8)
    }

    /// A text of different words.
    private func text(_ count: Int) -> String {
        (0..<count).map { "w\($0)x\(Int.random(in: 0..<1_000_000, using: &random))" }
            .joined(separator: " ")
    }

    /// Saves a record; deletes it for nil.
    private func save(_ name: String, _ text: String?, in zone: StoredZone) throws {
        let record = try #require(RecordName(name))
        let previous = texts["\(zone.number.value) \(name)"].map { Self.body($0).count }
        let type = try type()
        try store.writeAndWait { transaction in
            _ = try transaction.save(
                NewVersion(
                    zone: zone, name: record, position: try transaction.takePosition(),
                    previous: try transaction.head(of: record, in: zone.number),
                    previousBytes: previous ?? 0, previousIsAlive: previous != nil, type: type,
                    flags: text == nil ? [.tombstone] : [],
                    body: text.map(Self.body) ?? Array("\"\(name)\"".utf8)))
        }
        texts["\(zone.number.value) \(name)"] = text
    }

    private func makeIndex() throws -> Int64 {
        let need = IndexNeed("t", .words)
        let number = try type()
        try store.writeAndWait { try $0.makeIndexes([need], ofType: number) }
        try workOnIndexes()
        let found = try store.read { try $0.indexReader.indexes(ofType: number) }
        return try #require(found.first { $0.need == need && $0.state == .whole }).number
    }

    private func workOnIndexes() throws {
        for _ in 0..<1_000 {
            let isMore = try store.writeAndWait { transaction in
                guard let work = try transaction.take(.index) else { return false }
                if try !transaction.maintain(.index, step: 64) { try transaction.finish(work) }
                return true
            }
            if !isMore { return }
        }
        Issue.record("the work does not end")
    }

    private func isLate(_ index: Int64, in zone: StoredZone) throws -> Bool {
        try store.read { try $0.indexReader.isLate(index, in: zone.number) }
    }

    private func finds(_ word: Substring, _ index: Int64, in zone: StoredZone) throws -> Int {
        try store.read { snapshot in
            let search = WordSearch(words: [Array(word.utf8)], needsAll: true)
            return try snapshot.indexReader.records(
                of: index, in: zone.number, with: search, after: RecordNumber(0), limit: 10
            ).count
        }
    }

    private var termsSum: Int64 {
        get throws { try number("SELECT coalesce(sum(doc), 0) FROM index_terms") }
    }

    private func expectWhole(_ index: Int64, in zone: StoredZone) throws {
        #expect(try !isLate(index, in: zone))
        #expect(try number("SELECT count(*) FROM late_entries") == 0)
        #expect(try number("SELECT count(*) FROM late_bodies") == 0)
        let words = texts.values.map { $0.split(separator: " ") }
        #expect(try termsSum == words.reduce(0) { $0 + Int64(Set($1).count) })
        #expect(try location.problems() == [])
    }

    @Test("No step writes more words than its bound, whatever one save brings or takes away")
    func steps() throws {
        let zone = try makeZone()
        try save("a", "few words", in: zone)
        let index = try makeIndex()
        for text in [text(9_000), text(7_000), "short again", text(5_000), nil] {
            let before = try termsSum
            try save("a", text, in: zone)
            #expect(try termsSum == before, "the save itself wrote words")
            #expect(try isLate(index, in: zone) == (text != nil))
            var (last, steps) = (before, 0)
            while try store.maintain(while: {
                let sum = (try? termsSum) ?? .max
                #expect(abs(sum - last) <= Self.stepMax, "a step has written more")
                last = sum
                steps += 1
                return steps < 100
            }) {}
            #expect(steps > 4)
            try expectWhole(index, in: zone)
        }
    }

    /// Works on what was left until it is done, or until so many steps have been begun.
    private func work(steps: Int = .max) throws {
        var left = steps
        while left > 0,
            try store.maintain(while: {
                left -= 1
                return left >= 0
            })
        {}
    }

    @Test("A crash, and changes in between, at any step leave an index whole in the end")
    func changes() throws {
        let zone = try makeZone()
        let other = try makeZone("Other")
        try save("a", "few words", in: zone)
        let index = try makeIndex()
        for round in 0..<40 {
            let name = ["a", "b", "c"].randomElement(using: &random) ?? "a"
            let count = [3, 40, 2_000, 6_000, 9_000].randomElement(using: &random) ?? 3
            let isGone = Int.random(in: 0..<5, using: &random) == 0
            let isThere = texts["\(zone.number.value) \(name)"] != nil
            if !isGone || isThere { try save(name, isGone ? nil : text(count), in: zone) }
            try work(steps: Int.random(in: 0..<9, using: &random))
            if round % 4 == 0 { store = try #require(try location.openAfterCrash()) }
            if round % 8 == 0 { #expect(try location.problems() == []) }
            #expect(try !isLate(index, in: other), "another zone waits")
        }
        try work()
        try expectWhole(index, in: zone)
        for (name, text) in texts {
            let word = try #require(text.split(separator: " ").last)
            #expect(try finds(word, index, in: zone) == 1, "\(name)")
        }
        for name in ["a", "b", "c"] where texts["\(zone.number.value) \(name)"] != nil {
            try save(name, nil, in: zone)
        }
        try work()
        try expectWhole(index, in: zone)
    }

    /// Two hundred records in one write: a text that no index looks into, and a number in each of five fields.
    private func saveBatch(
        _ text: String, number: Int, previousBytes: Int?, in zone: StoredZone
    ) throws -> Int {
        let type = try type()
        let values = (0..<5).map { ",\"n\($0)\":{\"value\":\(number),\"type\":\"INT64\"}" }.joined()
        let body = Array(
            "{\"fields\":{\"t\":{\"value\":\"\(text)\",\"type\":\"STRING\"}\(values)}}".utf8)
        let names = (0..<200).compactMap { RecordName("r\($0)") }
        try store.writeAndWait { transaction in
            for name in names {
                _ = try transaction.save(
                    NewVersion(
                        zone: zone, name: name, position: try transaction.takePosition(),
                        previous: try transaction.head(of: name, in: zone.number),
                        previousBytes: previousBytes ?? 0, previousIsAlive: previousBytes != nil,
                        type: type, flags: [], body: body))
            }
        }
        return body.count
    }

    @Test("Numbers of two hundred records are found at once, however long their other fields are")
    func values() throws {
        _ = try makeZone()
        let (type, needs) = (try type(), (0..<5).map { IndexNeed("n\($0)", .values) })
        try store.writeAndWait { try $0.makeIndexes(needs, ofType: type) }
        try workOnIndexes()
        for text in [text(60), text(700)] {
            let zone = try makeZone("Batch \(text.count)")
            let bytes = try saveBatch(text, number: 10_000, previousBytes: nil, in: zone)
            #expect(try number("SELECT count(*) FROM late_entries") == 0)
            _ = try saveBatch(text, number: 20_000, previousBytes: bytes, in: zone)
            #expect(try number("SELECT count(*) FROM late_entries") == 0)
            #expect(try location.problems() == [])
        }
    }

    @Test("A text in which a word changes costs the index that word")
    func difference() throws {
        let zone = try makeZone()
        let index = try {
            try save("a", "few words", in: zone)
            return try makeIndex()
        }()
        let long = text(8_000)
        try save("a", "first " + long, in: zone)
        try work()
        try save("a", "second " + long, in: zone)
        #expect(try isLate(index, in: zone))
        var steps = 0
        _ = try store.maintain(while: {
            steps += 1
            return steps < 3
        })
        try expectWhole(index, in: zone)
        #expect(try finds("first", index, in: zone) == 0)
        #expect(try finds("second", index, in: zone) == 1)
    }

    @Test("An index that is made over long texts, and one that goes, leave their words for later")
    func fillsAndEmpties() throws {
        let zone = try makeZone()
        for name in ["a", "b"] { try save(name, text(4_000), in: zone) }
        let index = try makeIndex()
        #expect(try termsSum == 0)
        #expect(try isLate(index, in: zone))
        try work()
        try expectWhole(index, in: zone)
        let type = try type()
        try store.writeAndWait { try $0.dropIndexes(ofType: type, fields: ["t"]) }
        try workOnIndexes()
        #expect(try termsSum == 8_000)
        #expect(try location.problems() == [])
        try work()
        try workOnIndexes()
        #expect(try termsSum == 0)
        #expect(try number("SELECT count(*) FROM indexes") == 0)
        #expect(try location.problems() == [])
    }

    @Test("Words that come late to an index that goes are taken out of it once")
    func leavesWhileLate() throws {
        let zone = try makeZone()
        try save("a", "few words", in: zone)
        _ = try makeIndex()
        for name in ["b", "c"] { try save(name, text(5_000), in: zone) }
        try work(steps: 3)
        let type = try type()
        try store.writeAndWait { try $0.dropIndexes(ofType: type, fields: ["t"]) }
        // What was late comes before the work that empties the index has begun.
        for _ in 0..<2 {
            try work()
            try workOnIndexes()
        }
        #expect(try termsSum == 0)
        #expect(try number("SELECT count(*) FROM indexes") == 0)
        #expect(try number("SELECT count(*) FROM late_bodies") == 0)
        #expect(try location.problems() == [])
        let again = try makeIndex()
        try work()
        try expectWhole(again, in: zone)
    }

    @Test("The words of a deleted zone go in steps, and with them the texts that were kept for it")
    func purged() throws {
        let zone = try makeZone()
        try save("a", "few words", in: zone)
        let index = try makeIndex()
        try save("b", text(5_000), in: zone)
        try work(steps: 3)
        try save("c", text(5_000), in: zone)
        try work(steps: 3)
        try store.writeAndWait { try $0.deleteZone(zone) }
        while try store.writeAndWait({ try $0.collect(olderThan: 0, limit: 500) }) {}
        #expect(try location.problems() == [])
        texts = [:]
        try work()
        try expectWhole(index, in: zone)
    }
}
