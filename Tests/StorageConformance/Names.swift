import CloudModel
import Storage

// One record for each name, and one name for each record.
extension StoragePromise {
    package static let names = [
        StoragePromise("A name that has a record is given to no other") { testStore in
            let zone = try testStore.makeZone()
            let one = try testStore.write { try $0.save("a", in: zone) }
            for isLookedUp in [false, true] {
                do {
                    try testStore.write { transaction in
                        if isLookedUp {
                            // Many, for engines that know names by something shorter.
                            for other in 0..<50 {
                                let name = TestStore.record("b\(other)")
                                _ = try transaction.head(of: name, in: zone.number)
                            }
                        }
                        try transaction.make("a", in: zone)
                    }
                    try expect(false, "a second record of one name was written")
                } catch is BrokenInvariant {}
            }
            try testStore.read {
                let head = try $0.head(of: TestStore.record("a"), in: zone.number)
                try expect(head?.record == one.record && head?.position == one.position)
            }
            // In another zone it is another name.
            let other = try testStore.makeZone("Other")
            let two = try testStore.write { try $0.save("a", in: other) }
            try expect(two.record != one.record)
        },
        StoragePromise("A name made, undone and made again in one transaction leads to one record")
        {
            testStore in
            let zone = try testStore.makeZone()
            struct Undone: Error {}
            do {
                try testStore.write { transaction in
                    try transaction.save("a", in: zone)
                    throw Undone()
                }
            } catch is Undone {}
            try expect(
                testStore.read { try $0.head(of: TestStore.record("a"), in: zone.number) } == nil)
            let head = try testStore.write { try $0.save("a", in: zone) }
            try testStore.read {
                try expect(
                    $0.head(of: TestStore.record("a"), in: zone.number)?.record == head.record)
            }
        },
        StoragePromise(
            "However many names there are, each leads to its record while they are ordered"
        ) {
            testStore in
            let zone = try testStore.makeZone()
            var names = TestNames(zone: zone)
            for _ in 0..<13 { try names.save(1_000, testStore) }
            // While steps of the work go on, records come, go and come back.
            var steps = 0
            var hasMore = true
            while hasMore {
                hasMore = try testStore.maintainAll(step: 1_500)
                steps += 1
                try expect(steps < 500, "the work does not end")
                try names.save(20, testStore)
                try names.remove(10, testStore)
                try names.check(testStore, step: steps)
                if steps == 3 {
                    try testStore.reopen()
                } else if steps == 5 {
                    _ = try testStore.crash()
                }
                if steps % 4 == 0 { try expect(testStore.location.problems(), is: []) }
            }
            try names.check(testStore, step: 0)
            try names.makeAgain(testStore)
        },
    ]
}

extension StoreTransaction {
    /// Makes a record without a look whether the name has one.
    fileprivate func make(_ name: String, in zone: StoredZone) throws {
        let position = try takePosition()
        _ = try save(
            NewVersion(
                zone: zone, name: TestStore.record(name), position: position, previous: nil,
                previousBytes: 0, previousIsAlive: false, type: 0, flags: [], body: [49]))
    }
}

/// Many records, of which it is known which are there.
struct TestNames {
    let zone: StoredZone
    private(set) var there: [Int] = []
    private(set) var gone: [Int] = []
    private var made = 0

    init(zone: StoredZone) { self.zone = zone }

    private static func name(_ number: Int) -> String { "record-\(number)" }

    mutating func save(_ count: Int, _ testStore: TestStore) throws {
        // Some come back under the names of those that have gone.
        let again = Array(gone.prefix(count / 4))
        gone.removeFirst(again.count)
        let numbers = again + (made..<made + count - again.count)
        made += count - again.count
        try testStore.write { [zone] transaction in
            for number in numbers { try transaction.save(Self.name(number), in: zone) }
        }
        there += numbers
    }

    /// Deletes some and forgets them.
    mutating func remove(_ count: Int, _ testStore: TestStore) throws {
        let numbers = stride(from: 0, to: there.count, by: max(1, there.count / count))
            .prefix(count).map { there[$0] }
        try testStore.write { [zone] transaction in
            for number in numbers { try transaction.writeTombstone(Self.name(number), in: zone) }
        }
        testStore.clock.advance(1_000)
        let moment = testStore.clock.now
        while try testStore.write({ try $0.collect(olderThan: moment, limit: 512) }) {}
        let removed = Set(numbers)
        there.removeAll { removed.contains($0) }
        gone += numbers
    }

    /// Tries to give names that have records to others: some early ones, some late ones.
    func makeAgain(_ testStore: TestStore) throws {
        for number in there.prefix(5) + there.suffix(5) {
            do {
                try testStore.write { [zone] in try $0.make(Self.name(number), in: zone) }
                try expect(false, "a second record of \(Self.name(number)) was written")
            } catch is BrokenInvariant {}
        }
    }

    /// Looks some of them up, other ones at each step, or all at step 0.
    func check(_ testStore: TestStore, step: Int) throws {
        try testStore.read { snapshot in
            let asked = (there + gone).filter { step == 0 || ($0 + step) % 50 == 0 }
            let names = asked.map { TestStore.record(Self.name($0)) }
            var found: Set<Int> = []
            try snapshot.current(of: names, in: zone.number, inOrder: false) { index, version in
                try expect(TestStore.name(in: version.body), is: Self.name(asked[index]))
                found.insert(asked[index])
                return true
            }
            let expected = Set(asked).subtracting(gone)
            try expect(found, is: expected)
            for number in asked.prefix(20) {
                let head = try snapshot.head(
                    of: TestStore.record(Self.name(number)), in: zone.number)
                try expect((head != nil) == expected.contains(number))
            }
        }
    }
}
