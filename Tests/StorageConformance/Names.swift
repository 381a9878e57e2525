import CloudModel
import Storage

// One record for each name, and one name for each record.
extension StoragePromise {
    package static let names = [
        StoragePromise("A name that has a record is given to no other") { trial in
            let zone = try trial.makeZone()
            let one = try trial.write { try $0.save("a", in: zone) }
            for isLookedUp in [false, true] {
                do {
                    try trial.write { transaction in
                        if isLookedUp {
                            // Many, for engines that know names by something shorter.
                            for other in 0..<50 {
                                let name = Trial.record("b\(other)")
                                _ = try transaction.head(of: name, in: zone.number)
                            }
                        }
                        try transaction.make("a", in: zone)
                    }
                    try expect(false, "a second record of one name was written")
                } catch is BrokenInvariant {}
            }
            try trial.read {
                let head = try $0.head(of: Trial.record("a"), in: zone.number)
                try expect(head?.record == one.record && head?.position == one.position)
            }
            // In another zone it is another name.
            let other = try trial.makeZone("Other")
            let two = try trial.write { try $0.save("a", in: other) }
            try expect(two.record != one.record)
        },
        StoragePromise("A name made, undone and made again in one transaction leads to one record")
        {
            trial in
            let zone = try trial.makeZone()
            struct Undone: Error {}
            do {
                try trial.write { transaction in
                    try transaction.save("a", in: zone)
                    throw Undone()
                }
            } catch is Undone {}
            try expect(
                trial.read { try $0.head(of: Trial.record("a"), in: zone.number) } == nil)
            let head = try trial.write { try $0.save("a", in: zone) }
            try trial.read {
                try expect(
                    $0.head(of: Trial.record("a"), in: zone.number)?.record == head.record)
            }
        },
        StoragePromise(
            "However many names there are, each leads to its record while they are ordered"
        ) {
            trial in
            let zone = try trial.makeZone()
            var names = NameTrial(zone: zone)
            for _ in 0..<13 { try names.save(1_000, trial) }
            // While steps of the work go on, records come, go and come back.
            var steps = 0
            var hasMore = true
            while hasMore {
                hasMore = try trial.maintainAll(step: 1_500)
                steps += 1
                try expect(steps < 500, "the work does not end")
                try names.save(20, trial)
                try names.remove(10, trial)
                try names.check(trial, step: steps)
                if steps == 3 {
                    try trial.reopen()
                } else if steps == 5 {
                    _ = try trial.crash()
                }
                if steps % 4 == 0 { try expect(trial.place.problems(), is: []) }
            }
            try names.check(trial, step: 0)
            try names.makeAgain(trial)
        },
    ]
}

extension StoreTransaction {
    /// Makes a record without a look whether the name has one.
    fileprivate func make(_ name: String, in zone: StoredZone) throws {
        let position = try takePosition()
        _ = try save(
            NewVersion(
                zone: zone, name: Trial.record(name), position: position, former: nil,
                formerBytes: 0, formerIsAlive: false, type: 0, flags: [], body: [49]))
    }
}

/// Many records, of which it is known which are there.
struct NameTrial {
    let zone: StoredZone
    private(set) var there: [Int] = []
    private(set) var gone: [Int] = []
    private var made = 0

    init(zone: StoredZone) { self.zone = zone }

    private static func name(_ number: Int) -> String { "record-\(number)" }

    mutating func save(_ count: Int, _ trial: Trial) throws {
        // Some come back under the names of those that have gone.
        let again = Array(gone.prefix(count / 4))
        gone.removeFirst(again.count)
        let numbers = again + (made..<made + count - again.count)
        made += count - again.count
        try trial.write { [zone] transaction in
            for number in numbers { try transaction.save(Self.name(number), in: zone) }
        }
        there += numbers
    }

    /// Deletes some and forgets them.
    mutating func remove(_ count: Int, _ trial: Trial) throws {
        let numbers = stride(from: 0, to: there.count, by: max(1, there.count / count))
            .prefix(count).map { there[$0] }
        try trial.write { [zone] transaction in
            for number in numbers { try transaction.writeTombstone(Self.name(number), in: zone) }
        }
        trial.clock.advance(1_000)
        let moment = trial.clock.now
        while try trial.write({ try $0.collect(olderThan: moment, rowsMax: 512) }) {}
        let removed = Set(numbers)
        there.removeAll { removed.contains($0) }
        gone += numbers
    }

    /// Tries to give names that have records to others: some early ones, some late ones.
    func makeAgain(_ trial: Trial) throws {
        for number in there.prefix(5) + there.suffix(5) {
            do {
                try trial.write { [zone] in try $0.make(Self.name(number), in: zone) }
                try expect(false, "a second record of \(Self.name(number)) was written")
            } catch is BrokenInvariant {}
        }
    }

    /// Looks some of them up, other ones at each step, or all at step 0.
    func check(_ trial: Trial, step: Int) throws {
        try trial.read { snapshot in
            let asked = (there + gone).filter { step == 0 || ($0 + step) % 50 == 0 }
            let names = asked.map { Trial.record(Self.name($0)) }
            var found: Set<Int> = []
            try snapshot.current(of: names, in: zone.number, inOrder: false) { index, version in
                try expect(Trial.name(in: version.body), is: Self.name(asked[index]))
                found.insert(asked[index])
                return true
            }
            let expected = Set(asked).subtracting(gone)
            try expect(found, is: expected)
            for number in asked.prefix(20) {
                let head = try snapshot.head(of: Trial.record(Self.name(number)), in: zone.number)
                try expect((head != nil) == expected.contains(number))
            }
        }
    }
}
