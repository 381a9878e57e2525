import CloudModel
import Storage

// Who follows all changes of a store.
extension StoragePromise {
    private static let one = FollowerName("one")
    private static let two = FollowerName("two")

    /// A change as promises compare it.
    private struct Change: Equatable {
        let position: Position
        let kind: ChangeKind
        let zone: ZoneNumber
        let name: String?
        let body: [UInt8]?
        let previous: [UInt8]?

        init(_ change: FollowedChange) {
            position = change.position
            kind = change.kind
            zone = change.zone
            name = change.name?.text
            body = change.version.map { Array($0.body) }
            previous = change.previous.map { Array($0.body) }
        }
    }

    private static func changes(
        of follower: FollowerName, limit: Int = 100, _ testStore: TestStore
    ) throws -> [Change] {
        try testStore.read { snapshot in
            let position = try require(snapshot.position(of: follower))
            var found: [Change] = []
            let last = try snapshot.changes(after: position, limit: limit) {
                found.append(Change($0))
                return true
            }
            try expect(last, is: found.last?.position)
            return found
        }
    }

    static let followers = [
        StoragePromise("A follower sees every change of every zone, in the order of commits") {
            testStore in
            let zone = try testStore.makeZone()
            let own = try testStore.makeZone("_defaultZone")
            let start = try testStore.write { try $0.follow(as: one) }
            try expect(testStore.read { try $0.position(of: one) }, is: start)
            try expect(testStore.read { try $0.position(of: two) } == nil)
            let seen = try testStore.write { transaction in
                let first = try transaction.save("a", in: zone).position
                let second = try transaction.save("b", in: own).position
                return [first, second, try transaction.writeTombstone("a", in: zone).position]
            }
            let made = try testStore.makeZone("Third")
            try testStore.write { try $0.deleteZone(made) }
            let found = try changes(of: one, testStore)
            try expect(found.prefix(3).map(\.position), is: seen)
            try expect(
                found.map(\.kind), is: [.saved, .saved, .deleted, .zoneMade, .zoneDeleted])
            try expect(found.prefix(3).map(\.name), is: ["a", "b", "a"])
            try expect(found.map(\.zone).last, is: made.number)
            try expect(found.allSatisfy { $0.previous == nil })
            try expect(changes(of: one, limit: 2, testStore).map(\.position), is: Array(seen[..<2]))
        },
        StoragePromise("What a follower has not gone past stays, over a restart and a crash") {
            testStore in
            let zone = try testStore.makeZone()
            try testStore.write { transaction in
                _ = try transaction.follow(as: one)
                _ = try transaction.follow(as: two)
            }
            let positions = try testStore.write { transaction in
                try (0..<6).map { try transaction.save("r\($0)", in: zone).position }
            }
            try testStore.write { try $0.advance(one, through: positions[5]) }
            try testStore.write { try $0.advance(one, through: positions[0]) }
            try testStore.write { try $0.advance(two, through: positions[1]) }
            try testStore.reopen()
            try expect(changes(of: one, testStore).isEmpty, "it went back")
            try expect(changes(of: two, testStore).map(\.position), is: Array(positions[2...]))
            // Who follows already goes on where they are.
            try expect(testStore.write { try $0.follow(as: two) }, is: positions[1])
            if try testStore.crash() {
                try expect(changes(of: two, testStore).map(\.position), is: Array(positions[2...]))
            }
        },
        StoragePromise("A former version is kept for exactly what somebody asked for") {
            testStore in
            let near = try testStore.makeZone("near")
            let far = try testStore.makeZone("far")
            try testStore.write { transaction in
                try transaction.follow(
                    as: one, wanting: [PreviousVersionNeed(.zone(near.number))], alone: true)
            }
            for zone in [near, far] {
                for body: UInt8 in [49, 50, 51] {
                    try testStore.write { try $0.save("a", in: zone, body: [body]) }
                }
            }
            let found = try changes(of: one, testStore)
            try expect(found.map(\.previous), is: [nil, [49], [50], nil, nil, nil])
            try expect(found.prefix(3).map(\.body), is: [[49], [50], [51]])
            try testStore.write { try $0.save("a", in: near) }
            try testStore.write { try $0.save("a", in: far) }
        },
        StoragePromise(
            "A follower is told who made a change, by which device, and of what type it is"
        ) {
            testStore in
            let zone = try testStore.makeZone()
            let type = try require(testStore.read { try $0.schema.number(of: TestStore.type) })
            try testStore.write { _ = try $0.follow(as: one) }
            let authors = [
                ChangeAuthor(user: TestStore.user(1), device: "phone", trace: "00-1-2-01"),
                ChangeAuthor(user: TestStore.user(2), device: nil), nil,
            ]
            for author in authors {
                _ = try testStore.store.writeAndWait(author: author) { try $0.save("a", in: zone) }
            }
            let need = PreviousVersionNeed(.zone(zone.number))
            try testStore.write { try $0.follow(as: one, wanting: [need], alone: false) }
            try testStore.write { try $0.writeTombstone("a", in: zone) }
            try testStore.read { snapshot in
                var seen = 0
                _ = try snapshot.changes(after: 0, limit: .max) { change in
                    try expect(change.author == (seen < 3 ? authors[seen] : nil))
                    try expect(change.type == type && change.wasAlive == (seen > 0))
                    try expect((change.previous != nil) == (seen == 3))
                    seen += 1
                    return true
                }
                try expect(seen, is: 4)
            }
        },
        StoragePromise("Who ends to follow is forgotten, and others keep what they need") {
            testStore in
            let zone = try testStore.makeZone()
            try testStore.write { transaction in
                _ = try transaction.follow(as: one)
                _ = try transaction.follow(as: two)
                try transaction.save("a", in: zone)
            }
            try testStore.write { try $0.unfollow(one) }
            try expect(testStore.read { try $0.position(of: one) } == nil)
            try expect(changes(of: two, testStore).count, is: 1)
            try testStore.write { try $0.unfollow(two) }
            try testStore.write { try $0.unfollow(two) }
            let start = try testStore.write { try $0.follow(as: one) }
            try expect(start >= testStore.read { try $0.lastPosition() } && start > 0)
            try expect(changes(of: one, testStore).isEmpty)
        },
        StoragePromise("A follower that is too far behind is told that it must begin anew") {
            testStore in
            let zone = try testStore.makeZone()
            let changesMax = testStore.location.followerChangesMax
            try testStore.write { transaction in
                _ = try transaction.follow(as: one)
                _ = try transaction.follow(as: two)
                try transaction.follow(
                    as: one, wanting: [PreviousVersionNeed(.zone(zone.number))], alone: true)
            }
            func save(_ count: Int) throws -> Position {
                try testStore.write { transaction in
                    var last: Position = 0
                    for number in 0..<count {
                        last = try transaction.save("r\(number % 10)", in: zone).position
                    }
                    return last
                }
            }
            let last = try save(changesMax)
            try expect(changes(of: one, limit: .max, testStore).count, is: changesMax)
            try testStore.write { try $0.advance(two, through: last) }
            let next = try save(1)
            func isTold(_ look: () throws -> Void) throws {
                try expectFailure(
                    FollowerFellBehind.self, where: { $0 == FollowerFellBehind(one) }, look)
            }
            try isTold { try testStore.read { _ = try $0.position(of: one) } }
            try testStore.reopen()
            try isTold { try testStore.read { _ = try $0.position(of: one) } }
            try isTold { try testStore.write { _ = try $0.follow(as: one) } }
            // Noting how far it came is of no use to it any more, and does no harm.
            try testStore.write { try $0.advance(one, through: next) }
            try isTold { try testStore.read { _ = try $0.position(of: one) } }
            try expect(changes(of: two, testStore).map(\.position), is: [next])
            try testStore.write { transaction in
                try transaction.unfollow(one)
                _ = try transaction.follow(as: one)
            }
            let seen = try save(1)
            try expect(changes(of: one, testStore).map(\.position), is: [seen])
            try expect(changes(of: one, testStore).map(\.previous), is: [nil])
        },
    ]
}
