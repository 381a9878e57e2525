import CloudModel
import Dispatch
import Foundation
import SQLiteStorage
import Seeding
import Storage
import Synchronization
import Testing

@Suite("Commit notices")
struct CommitNoticeTests {
    private let server: NoticedStore
    private var notices: CommitNotices { server.notices }

    init() throws { server = try NoticedStore() }

    @Test("A waiter hears of its zone's commit and how far it went, and of no other zone's")
    func zone() throws {
        let (near, far) = (try server.zone("near"), try server.zone("far"))
        let moved = Moved()
        let watch = notices.watch([.zone(near.number)])
        watch.whenMoved(moved.wake)
        try server.put("r", "{}", in: far)
        try flush()
        #expect(!moved.hasCome)
        let position = try server.put("r", "{}", in: near)
        #expect(
            moved.wait() == CommitNotice(position: position, parts: [.zone(near.number)]))
        #expect(notices.waitCount == 0)
    }

    /// Returns when all that was told by now has arrived.
    private func flush() throws {
        let moved = Moved()
        notices.watch([.anything]).whenMoved(moved.wake)
        try server.put("flush", "{}", in: try server.zone("flush"))
        #expect(moved.wait() != nil)
    }

    @Test("A commit after the look is told, also when it comes before the watch")
    func between() throws {
        let zone = try server.zone("z")
        let mark = notices.mark
        try server.put("r", "{}", in: zone)
        let moved = Moved()
        notices.watch([.zone(zone.number)], since: mark).whenMoved(moved.wake)
        #expect(moved.wait() != nil)
    }

    @Test("A commit between the watch and the question is told at once")
    func early() throws {
        let zone = try server.zone("z")
        let watch = notices.watch([.zone(zone.number)])
        try server.put("r", "{}", in: zone)
        let moved = Moved()
        watch.whenMoved(moved.wake)
        #expect(moved.wait()?.parts == [.zone(zone.number)])
    }

    @Test("What somebody has at hand goes to one who waits and takes it, once")
    func hand() throws {
        let part = StorePart.destination(DestinationNumber(7))
        let taken = Mutex<[[UInt8]]>([])
        func notice(_ text: String) -> HandedNotice {
            HandedNotice(user: NoticedStore.owner, payload: Array(text.utf8)) { _ in }
        }
        #expect(!notices.takes(at: part))
        #expect(!notices.hand(notice("nobody waits"), at: part))
        let watch = notices.watch([part])
        #expect(!notices.takes(at: part))
        #expect(!notices.hand(notice("they still look"), at: part))
        watch.whenMoved({ _ in Issue.record("woken") }) { handed in
            taken.withLock { $0.append(handed.payload) }
            return true
        }
        #expect(!notices.hand(notice("elsewhere"), at: .destination(DestinationNumber(8))))
        #expect(notices.takes(at: part))
        #expect(notices.hand(notice("first"), at: part))
        #expect(!notices.takes(at: part))
        #expect(!notices.hand(notice("second"), at: part))
        #expect(taken.withLock { $0 } == [Array("first".utf8)])
        #expect(notices.waitCount == 0)
    }

    @Test("Nothing is handed on where one of those who wait only looks, or refuses")
    func refused() throws {
        let part = StorePart.destination(DestinationNumber(7))
        let handed = HandedNotice(user: NoticedStore.owner, payload: []) { _ in }
        let looking = notices.watch([part])
        looking.whenMoved { _ in }
        let taking = notices.watch([part])
        taking.whenMoved({ _ in }) { _ in true }
        #expect(!notices.hand(handed, at: part))
        looking.end()
        #expect(notices.hand(handed, at: part))
        notices.watch([part]).whenMoved({ _ in }) { _ in false }
        #expect(!notices.hand(handed, at: part))
        #expect(notices.waitCount == 0)
    }

    @Test("A write that fails or changes nothing moves no place, and an ended watch is not told")
    func nothing() throws {
        struct Refusal: Error {}
        let zone = try server.zone("z")
        let (moved, ended) = (Moved(), Moved())
        notices.watch([.zone(zone.number)]).whenMoved(moved.wake)
        #expect(throws: Refusal.self) {
            try server.store.writeAndWait { transaction in
                _ = try transaction.put(RecordName("r").required, "{}", in: zone)
                throw Refusal()
            }
        }
        try server.store.writeAndWait { _ in }
        try flush()
        #expect(!moved.hasCome)
        let watch = notices.watch([.zone(zone.number)])
        watch.whenMoved(ended.wake)
        watch.end()
        try server.put("r", "{}", in: zone)
        #expect(moved.wait() != nil)
        try flush()
        #expect(!ended.hasCome)
    }

    @Test("Zones that are made and deleted, new owners and shares move their places")
    func kinds() throws {
        let owner = try server.zone("first")
        try expectMove([.owner(owner.owner)]) { _ = try server.zone("second") }
        let second = try server.zone("second")
        try expectMove([.zone(second.number)]) {
            try server.store.writeAndWait { try $0.deleteZone(second) }
        }
        try expectMove([.person(NoticedStore.other)]) {
            _ = try server.zone("third", of: NoticedStore.other)
        }
        let share = try server.store.writeAndWait { transaction in
            let head = try transaction.head(of: RecordName("share").required, in: owner.number)
            return try transaction.makeShare(
                in: owner.number, record: head?.record ?? RecordNumber(1), root: nil,
                publicPermission: .none)
        }
        for change in [
            { try $0.grant(share, to: NoticedStore.other, permission: .readOnly) },
            { try $0.revoke(share.number, from: NoticedStore.other) },
        ] as [@Sendable (any StoreTransaction) throws -> Void] {
            try expectMove([.person(NoticedStore.other), .zone(owner.number)]) {
                try server.store.writeAndWait(change)
            }
        }
        try expectMove([.zone(owner.number)]) {
            try server.store.writeAndWait {
                try $0.enqueue(.cover(RecordNumber(1), in: owner.number))
                var turn = WorkTurn(WorkHolder(1), [.cover])
                if let work = try $0.takeWork(&turn) { try $0.finish(work) }
            }
        }
    }

    private func expectMove(_ parts: Set<StorePart>, _ change: () throws -> Void) throws {
        let moved = parts.map { part in
            let moved = Moved()
            notices.watch([part]).whenMoved(moved.wake)
            return moved
        }
        try change()
        for each in moved { #expect(each.wait() != nil) }
    }

    @Test("10,000 wait for zones of their own: a commit wakes those of its zones and nobody else")
    func many() throws {
        let zones = try (0..<100).map { try server.zone("z\($0)") }
        let arrived = DispatchSemaphore(value: 0)
        let counts = Counts(100)
        for index in 0..<10_000 {
            let zone = index % 100
            notices.watch([.zone(zones[zone].number), .person(NoticedStore.other)]).whenMoved { _ in
                counts.add(zone)
                arrived.signal()
            }
        }
        #expect(notices.waitCount == 20_000)
        try server.put("r", "{}", in: zones[7])
        for _ in 0..<100 { #expect(arrived.wait(timeout: .now() + 60) == .success) }
        try flush()
        #expect(counts.values == (0..<100).map { $0 == 7 ? 100 : 0 })
        notices.wakeAll()
        for _ in 0..<9_900 { #expect(arrived.wait(timeout: .now() + 60) == .success) }
        #expect(counts.values == [Int](repeating: 100, count: 100))
        #expect(notices.waitCount == 0)
    }

    private final class Counts: Sendable {
        private let stored: Mutex<[Int]>

        init(_ count: Int) { stored = Mutex([Int](repeating: 0, count: count)) }

        var values: [Int] { stored.withLock { $0 } }
        func add(_ index: Int) { stored.withLock { $0[index] += 1 } }
    }

    @Test("No waiter misses the last change of its zone, whoever commits what and when")
    func random() throws {
        var seeds = SeededRandom("notices")
        let zones = try (0..<5).map { try server.zone("z\($0)") }
        let (changes, seed) = (150, seeds.next())
        let store = server.store
        let waiters = DispatchGroup()
        let missed = Counts(zones.count * 4)
        for waiter in 0..<zones.count * 4 {
            Thread.run(in: waiters) {
                var random = SeededRandom(seed: seed, stream: waiter)
                let zone = zones[waiter % zones.count]
                let sees = Waiter(store, zone, looksFirst: waiter.isMultiple(of: 2))
                if !sees.through(changes, &random) { missed.add(waiter) }
            }
        }
        let writers = DispatchGroup()
        for (index, zone) in zones.enumerated() {
            Thread.run(in: writers) {
                var random = SeededRandom(seed: seed, stream: 100 + index)
                for change in 1...changes {
                    let done = DispatchSemaphore(value: 0)
                    let waits = random.happens(70)
                    store.write(WriteLoad()) {
                        _ = try $0.put(RecordName("count").required, "\(change)", in: zone)
                    } completion: { _ in
                        done.signal()
                    }
                    if waits { _ = done.wait(timeout: .now() + 60) }
                }
            }
        }
        for group in [writers, waiters] {
            try #require(group.wait(timeout: .now() + 600) == .success)
        }
        #expect(missed.values.allSatisfy { $0 == 0 })
    }

    /// Looks at the count in a zone until it has come to its end, and waits in between.
    private struct Waiter {
        let store: SQLiteStore
        let zone: StoredZone
        let looksFirst: Bool

        init(_ store: SQLiteStore, _ zone: StoredZone, looksFirst: Bool) {
            self.store = store
            self.zone = zone
            self.looksFirst = looksFirst
        }

        /// - Returns: false when it waited for what had come already.
        func through(_ last: Int, _ random: inout SeededRandom) -> Bool {
            var seen = -1
            while seen < last {
                let mark = store.notices.mark
                let before = looksFirst ? nil : store.notices.watch([.zone(zone.number)])
                guard let count = try? look() else { return false }
                if count != seen {
                    seen = count
                    before?.end()
                    continue
                }
                if random.happens(30) { sched_yield() }
                let watch = before ?? store.notices.watch([.zone(zone.number)], since: mark)
                let moved = Moved()
                watch.whenMoved(moved.wake)
                if moved.wait() == nil { return false }
            }
            return true
        }

        private func look() throws -> Int {
            try store.read { snapshot in
                guard
                    let head = try snapshot.head(of: RecordName("count").required, in: zone.number)
                else { return 0 }
                return try snapshot.version(at: head.position, in: zone.number) {
                    Int(String(decoding: $0.body, as: UTF8.self)) ?? 0
                } ?? 0
            }
        }
    }
}
