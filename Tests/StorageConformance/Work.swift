import CloudModel
import Dispatch
import Storage
import Synchronization

// The queue of work, and what is removed when its time is over.
extension StoragePromise {
    private static func take(
        _ testStore: TestStore, _ kinds: [WorkKind], by holder: Int64 = 1
    ) throws -> StoredWork? {
        try testStore.write { transaction in
            var turn = WorkTurn(WorkHolder(holder), kinds)
            return try transaction.takeWork(&turn)
        }
    }

    static let work = [
        StoragePromise("Work of one subject is done in its order; what is asked for twice is one") {
            testStore in
            let zone = try testStore.makeZone()
            try testStore.write { transaction in
                for record in [5, 3, 9, 3] {
                    try transaction.enqueue(.cover(RecordNumber(Int64(record)), in: zone.number))
                }
            }
            var done: [WorkTask] = []
            while let work = try take(testStore, [.cover]) {
                done.append(work.task)
                try testStore.write { try $0.finish(work) }
            }
            try expect(
                done, is: [5, 3, 9].map { .cover(RecordNumber($0), in: zone.number) })
        },
        StoragePromise("Kinds and subjects take turns") { testStore in
            try testStore.write { transaction in
                for zone in 1...3 {
                    for record in 1...2 {
                        try transaction.enqueue(
                            .cover(RecordNumber(Int64(record)), in: ZoneNumber(Int64(zone))))
                    }
                }
                try transaction.enqueue(.collect)
            }
            let order = try testStore.write { transaction in
                var turn = WorkTurn(WorkHolder(1), [.cover, .collect])
                return try (0..<8).map { _ in
                    let work = try require(transaction.takeWork(&turn))
                    turn.next = (turn.next + 1) % turn.kinds.count
                    return work.task
                }
            }
            try expect(order.count { $0 == .collect }, is: 4)
            let zones = order.compactMap { task -> ZoneNumber? in
                if case .cover(_, let zone) = task { zone } else { nil }
            }
            try expect(zones.map(\.value), is: [1, 2, 3, 1])
        },
        StoragePromise("What one holder has, no other takes before its time is over") { testStore in
            try testStore.write { try $0.enqueue(.collect) }
            let until = testStore.clock.now + 1_000
            let work = try testStore.write { transaction in
                var turn = WorkTurn(WorkHolder(1), [.collect])
                return try require(transaction.takeWork(&turn, heldUntil: until))
            }
            try expect(take(testStore, [.collect], by: 2) == nil)
            try expect(take(testStore, [.collect], by: 1) != nil)
            try expect(
                testStore.write { try $0.nextWorkMoment([.collect], for: WorkHolder(2)) } == until)
            if let beside = try testStore.location.openBeside() {
                let taken = try beside.writeAndWait { transaction in
                    var turn = WorkTurn(WorkHolder(3), [.collect])
                    return try transaction.takeWork(&turn)?.number
                }
                try expect(taken == nil)
            }
            testStore.clock.advance(1_000)
            try expect(take(testStore, [.collect], by: 2)?.number == work.number)
        },
        StoragePromise("A step notes how far it came; one that failed is due later, and counted") {
            testStore in
            try testStore.write { try $0.enqueue(.collect) }
            let first = try require(take(testStore, [.collect]))
            try expect(first.cursor == 0 && first.failures == 0)
            let due = testStore.clock.now + 500
            try testStore.write { try $0.postpone(first, until: due) }
            try expect(take(testStore, [.collect]) == nil)
            try expect(
                testStore.write { try $0.nextWorkMoment([.collect], for: WorkHolder(1)) } == due)
            testStore.clock.advance(500)
            let second = try require(take(testStore, [.collect]))
            try expect(second.failures, is: 1)
            try testStore.write { try $0.advance(second, to: 42) }
            let third = try require(take(testStore, [.collect]))
            try expect(third.cursor == 42 && third.failures == 0)
            try testStore.reopen()
            try expect(take(testStore, [.collect])?.cursor == 42)
            try testStore.write { try $0.enqueue(.collect) }
            try expect(take(testStore, [.collect])?.cursor == 0)
            try testStore.write { try $0.finish(third) }
            try expect(take(testStore, [.collect]) == nil)
            try expect(
                testStore.write { try $0.nextWorkMoment(nil, for: WorkHolder(1)) } == nil)
        },
        StoragePromise("Work that is left for later is due then, from where it came to") {
            testStore in
            try testStore.write { try $0.enqueue(.collect) }
            let first = try require(take(testStore, [.collect]))
            try testStore.write { try $0.postpone(first, until: testStore.clock.now) }
            try testStore.write { try $0.advance(first, to: 42) }
            let due = testStore.clock.now + 500
            try testStore.write { try $0.wait(first, until: due) }
            try expect(take(testStore, [.collect]) == nil)
            try expect(
                testStore.write { try $0.nextWorkMoment([.collect], for: WorkHolder(1)) } == due)
            testStore.clock.advance(500)
            let second = try require(take(testStore, [.collect]))
            try expect(second.number == first.number && second.cursor == 42)
            try expect(second.failures, is: 0)
        },
        StoragePromise("Who waits for work is told when some is queued, and finds it") {
            testStore in
            for task in [WorkTask.collect, .collectAssets] {
                let told = Told([.work], of: testStore.store)
                try testStore.write { try $0.enqueue(task) }
                try expect(told.wait().parts, is: [.work])
            }
            let told = Told([.work], of: testStore.store)
            try testStore.write { transaction in
                for kind in [WorkKind.collect, .collectAssets] {
                    var turn = WorkTurn(WorkHolder(1), [kind])
                    try transaction.finish(require(transaction.takeWork(&turn)))
                }
            }
            try testStore.write { try $0.enqueue(.collect) }
            _ = try told.wait()
            try expect(
                testStore.read { try $0.nextWorkMoment([.collect], for: WorkHolder(1)) } != nil)
        },
    ]

    package static let collection = [
        StoragePromise(
            "What is past its time goes in steps, and the zone says from where on it is whole"
        ) {
            testStore in
            let zone = try testStore.makeZone()
            try testStore.write { transaction in
                for number in 0..<40 { try transaction.save("r\(number)", in: zone) }
            }
            let last = try testStore.write { transaction in
                try (0..<20).map { try transaction.writeTombstone("r\($0)", in: zone).position }
                    .max() ?? 0
            }
            testStore.clock.advance(1_000)
            let moment = testStore.clock.now
            try testStore.write { try $0.writeTombstone("r20", in: zone) }
            var steps = 0
            while try testStore.write({ try $0.collect(olderThan: moment, limit: 3) }) {
                steps += 1
            }
            try expect(steps >= 5, "\(steps) steps")
            let feed = try testStore.feed(of: zone)
            try expect(feed.count == 20 && feed.last == "-r20")
            let whole = try require(testStore.read { try $0.zone(zone.number) }).oldestValidPosition
            try expect(whole, is: last)
            try expect(
                testStore.read { try $0.head(of: TestStore.record("r3"), in: zone.number) } == nil)
            let other = try testStore.write { try $0.save("r3", in: zone) }
            try expect(other.record.value > 0)
        },
        StoragePromise("A deleted zone's records go at once, the zone after its time") {
            testStore in
            let zone = try testStore.makeZone()
            try testStore.write { transaction in
                for number in 0..<30 { try transaction.save("r\(number)", in: zone) }
                try transaction.deleteZone(zone)
            }
            let moment = testStore.clock.now
            while try testStore.write({ try $0.collect(olderThan: moment, limit: 7) }) {}
            try expect(testStore.feed(of: zone), is: [])
            try expect(testStore.read { try $0.zone(zone.number)?.isDeleted } == true)
            let changed = try require(testStore.read { try $0.zone(zone.number)?.changed })
            while try testStore.write({ try $0.collect(olderThan: moment + 1, limit: 7) }) {}
            try testStore.read { snapshot in
                try expect(snapshot.zone(zone.number) == nil)
                try expect(
                    snapshot.owner(named: TestStore.user(1))?.oldestValidPosition ?? 0 >= changed)
            }
            let again = try testStore.makeZone()
            try expect(again.number.value > zone.number.value)
        },
    ]
}
