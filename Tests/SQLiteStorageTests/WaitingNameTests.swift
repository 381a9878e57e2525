import CloudModel
import SQLite
import Seeding
import Storage
import Testing

@testable import SQLiteStorage
@testable import StorageConformance

/// Names whose records are there and that are not in the order of hashes yet.
@Suite("Names that wait to be put in order")
struct WaitingNameTests {
    /// A store with a zone, and which names in it have records.
    private final class Shelf {
        let location: SQLiteLocation
        let testStore: TestStore
        let zone: StoredZone
        private(set) var there: [String: RecordNumber] = [:]
        private(set) var gone: Set<String> = []
        private var made = 0

        init(nameHashBits: Int = 64) throws {
            let clock = TestClock()
            location = try SQLiteLocation(clock, nameHashBits: nameHashBits)
            testStore = try TestStore(location, clock)
            zone = try testStore.makeZone()
        }

        deinit { location.remove() }

        /// Saves records under names that had none, some of which had one before.
        @discardableResult
        func save(_ count: Int) throws -> [String] {
            let again = Array(gone.sorted().prefix(count / 4))
            let names = again + (made..<made + count - again.count).map { "record-\($0)" }
            made += count - again.count
            let records = try testStore.write { [zone] transaction in
                try names.map { try transaction.save($0, in: zone).record }
            }
            for (name, record) in zip(names, records) { there[name] = record }
            gone.subtract(names)
            return names
        }

        /// Deletes records and forgets that they were there.
        func remove(_ names: [String]) throws {
            try testStore.write { [zone] transaction in
                for name in names { try transaction.writeTombstone(name, in: zone) }
            }
            testStore.clock.advance(1_000)
            let moment = testStore.clock.now
            while try testStore.write({ try $0.collect(olderThan: moment, limit: 512) }) {}
            for name in names { there[name] = nil }
            gone.formUnion(names)
        }

        /// Does a step of the work on names; false when there is none.
        @discardableResult
        func step(_ namesMax: Int = 4_096) throws -> Bool {
            try testStore.write { transaction in
                guard let work = try transaction.take(.names) else { return false }
                let hasMore = try transaction.maintain(.names, step: namesMax)
                if hasMore {
                    try transaction.advance(work, to: 0)
                } else {
                    try transaction.finish(work)
                }
                return hasMore
            }
        }

        /// Saves until a pass is due, and does all of its steps.
        func pass() throws {
            while try number("SELECT count(*) FROM work WHERE kind = 7") == 0 { try save(500) }
            while try step() {}
        }

        func expectAll(_ names: some Sequence<String>, in snapshot: any StoreSnapshot) throws {
            for name in names {
                let head = try snapshot.head(of: TestStore.record(name), in: zone.number)
                #expect(head?.record == there[name], "\(name)")
            }
        }

        func expectAll() throws {
            try testStore.read { try expectAll(Array(there.keys) + gone + ["never"], in: $0) }
            #expect(try location.problems() == [])
        }

        func execute(_ sql: String) throws {
            try Connection(path: location.path, mode: .readWrite).execute(sql)
        }

        func number(_ sql: String) throws -> Int64 {
            try Connection(path: location.path, mode: .readOnly).snapshot { connection in
                let statement = try connection.prepare(sql)
                defer { statement.reset() }
                return try statement.step() ? statement.int64(0) : 0
            }
        }

        func through() throws -> Int64 { try number("SELECT names_through FROM progress") }
    }

    private struct Undone: Error {}

    @Test("A name that waits takes no row but its record's, until a pass brings all of them in")
    func waiting() throws {
        let shelf = try Shelf()
        try shelf.save(1_999)
        #expect(try shelf.number("SELECT count(*) FROM names") == 0)
        #expect(try shelf.number("SELECT count(*) FROM work WHERE kind = 7") == 0)
        try shelf.expectAll()
        try shelf.save(1)
        #expect(try shelf.number("SELECT count(*) FROM work WHERE kind = 7") == 1)
        while try shelf.step(700) {}
        #expect(try shelf.number("SELECT count(*) FROM names") == 2_000)
        #expect(try shelf.through() == 2_000)
        #expect(try shelf.number("SELECT count(*) FROM work WHERE kind = 7") == 0)
        try shelf.expectAll()
    }

    @Test(
        "Whatever follows on what, each name leads to its record and to no other",
        arguments: [64, 3])
    func randomSteps(bits: Int) throws {
        var random = SeededRandom("names that wait")
        let shelf = try Shelf(nameHashBits: bits)
        try shelf.save(2_000)
        for count in 1...80 {
            switch random.below(10) {
            case 0..<3: try shelf.save(1 + random.below(bits == 64 ? 400 : 60))
            case 3..<6: try shelf.step(1 + random.below(700))
            case 6:
                let names = shelf.there.keys.sorted()
                try shelf.remove((0..<8).map { _ in random.one(of: names) }.unique)
            case 7: try undo(shelf)
            case 8: try shelf.testStore.reopen()
            default: _ = try shelf.testStore.crash()
            }
            let names = shelf.there.keys.sorted()
            let asked = (0..<20).map { _ in random.one(of: names) } + shelf.gone.sorted().prefix(9)
            try shelf.testStore.read { try shelf.expectAll(asked, in: $0) }
            if count % 20 == 0 { #expect(try shelf.location.problems() == []) }
        }
    }

    /// Saves records and a step of a pass that are undone together.
    private func undo(_ shelf: Shelf) throws {
        let names = (0..<30).map { "undone-\($0)" }
        #expect(throws: Undone.self) {
            try shelf.testStore.write { [zone = shelf.zone] transaction in
                for name in names { try transaction.save(name, in: zone) }
                _ = try transaction.maintain(.names, step: 300)
                throw Undone()
            }
        }
        try shelf.testStore.read { snapshot in
            for name in names {
                let head = try snapshot.head(of: TestStore.record(name), in: shelf.zone.number)
                #expect(head == nil)
            }
        }
    }

    @Test("A snapshot that goes on while passes end finds what it found, and nothing later")
    func oldSnapshots() throws {
        let shelf = try Shelf()
        try shelf.save(300)
        let early = shelf.there
        try shelf.testStore.read { snapshot in
            // A snapshot begins with what is read first.
            _ = try snapshot.head(of: TestStore.record("record-0"), in: shelf.zone.number)
            for _ in 0..<3 {
                let later = try shelf.save(700)
                try shelf.remove(Array(shelf.there.keys.filter { early[$0] != nil }.prefix(20)))
                try shelf.pass()
                for (name, record) in early {
                    let head = try snapshot.head(of: TestStore.record(name), in: shelf.zone.number)
                    #expect(head?.record == record, "\(name)")
                }
                for name in later where early[name] == nil {
                    let head = try snapshot.head(of: TestStore.record(name), in: shelf.zone.number)
                    #expect(head == nil, "\(name)")
                }
            }
        }
        try shelf.expectAll()
    }

    @Test("The memory of names that wait is let go of once a later pass has ended")
    func memory() throws {
        let shelf = try Shelf()
        try shelf.pass()
        let after = try shelf.through()
        try shelf.pass()
        let waiting = try #require(shelf.testStore.store as? SQLiteStore).waitingNames
        #expect(waiting.count(behind: 0) == waiting.count(behind: after))
        #expect(waiting.count(behind: after) >= 2_000)
    }

    @Test("What was undone is forgotten, however often its name was tried")
    func undoneNames() throws {
        let shelf = try Shelf()
        let saved = try shelf.save(40)
        let waiting = try #require(shelf.testStore.store as? SQLiteStore).waitingNames
        for _ in 0..<20 { try undo(shelf) }
        #expect(waiting.count(behind: 0) == 40)
        try shelf.save(40)
        #expect(waiting.count(behind: 0) == 80)
        try shelf.remove(saved)
        try shelf.expectAll()
    }

    @Test("A record gets a number that none has had, also when the last one has gone")
    func numbers() throws {
        let shelf = try Shelf()
        try shelf.pass()
        let last = try #require(shelf.there.max { $0.value.value < $1.value.value })
        #expect(try shelf.through() == last.value.value)
        try shelf.remove([last.key])
        try shelf.save(1)
        #expect(shelf.there.values.map(\.value).max() == last.value.value + 1)
        try shelf.expectAll()
        // Those of a write that was undone are not given again either.
        try undo(shelf)
        let names = try shelf.save(4)
        #expect(names.allSatisfy { shelf.there[$0]?.value ?? 0 > last.value.value + 31 })
        try shelf.remove(names)
        // After a start it is what the file tells.
        try shelf.testStore.reopen()
        try shelf.save(2)
        #expect(shelf.there.values.map(\.value).max() ?? 0 > last.value.value)
        try shelf.expectAll()
    }

    @Test("What goes while a pass goes on leaves nothing in it")
    func goneMeanwhile() throws {
        let shelf = try Shelf()
        try shelf.save(2_000)
        try undo(shelf)
        #expect(try shelf.step(300))
        let names = shelf.there.keys.sorted()
        try shelf.remove(stride(from: 0, to: 2_000, by: 7).map { names[$0] })
        try shelf.expectAll()
        while try shelf.step(300) {}
        let named = try shelf.number("SELECT count(*) FROM names")
        #expect(named == Int64(names.count - (names.count + 6) / 7))
        #expect(
            try shelf.number(
                "SELECT count(*) FROM names WHERE record NOT IN (SELECT id FROM heads)") == 0)
        try shelf.expectAll()
    }

    @Test("A step whose group another write breaks is done again, and the pass ends")
    func undoneSteps() throws {
        let shelf = try Shelf()
        try shelf.save(2_000)
        for _ in 0..<8 {
            #expect(throws: Undone.self) {
                try shelf.testStore.write { transaction in
                    _ = try transaction.maintain(.names, step: 600)
                    throw Undone()
                }
            }
            try shelf.step(600)
        }
        #expect(try shelf.number("SELECT count(*) FROM names") == 2_000)
        #expect(try shelf.through() == 2_000)
        try shelf.expectAll()
    }

    @Test("What another program has written is found, and its names are given to no others")
    func others() throws {
        let shelf = try Shelf()
        let zone = shelf.zone
        try shelf.save(100)
        try shelf.execute(
            "INSERT INTO heads (zone, name, position) VALUES (\(zone.number.value), 'other', 500)")
        func other() throws -> StoredHead? {
            try shelf.testStore.read { try $0.head(of: TestStore.record("other"), in: zone.number) }
        }
        #expect(try other()?.record == RecordNumber(101))
        #expect(throws: BrokenInvariant.self) {
            try shelf.testStore.write { transaction in
                _ = try transaction.save(
                    NewVersion(
                        zone: zone, name: TestStore.record("other"),
                        position: try transaction.takePosition(), previous: nil, previousBytes: 0,
                        previousIsAlive: false, type: 0, flags: [], body: [49]))
            }
        }
        let names = try shelf.save(50)
        #expect(shelf.there[names[0]]?.value ?? 0 > 101)
        #expect(try other()?.record == RecordNumber(101))
        try shelf.execute("DELETE FROM heads WHERE name = 'other'")
        #expect(try other() == nil)
        try shelf.expectAll()
    }
}

extension [String] {
    fileprivate var unique: [String] { Set(self).sorted() }
}
