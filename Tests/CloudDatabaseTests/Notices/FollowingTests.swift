import CloudDatabase
import CloudModel
import Dispatch
import Foundation
import SQLiteStorage
import Seeding
import Storage
import Synchronization
import Testing

@Suite("Following all changes of a store")
struct FollowingTests {
    private static let name = FollowerName("test")

    private let server: NoticedStore

    init() throws { server = try NoticedStore() }

    /// What a follower was shown of one change.
    private struct Seen: Equatable, Sendable {
        let position: Position
        let kind: ChangeKind
        let zone: ZoneNumber
        var name: String?
        var body: String?
        var previous: String?
        var person: UserRecordName?

        init(_ change: FollowedChange) {
            position = change.position
            kind = change.kind
            zone = change.zone
            name = change.name?.text
            body = change.version.map { String(decoding: $0.body, as: UTF8.self) }
            previous = change.previous.map { String(decoding: $0.body, as: UTF8.self) }
            person = change.person
        }
    }

    private func follower(changesPerPage: Int = 256) -> ChangeFollower {
        ChangeFollower(server.store, as: Self.name, changesPerPage: changesPerPage)
    }

    /// All that there is to see now.
    private func rest(changesPerPage: Int = 256) throws -> [Seen] {
        let follower = follower(changesPerPage: changesPerPage)
        var seen: [Seen] = []
        while try follower.takePage({ change, _ in seen.append(Seen(change)) }) == nil {}
        return seen
    }

    private func noted() throws -> Int {
        var count = 0
        _ = try server.store.read { snapshot in
            try snapshot.changes(after: 0, limit: .max) { _ in
                count += 1
                return true
            }
        }
        return count
    }

    @Test("While nobody follows nothing is noted, and what nobody needs any more is forgotten")
    func nobody() throws {
        let zone = try server.zone("z")
        for index in 0..<5 { try server.put("r\(index)", "{}", in: zone) }
        #expect(try noted() == 0)
        let follower = follower()
        try follower.begin()
        #expect(try rest().isEmpty)
        for index in 0..<5 { try server.put("s\(index)", "{}", in: zone) }
        #expect(try noted() == 5)
        #expect(try rest().map(\.name) == (0..<5).map { "s\($0)" })
        #expect(try noted() == 0)
        try server.put("t", "{}", in: zone)
        try follower.end()
        #expect(try noted() == 0)
        try server.put("u", "{}", in: zone)
        #expect(try noted() == 0)
    }

    @Test("Every kind of change is there: of the public database, default zones, shares and zones")
    func kinds() throws {
        try follower().begin()
        let open = try server.zone("_defaultZone", of: nil)
        let own = try server.zone("_defaultZone")
        let zone = try server.zone("z")
        try server.put("a", "1", in: open)
        try server.put("b", "2", in: own)
        try server.put("c", "3", in: zone)
        try server.put("c", nil, in: zone)
        let store = server.store
        let share = try store.writeAndWait {
            try $0.makeShare(
                in: zone.number, record: RecordNumber(1), root: nil, publicPermission: .none)
        }
        try store.writeAndWait {
            try $0.grant(share, to: NoticedStore.other, permission: .readOnly)
            try $0.revoke(share.number, from: NoticedStore.other)
            try $0.endShare(share.number)
            try $0.deleteZone(zone)
        }
        let seen = try rest()
        #expect(
            seen.map(\.kind) == [
                .zoneMade, .zoneMade, .zoneMade, .saved, .saved, .saved, .deleted, .sight, .sight,
                .shareEnded, .zoneDeleted,
            ])
        #expect(seen.map(\.position) == seen.map(\.position).sorted())
        #expect(seen[3].zone == open.number)
        #expect(seen[4].zone == own.number)
        #expect(seen[3...6].map(\.name) == ["a", "b", "c", "c"])
        // The record's tombstone has taken the place of what was saved, and nobody asked to keep that.
        #expect(seen[3...6].map(\.body) == ["1", "2", nil, "{}"])
        #expect(seen[7...8].map(\.person) == [NoticedStore.other, NoticedStore.other])
    }

    @Test("The order is that in which changes were committed, whoever writes")
    func order() throws {
        var seeds = SeededRandom("following")
        let pageSize = 1 + seeds.below(40)
        let zones = try [
            server.zone("_defaultZone", of: nil), server.zone("_defaultZone"), server.zone("z"),
            server.zone("_defaultZone", of: NoticedStore.other),
        ]
        try follower().begin()
        let (store, seed) = (server.store, seeds.next())
        let log = Log()
        let writers = DispatchGroup()
        for writer in 0..<8 {
            Thread.run(in: writers) {
                var random = SeededRandom(seed: seed, stream: writer)
                for _ in 0..<60 {
                    let zone = random.one(of: zones)
                    let names = (0...random.below(3)).map { _ in "r\(random.below(30))" }
                    let isDeletion = random.happens(20)
                    let positions = try? store.writeAndWait { transaction in
                        try names.map {
                            try transaction.put(
                                RecordName($0).required, isDeletion ? nil : "{}", in: zone)
                        }
                    }
                    for (position, name) in zip(positions ?? [], names) {
                        log.add(position, zone.number, name)
                    }
                }
            }
        }
        var seen: [Seen] = []
        // It reads while they write, and the rest afterwards.
        while writers.wait(timeout: .now()) == .timedOut {
            seen += try rest(changesPerPage: pageSize)
        }
        seen += try rest(changesPerPage: pageSize)
        let expected = log.entries.sorted { $0.position < $1.position }
        #expect(seen.count == expected.count)
        #expect(seen.map(\.position) == expected.map(\.position))
        #expect(seen.map(\.zone) == expected.map(\.zone))
        #expect(seen.map(\.name) == expected.map(\.name))
    }

    private final class Log: Sendable {
        typealias Entry = (position: Position, zone: ZoneNumber, name: String)
        private let stored: Mutex<[Entry]>

        init() { stored = Mutex([]) }

        var entries: [Entry] { stored.withLock { $0 } }

        func add(_ position: Position, _ zone: ZoneNumber, _ name: String) {
            stored.withLock { $0.append((position, zone, name)) }
        }
    }

    @Test("A follower that ends in the middle goes on at the page that it had not noted")
    func restart() throws {
        struct Crash: Error {}
        var random = SeededRandom("following restarts")
        let zone = try server.zone("z")
        try follower().begin()
        var expected: [Position] = []
        var seen: [Position] = []
        for round in 0..<40 {
            for _ in 0...random.below(6) {
                expected.append(try server.put("r\(random.below(9))", "\(round)", in: zone))
            }
            let until = random.below(12)
            var count = 0
            do {
                while try follower(changesPerPage: 1 + round % 5).takePage({ change, _ in
                    if count == until { throw Crash() }
                    count += 1
                    seen.append(change.position)
                }) == nil {}
            } catch is Crash {
                if random.happens(50) { try server.reopen() }
            }
        }
        seen += try rest().map(\.position)
        #expect(Set(seen) == Set(expected))
        // What came again came at once: taken once each, they are in order.
        var known: Set<Position> = []
        #expect(seen.filter { known.insert($0).inserted } == expected)
    }

    @Test("A former version is there for exactly what was asked")
    func previous() throws {
        let near = try server.zone("near")
        let far = try server.zone("far")
        let others = try server.zone("z", of: NoticedStore.other)
        try follower().begin(wanting: [
            PreviousVersionNeed(.zone(near.number), type: 1),
            PreviousVersionNeed(.owner(NoticedStore.other)),
        ])
        for (zone, type) in [(near, 1), (near, 2), (far, 1), (others, 5)] as [(StoredZone, Int64)] {
            for body in ["1", "2", nil, "3", "4"] {
                try server.put("r\(type)", body, in: zone, type: type)
            }
        }
        let seen = try rest()
        let asked = ["1", "2", nil, "3"]
        // The first is new and the one after the deletion too: there was nothing alive before.
        let kept: [String?] = [nil, asked[0], asked[1], nil, asked[3]]
        let none = [String?](repeating: nil, count: 5)
        #expect(seen.map(\.previous) == kept + none + none + kept)
        // So what a later change has replaced can still be read, but for the tombstone, which no version is.
        let replaced: [String?] = ["1", "2", nil, "3", "4"]
        let last: [String?] = [nil, nil, nil, nil, "4"]
        #expect(seen.map(\.body) == replaced + last + last + replaced)
        // Nothing of it is wanted any more.
        try follower().begin()
        try server.put("r1", "5", in: near)
        #expect(try rest().map(\.previous) == [nil])
    }

    @Test("A write that fails leaves no change, and one that is run again leaves it once")
    func failures() throws {
        struct Refusal: Error {}
        let zone = try server.zone("z")
        try follower().begin(wanting: [PreviousVersionNeed(.zone(zone.number))])
        let store = server.store
        let group = DispatchGroup()
        // Together in few groups, so that those that fail have the others run again.
        for index in 0..<50 {
            group.enter()
            store.write(WriteLoad()) { transaction in
                _ = try transaction.put(RecordName("r").required, "\(index)", in: zone)
                if index % 5 == 0 { throw Refusal() }
            } completion: { _ in
                group.leave()
            }
        }
        try #require(group.wait(timeout: .now() + 60) == .success)
        let bodies = (0..<50).filter { $0 % 5 != 0 }.map { "\($0)" }
        let seen = try rest()
        #expect(seen.map(\.body) == bodies)
        #expect(seen.map(\.previous) == [nil] + bodies.dropLast())
    }

    @Test("Two follow at their own pace, and what one has not seen stays")
    func two() throws {
        let zone = try server.zone("z")
        let slow = ChangeFollower(server.store, as: FollowerName("slow"), changesPerPage: 2)
        try slow.begin()
        try follower().begin()
        for index in 0..<6 { try server.put("r\(index)", "{}", in: zone) }
        #expect(try rest().count == 6)
        #expect(try noted() == 6)
        var names: [String?] = []
        _ = try slow.takePage { change, _ in names.append(change.name?.text) }
        #expect(names == ["r0", "r1"])
        #expect(try noted() == 4)
        try slow.end()
        #expect(try noted() == 0)
    }

    @Test("Who has seen all waits for whatever comes next")
    func waits() throws {
        let zone = try server.zone("z")
        try follower().begin()
        let mark = try #require(try follower().takePage { _, _ in })
        let moved = Moved()
        server.notices.watch([.anything], since: mark).whenMoved(moved.wake)
        let position = try server.put("r", "{}", in: zone)
        #expect(moved.wait()?.position == position)
        #expect(try rest().map(\.position) == [position])
    }
}
