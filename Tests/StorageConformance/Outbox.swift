import CloudModel
import Storage

// What waits to be sent, and what was given up.
extension StoragePromise {
    /// Destinations for notices, one for each user of some numbers.
    private static func destinations(
        _ users: ClosedRange<Int>, _ trial: Trial
    ) throws -> [DestinationNumber] {
        try trial.write { transaction in
            try users.map { user in
                try transaction.register(
                    NewDestination(
                        kind: .apns, key: [UInt8(truncatingIfNeeded: user)],
                        user: Trial.user(user)))
            }
        }
    }

    private static func notice(
        _ identifier: String, to destination: DestinationNumber, in scope: DatabaseScope = .private,
        mergeKey: [UInt8]? = nil
    ) -> NewNotice {
        NewNotice(
            destination: destination, identifier: identifier, scope: scope, mergeKey: mergeKey,
            payload: Array("\"\(identifier)\"".utf8))
    }

    /// Puts notices into the outbox, each in a transaction of its own.
    ///
    /// - Returns: how many waited for the destination of each, counted up to 3.
    @discardableResult
    private static func enqueue(_ notices: [NewNotice], _ trial: Trial) throws -> [Int] {
        try notices.map { notice in
            try trial.write { try $0.enqueue(notice, countedMax: 3) }
        }
    }

    private static func waiting(
        for destination: DestinationNumber, after number: NoticeNumber = NoticeNumber(0),
        limit: Int = 100, _ trial: Trial
    ) throws -> [StoredNotice] {
        try trial.read { try $0.notices(for: destination, after: number, limit: limit) }
    }

    private static func dead(
        of destination: DestinationNumber, after number: NoticeNumber = NoticeNumber(0),
        limit: Int = 100, _ trial: Trial
    ) throws -> [DeadLetter] {
        try trial.read { try $0.deadLetters(of: destination, after: number, limit: limit) }
    }

    static let outbox = [
        StoragePromise("A notice waits as it was given, in its turn, over a restart and a crash") {
            trial in
            let zone = try trial.makeZone()
            let numbers = try destinations(1...2, trial)
            let whole = NewNotice(
                destination: numbers[0], identifier: "é", scope: .shared,
                ground: NoticeGround(zone: zone.number, type: 5, isOwn: true), mergeKey: [1, 0],
                collapseID: "c", payload: [0, 255, 34])
            let plain = notice("plain", to: numbers[0], in: .public)
            try expect(trial.read { try $0.outboxState().oldest } == nil)
            let first = trial.clock.now
            try enqueue([whole, notice("other", to: numbers[1])], trial)
            trial.clock.advance(10)
            try enqueue([plain], trial)
            try trial.reopen()
            let found = try waiting(for: numbers[0], trial)
            try expect(found.count == 2 && found[0].number < found[1].number)
            for (stored, given, made) in [(found[0], whole, first), (found[1], plain, first + 10)] {
                try expect(
                    stored
                        == StoredNotice(
                            number: stored.number, destination: numbers[0],
                            identifier: given.identifier, scope: given.scope,
                            ground: given.ground, collapseID: given.collapseID,
                            payload: given.payload, madeAt: made))
            }
            try expect(waiting(for: numbers[0], limit: 1, trial) == [found[0]])
            try expect(waiting(for: numbers[0], after: found[0].number, trial) == [found[1]])
            let state = try trial.read { try $0.outboxState() }
            try expect(state.count == 3 && state.oldest == first)
            if try trial.crash() { try expect(waiting(for: numbers[0], trial) == found) }
        },
        StoragePromise("A notice takes the place of one with its key that still waits") { trial in
            let numbers = try destinations(1...2, trial)
            let counts = try enqueue(
                [
                    notice("a", to: numbers[0], mergeKey: [1]),
                    notice("b", to: numbers[0], in: .public),
                    notice("c", to: numbers[1], mergeKey: [1]),
                    notice("d", to: numbers[0], mergeKey: [1, 0]),
                    notice("e", to: numbers[0], in: .shared, mergeKey: [1]),
                    notice("f", to: numbers[0]), notice("g", to: numbers[0]),
                ], trial)
            try expect(counts, is: [1, 2, 1, 3, 3, 3, 3])
            try expect(
                waiting(for: numbers[0], trial).map(\.identifier), is: ["b", "d", "e", "f", "g"])
            try expect(waiting(for: numbers[1], trial).map(\.identifier), is: ["c"])
            try expect(
                trial.write { Set(try $0.waitingScopes(for: numbers[0])) },
                is: [.public, .private, .shared])
            try expect(trial.write { try $0.waitingScopes(for: numbers[1]) }, is: [.private])
        },
        StoragePromise("What was sent goes, and no number comes again") { trial in
            let numbers = try destinations(1...2, trial)
            try enqueue(
                (0..<5).map { notice("n\($0)", to: numbers[0]) } + [notice("o", to: numbers[1])],
                trial)
            let found = try waiting(for: numbers[0], trial)
            try trial.write { transaction in
                try transaction.removeNotices([found[3].number, found[3].number])
                try transaction.removeNotices(for: numbers[0], through: found[1].number)
            }
            try expect(waiting(for: numbers[0], trial) == [found[2], found[4]])
            try expect(waiting(for: numbers[1], trial).count, is: 1)
            try trial.write { transaction in
                try transaction.removeNotices(for: numbers[0], through: found[4].number)
                try transaction.removeNotices(for: numbers[1], through: NoticeNumber(.max))
            }
            try expect(trial.read { try $0.outboxState().count }, is: 0)
            try enqueue([notice("new", to: numbers[0])], trial)
            try expect(try require(waiting(for: numbers[0], trial).first).number > found[4].number)
        },
        StoragePromise("What was given up is kept to a number, and can be sent after all") {
            trial in
            let numbers = try destinations(1...2, trial)
            let zone = try trial.makeZone()
            let ground = NoticeGround(zone: zone.number, type: 5, isOwn: true)
            var grounded = notice("n2", to: numbers[0], in: .shared)
            (grounded.ground, grounded.collapseID) = (ground, "c")
            let others = [0, 1, 3, 4].map { notice("n\($0)", to: numbers[0]) }
            try enqueue(others[..<2] + [grounded] + others[2...], trial)
            try enqueue([notice("other", to: numbers[1])], trial)
            let found = try waiting(for: numbers[0], trial)
            let other = try require(waiting(for: numbers[1], trial).first)
            let died = trial.clock.now
            try trial.write { transaction in
                try transaction.giveUp(other.number, reason: "gone", keptMax: 1)
                for one in found[..<4] {
                    try transaction.giveUp(one.number, reason: "why \(one.identifier)", keptMax: 3)
                }
            }
            try expect(waiting(for: numbers[0], trial) == [found[4]])
            try trial.reopen()
            let letters = found[1..<4].map {
                DeadLetter(notice: $0, reason: "why \($0.identifier)", diedAt: died)
            }
            try expect(dead(of: numbers[0], trial) == letters)
            try expect(dead(of: numbers[0], limit: 1, trial) == [letters[0]])
            try expect(dead(of: numbers[0], after: found[1].number, trial) == Array(letters[1...]))
            try expect(dead(of: numbers[1], trial).map(\.reason), is: ["gone"])

            try expect(
                trial.write { try $0.replayDeadLetters(of: numbers[0], limit: 2) }, is: 2)
            try expect(dead(of: numbers[0], trial) == [letters[2]])
            let again = try waiting(for: numbers[0], trial)
            try expect(again.map(\.identifier), is: ["n4", "n1", "n2"])
            try expect(again[2].ground == ground && again[2].collapseID == "c")
            try expect(again[2].payload == grounded.payload && again[2].scope == .shared)
            try trial.write { try $0.removeDestination(numbers[0]) }
            try expect(dead(of: numbers[0], trial).isEmpty)
            try expect(dead(of: numbers[1], trial).count, is: 1)
        },
    ]
}
