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
        let former: [UInt8]?

        init(_ change: FollowedChange) {
            position = change.position
            kind = change.kind
            zone = change.zone
            name = change.name?.text
            body = change.version.map { Array($0.body) }
            former = change.former.map { Array($0.body) }
        }
    }

    private static func changes(
        of follower: FollowerName, limit: Int = 100, _ trial: Trial
    ) throws -> [Change] {
        try trial.read { snapshot in
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
            trial in
            let zone = try trial.makeZone()
            let own = try trial.makeZone("_defaultZone")
            let start = try trial.write { try $0.follow(as: one) }
            try expect(trial.read { try $0.position(of: one) }, is: start)
            try expect(trial.read { try $0.position(of: two) } == nil)
            let seen = try trial.write { transaction in
                let first = try transaction.save("a", in: zone).position
                let second = try transaction.save("b", in: own).position
                return [first, second, try transaction.writeTombstone("a", in: zone).position]
            }
            let made = try trial.makeZone("Third")
            try trial.write { try $0.deleteZone(made) }
            let found = try changes(of: one, trial)
            try expect(found.prefix(3).map(\.position), is: seen)
            try expect(
                found.map(\.kind), is: [.saved, .saved, .deleted, .zoneMade, .zoneDeleted])
            try expect(found.prefix(3).map(\.name), is: ["a", "b", "a"])
            try expect(found.map(\.zone).last, is: made.number)
            try expect(found.allSatisfy { $0.former == nil })
            try expect(changes(of: one, limit: 2, trial).map(\.position), is: Array(seen[..<2]))
        },
        StoragePromise("What a follower has not gone past stays, over a restart and a crash") {
            trial in
            let zone = try trial.makeZone()
            try trial.write { transaction in
                _ = try transaction.follow(as: one)
                _ = try transaction.follow(as: two)
            }
            let positions = try trial.write { transaction in
                try (0..<6).map { try transaction.save("r\($0)", in: zone).position }
            }
            try trial.write { try $0.advance(one, through: positions[5]) }
            try trial.write { try $0.advance(one, through: positions[0]) }
            try trial.write { try $0.advance(two, through: positions[1]) }
            try trial.reopen()
            try expect(changes(of: one, trial).isEmpty, "it went back")
            try expect(changes(of: two, trial).map(\.position), is: Array(positions[2...]))
            // Who follows already goes on where they are.
            try expect(trial.write { try $0.follow(as: two) }, is: positions[1])
            if try trial.crash() {
                try expect(changes(of: two, trial).map(\.position), is: Array(positions[2...]))
            }
        },
        StoragePromise("A former version is kept for exactly what somebody asked for") { trial in
            let near = try trial.makeZone("near")
            let far = try trial.makeZone("far")
            try trial.write { transaction in
                _ = try transaction.follow(as: one)
                try transaction.want([FormerWanted(.zone(near.number))], for: one)
                // Nobody who does not follow wants anything.
                try transaction.want([FormerWanted(.owner(far.owner))], for: two)
            }
            for zone in [near, far] {
                for body: UInt8 in [49, 50, 51] {
                    try trial.write { try $0.save("a", in: zone, body: [body]) }
                }
            }
            let found = try changes(of: one, trial)
            try expect(found.map(\.former), is: [nil, [49], [50], nil, nil, nil])
            try expect(found.prefix(3).map(\.body), is: [[49], [50], [51]])
            try trial.write { try $0.save("a", in: near) }
            try trial.write { try $0.save("a", in: far) }
        },
        StoragePromise(
            "A follower is told who made a change, by which device, and of what type it is"
        ) {
            trial in
            let zone = try trial.makeZone()
            let type = try require(trial.read { try $0.recordTypes()[Trial.type.text] })
            try trial.write { _ = try $0.follow(as: one) }
            let authors = [
                ChangeAuthor(user: Trial.user(1), device: "phone"),
                ChangeAuthor(user: Trial.user(2), device: nil), nil,
            ]
            for author in authors {
                try trial.write { transaction in
                    if let author { transaction.act(as: author) }
                    try transaction.save("a", in: zone)
                }
            }
            try trial.write { try $0.wantAlso(FormerWanted(.zone(zone.number)), for: one) }
            try trial.write { try $0.wantAlso(FormerWanted(.owner(zone.owner)), for: two) }
            try trial.write { try $0.writeTombstone("a", in: zone) }
            try trial.read { snapshot in
                var seen = 0
                _ = try snapshot.changes(after: 0, limit: .max) { change in
                    try expect(change.author == (seen < 3 ? authors[seen] : nil))
                    try expect(change.type == type && change.wasAlive == (seen > 0))
                    try expect((change.former != nil) == (seen == 3))
                    seen += 1
                    return true
                }
                try expect(seen, is: 4)
            }
        },
        StoragePromise("Who ends to follow is forgotten, and others keep what they need") { trial in
            let zone = try trial.makeZone()
            try trial.write { transaction in
                _ = try transaction.follow(as: one)
                _ = try transaction.follow(as: two)
                try transaction.save("a", in: zone)
            }
            try trial.write { try $0.unfollow(one) }
            try expect(trial.read { try $0.position(of: one) } == nil)
            try expect(changes(of: two, trial).count, is: 1)
            try trial.write { try $0.unfollow(two) }
            try trial.write { try $0.unfollow(two) }
            let start = try trial.write { try $0.follow(as: one) }
            try expect(start >= trial.read { try $0.lastPosition() } && start > 0)
            try expect(changes(of: one, trial).isEmpty)
        },
        StoragePromise("A follower that is too far behind is told that it must begin anew") {
            trial in
            let zone = try trial.makeZone()
            let changesMax = trial.place.followerChangesMax
            try trial.write { transaction in
                _ = try transaction.follow(as: one)
                _ = try transaction.follow(as: two)
                try transaction.want([FormerWanted(.zone(zone.number))], for: one)
            }
            func save(_ count: Int) throws -> Position {
                try trial.write { transaction in
                    var last: Position = 0
                    for number in 0..<count {
                        last = try transaction.save("r\(number % 10)", in: zone).position
                    }
                    return last
                }
            }
            let last = try save(changesMax)
            try expect(changes(of: one, limit: .max, trial).count, is: changesMax)
            try trial.write { try $0.advance(two, through: last) }
            let next = try save(1)
            func isTold(_ look: () throws -> Void) throws {
                try expectFailure(
                    FollowerFellBehind.self, where: { $0 == FollowerFellBehind(one) }, look)
            }
            try isTold { try trial.read { _ = try $0.position(of: one) } }
            try trial.reopen()
            try isTold { try trial.read { _ = try $0.position(of: one) } }
            try isTold { try trial.write { _ = try $0.follow(as: one) } }
            // Noting how far it came is of no use to it any more, and does no harm.
            try trial.write { try $0.advance(one, through: next) }
            try isTold { try trial.read { _ = try $0.position(of: one) } }
            try expect(changes(of: two, trial).map(\.position), is: [next])
            try trial.write { transaction in
                try transaction.unfollow(one)
                _ = try transaction.follow(as: one)
            }
            let seen = try save(1)
            try expect(changes(of: one, trial).map(\.position), is: [seen])
            try expect(changes(of: one, trial).map(\.former), is: [nil])
        },
    ]
}
