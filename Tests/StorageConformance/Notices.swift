import CloudModel
import Dispatch
import Storage
import Synchronization

/// Takes what a watch tells.
final class Told: Sendable {
    private let come = DispatchSemaphore(value: 0)
    private let notices = Mutex<[CommitNotice]>([])

    /// Begins to wait for places of a store.
    init(_ parts: Set<StorePart>, of store: any Store, since mark: CommitNotices.Mark? = nil) {
        store.notices.watch(parts, since: mark).whenMoved { notice in
            self.notices.withLock { $0.append(notice) }
            self.come.signal()
        }
    }

    var count: Int { notices.withLock { $0.count } }

    /// The first notice; fails when none comes for a minute.
    func wait() throws -> CommitNotice {
        try expect(come.wait(timeout: .now() + 60) == .success, "nothing was told")
        return try require(notices.withLock { $0.first })
    }
}

// Who is told of commits.
extension StoragePromise {
    static let notices = [
        StoragePromise("Who waits is told of the first commit that moves what they wait for") {
            testStore in
            let zone = try testStore.makeZone()
            let other = try testStore.makeZone("Other")
            let store = testStore.store
            let waits: [(name: String, told: Told)] = [
                ("zone", Told([.zone(zone.number)], of: store)),
                ("owner", Told([.owner(zone.owner)], of: store)),
                ("anything", Told([.anything], of: store)),
                ("several", Told([.indexes, .zone(zone.number)], of: store)),
            ]
            let asides = [
                Told([.zone(other.number)], of: store), Told([.indexes], of: store),
                Told([.person(TestStore.user(3))], of: store),
            ]
            let position = try testStore.write { try $0.save("a", in: zone).position }
            for (name, told) in waits {
                try expect(told.wait().position >= position, name)
            }
            // A commit of its own tells them, so that whatever was told before has come by now.
            try testStore.write { try $0.save("b", in: other) }
            _ = try asides[0].wait()
            try expect(asides[1].count + asides[2].count, is: 0)
            try expect(waits.allSatisfy { $0.told.count == 1 }, "told twice")
        },
        StoragePromise("People are told of shares given and taken, and of their first zone") {
            testStore in
            let zone = try testStore.makeZone()
            let share = try testStore.write { try Tree("t", in: zone, $0).share }
            let changes: [@Sendable (any StoreTransaction) throws -> Void] = [
                { try $0.grant(share, to: TestStore.user(2), permission: .readOnly) },
                { try $0.revoke(share.number, from: TestStore.user(2)) },
                {
                    _ = try $0.makeZone(
                        named: TestStore.zone("first"), ofOwnerNamed: TestStore.user(2))
                },
            ]
            for change in changes {
                let told = Told([.person(TestStore.user(2))], of: testStore.store)
                try testStore.write(change)
                _ = try told.wait()
            }
        },
        StoragePromise("No commit is missed between a look and the wait, and what is told is seen")
        {
            testStore in
            let zone = try testStore.makeZone()
            let store = testStore.store
            let rounds = 200
            let group = DispatchGroup()
            DispatchQueue(label: "conformance.notices").async(group: group) {
                for number in 0..<rounds {
                    // NB: a write that fails is missed by who counts them.
                    _ = try? store.writeAndWait { try $0.save("r\(number)", in: zone) }
                }
            }
            var seen = 0
            while seen < rounds {
                let mark = store.notices.mark
                let found = try testStore.feed(of: zone).count
                try expect(found >= seen)
                seen = found
                guard seen < rounds else { break }
                let notice = try Told([.zone(zone.number)], of: store, since: mark).wait()
                let last = try testStore.read { try $0.lastPosition() }
                try expect(last >= notice.position, "told of what cannot be seen")
            }
            try expect(group.wait(timeout: .now() + 60) == .success)
        },
        StoragePromise("A write that fails moves no place; one that is told of can be seen") {
            testStore in
            struct Refusal: Error {}
            let zone = try testStore.makeZone()
            let before = try testStore.read { try $0.lastPosition() }
            let told = Told([.zone(zone.number), .owner(zone.owner)], of: testStore.store)
            try expectFailure(Refusal.self) {
                try testStore.write { transaction in
                    try transaction.save("a", in: zone)
                    throw Refusal()
                }
            }
            // Another commit has told its waiters by now, had there been anything to tell.
            let aside = Told([.person(TestStore.user(7))], of: testStore.store)
            try testStore.write {
                _ = try $0.makeZone(named: TestStore.zone("z"), ofOwnerNamed: TestStore.user(7))
            }
            _ = try aside.wait()
            try expect(told.count, is: 0)
            try expect(testStore.read { try $0.lastPosition() } >= before)
            let writes = testStore.store.notices.writeCount
            let position = try testStore.write { try $0.save("a", in: zone).position }
            try expect(told.wait().position >= position)
            try expect(testStore.read { try $0.lastPosition() } >= position)
            try expect(testStore.store.notices.writeCount > writes)
        },
    ]
}
