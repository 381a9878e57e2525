import CloudModel
import Storage
import Synchronization

// The one order of all changes.
extension StoragePromise {
    static let positions = [
        StoragePromise("Positions follow each other within a write, and grow from one to the next")
        {
            testStore in
            let first = try testStore.write { transaction in
                let first = try transaction.takePositions(5)
                try expect(transaction.takePosition() > first + 4)
                try expect(transaction.takePositions(2) > first + 5)
                return first
            }
            try expect(first > 0)
            try expect(testStore.write { try $0.takePosition() } > first + 7)
        },
        StoragePromise("What a failed write took is not given out again") { testStore in
            let taken = Mutex<Position>(0)
            try expectFailure(Refusal.self) {
                try testStore.write { transaction in
                    let position = try transaction.takePositions(10)
                    taken.withLock { $0 = position + 9 }
                    throw Refusal()
                }
            }
            try expect(testStore.write { try $0.takePosition() } > taken.withLock { $0 })
        },
        StoragePromise("Nor what was taken before a crash or an end") { testStore in
            var last: Position = 0
            for round in 0..<4 {
                let position = try testStore.write { try $0.takePositions(3) }
                try expect(position > last, "round \(round)")
                last = position + 2
                if round.isMultiple(of: 2) {
                    try testStore.reopen()
                } else {
                    _ = try testStore.crash()
                }
            }
        },
        StoragePromise("A change at a position that its write has not taken is refused") {
            testStore in
            let zone = try testStore.makeZone()
            let head = try testStore.write { try $0.save("a", in: zone) }
            for position in [head.position, head.position + 1_000_000, 1] {
                try expectFailure(BrokenInvariant.self) {
                    try testStore.write { transaction in
                        try transaction.save("b", in: zone)
                        _ = try transaction.save(
                            NewVersion(
                                zone: zone, name: TestStore.record("c"), position: position,
                                previous: nil, previousBytes: 0, previousIsAlive: false, type: 0,
                                flags: [], body: []))
                    }
                }
            }
            try expect(testStore.feed(of: zone), is: ["a"])
        },
        StoragePromise("Changes are written in the order of their positions") { testStore in
            let zone = try testStore.makeZone()
            try expectFailure(BrokenInvariant.self) {
                try testStore.write { transaction in
                    let first = try transaction.takePositions(2)
                    for position in [first + 1, first] {
                        _ = try transaction.save(
                            NewVersion(
                                zone: zone, name: TestStore.record("r\(position)"),
                                position: position,
                                previous: nil, previousBytes: 0, previousIsAlive: false, type: 0,
                                flags: [], body: []))
                    }
                }
            }
            try expect(testStore.feed(of: zone), is: [])
        },
        StoragePromise("A change over a head that leads to no version of its record is refused") {
            testStore in
            let zone = try testStore.makeZone()
            let head = try testStore.write { try $0.save("a", in: zone) }
            try testStore.write { try $0.save("b", in: zone) }
            let wrong = [
                StoredHead(record: head.record, position: head.position + 1),
                StoredHead(record: RecordNumber(head.record.value + 1), position: head.position),
            ]
            for previous in wrong {
                try expectFailure(BrokenInvariant.self) {
                    try testStore.write { transaction in
                        _ = try transaction.save(
                            NewVersion(
                                zone: zone, name: TestStore.record("a"),
                                position: transaction.takePosition(), previous: previous,
                                previousBytes: 1, previousIsAlive: true, type: 0, flags: [],
                                body: []))
                    }
                }
            }
            try expect(testStore.feed(of: zone), is: ["a", "b"])
        },
        StoragePromise("With many writers, who follows a zone by positions misses nothing") {
            testStore in
            try follow(testStore, through: [testStore.store])
        },
        StoragePromise("With writers in several processes, too") { testStore in
            guard let beside = try testStore.location.openBeside() else { return }
            try follow(testStore, through: [testStore.store, beside])
        },
    ]

    /// Eight writers save; a reader goes on from the last position that it saw, and must meet each record.
    private static func follow(_ testStore: TestStore, through stores: [any Store]) throws {
        let zone = try testStore.makeZone()
        let (writers, rounds) = (8, 40)
        let atWork = Atomic(writers)
        let seen = Mutex<Set<String>>([])
        try together(writers + 1) { stream in
            if stream < writers {
                defer { atWork.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
                let store = stores[stream % stores.count]
                for round in 0..<rounds {
                    try store.writeAndWait(caller: StoreCaller(UInt64(stream))) { transaction in
                        // Some take positions early and use them late.
                        let first = try transaction.takePositions(1 + round % 3)
                        try transaction.save("r\(stream)-\(round)", in: zone)
                        try expect(first > 0)
                    }
                }
                return
            }
            var last: Position = 0
            var isLastLook = false
            while true {
                isLastLook = atWork.load(ordering: .sequentiallyConsistent) == 0
                let start = last
                let found = try testStore.read { snapshot in
                    var found: [(Position, String)] = []
                    try snapshot.versions(
                        in: zone.number, after: start, through: .max, newestFirst: false
                    ) {
                        found.append(($0.position, TestStore.name(in: $0.body)))
                        return true
                    }
                    return found
                }
                for (position, name) in found {
                    try expect(position > last, "the feed goes back")
                    last = position
                    seen.withLock { _ = $0.insert(name) }
                }
                if isLastLook { break }
            }
        }
        try expect(seen.withLock { $0.count }, is: writers * rounds)
        let end = try testStore.read { try $0.zone(zone.number)?.changed }
        try expect(
            testStore.read {
                try $0.zones(of: zone.owner, changedAfter: 0, limit: 99).last?.changed
            }
                == end)
    }
}
