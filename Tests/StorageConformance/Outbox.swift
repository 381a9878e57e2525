import CloudModel
import Storage

// What waits to be sent, and what was given up.
extension StoragePromise {
    /// Destinations for notices, one for each user of some numbers.
    private static func destinations(
        _ users: ClosedRange<Int>, _ testStore: TestStore
    ) throws -> [DestinationNumber] {
        try testStore.write { transaction in
            try users.map { user in
                try transaction.register(
                    NewDestination(
                        kind: .apns, key: [UInt8(truncatingIfNeeded: user)],
                        user: TestStore.user(user)))
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
    private static func enqueue(_ notices: [NewNotice], _ testStore: TestStore) throws -> [Int] {
        try notices.map { notice in
            try testStore.write { try $0.enqueue(notice, countedMax: 3) }
        }
    }

    private static func waiting(
        for destination: DestinationNumber, after number: NoticeNumber = NoticeNumber(0),
        limit: Int = 100, _ testStore: TestStore
    ) throws -> [StoredNotice] {
        try testStore.read { try $0.notices(for: destination, after: number, limit: limit) }
    }

    private static func summary(
        _ destination: DestinationNumber?, of state: NoticeState = .waiting, max: Int = 100,
        _ testStore: TestStore
    ) throws -> NoticeSummary {
        let found = try testStore.read {
            try $0.noticeSummaries(state, for: destination.map { [$0] }, countedMax: max)
        }
        try expect(found.count, is: 1)
        return found[0]
    }

    private static func dead(
        of destination: DestinationNumber, after number: NoticeNumber = NoticeNumber(0),
        limit: Int = 100, _ testStore: TestStore
    ) throws -> [StoredNotice] {
        try testStore.read {
            try $0.notices(.dead(destination), after: number, limit: limit)
        }
    }

    static let outbox = [
        StoragePromise("A notice waits as it was given, in its turn, over a restart and a crash") {
            testStore in
            let zone = try testStore.makeZone()
            let numbers = try destinations(1...2, testStore)
            let whole = NewNotice(
                destination: numbers[0], identifier: "é", scope: .shared,
                condition: NoticeCondition(zone: zone.number, type: 5, isOwn: true),
                mergeKey: [1, 0],
                collapseID: "c", payload: [0, 255, 34], trace: "00-1-2-01")
            let plain = notice("plain", to: numbers[0], in: .public)
            let first = testStore.clock.now
            try enqueue([whole, notice("other", to: numbers[1])], testStore)
            testStore.clock.advance(10)
            try enqueue([plain], testStore)
            try testStore.reopen()
            let found = try waiting(for: numbers[0], testStore)
            try expect(found.count == 2 && found[0].number < found[1].number)
            for (stored, given, made) in [(found[0], whole, first), (found[1], plain, first + 10)] {
                try expect(
                    stored
                        == StoredNotice(
                            number: stored.number, destination: numbers[0],
                            identifier: given.identifier, scope: given.scope,
                            condition: given.condition, collapseID: given.collapseID,
                            payload: given.payload, madeAt: made, trace: given.trace))
            }
            try expect(waiting(for: numbers[0], limit: 1, testStore) == [found[0]])
            try expect(waiting(for: numbers[0], after: found[0].number, testStore) == [found[1]])
            try expect(waiting(for: numbers[1], testStore).count, is: 1)
            let all = try summary(nil, testStore)
            try expect(all, is: NoticeSummary(count: 3, oldest: first, lastEnd: nil))
            try expect(
                summary(numbers[0], max: 1, testStore),
                is: NoticeSummary(count: 1, oldest: first, lastEnd: nil))
            if try testStore.crash() { try expect(waiting(for: numbers[0], testStore) == found) }
        },
        StoragePromise("A notice takes the place of one with its key that still waits") {
            testStore in
            let numbers = try destinations(1...2, testStore)
            let counts = try enqueue(
                [
                    notice("a", to: numbers[0], mergeKey: [1]),
                    notice("b", to: numbers[0], in: .public),
                    notice("c", to: numbers[1], mergeKey: [1]),
                    notice("d", to: numbers[0], mergeKey: [1, 0]),
                    notice("e", to: numbers[0], in: .shared, mergeKey: [1]),
                    notice("f", to: numbers[0]), notice("g", to: numbers[0]),
                ], testStore)
            try expect(counts, is: [1, 2, 1, 3, 3, 3, 3])
            try expect(
                waiting(for: numbers[0], testStore).map(\.identifier),
                is: ["b", "d", "e", "f", "g"])
            try expect(waiting(for: numbers[1], testStore).map(\.identifier), is: ["c"])
            try expect(
                Set(waiting(for: numbers[0], testStore).map(\.scope)),
                is: [.public, .private, .shared])
        },
        StoragePromise("What was sent goes, and no number comes again") { testStore in
            let numbers = try destinations(1...2, testStore)
            try enqueue(
                (0..<5).map { notice("n\($0)", to: numbers[0]) } + [notice("o", to: numbers[1])],
                testStore)
            let found = try waiting(for: numbers[0], testStore)
            try testStore.write { transaction in
                try transaction.removeNotices([found[3].number, found[3].number])
                try transaction.removeNotices(for: numbers[0], through: found[1].number)
            }
            try expect(waiting(for: numbers[0], testStore) == [found[2], found[4]])
            try expect(waiting(for: numbers[1], testStore).count, is: 1)
            try testStore.write { transaction in
                try transaction.removeNotices(for: numbers[0], through: found[4].number)
                try transaction.removeNotices(for: numbers[1], through: NoticeNumber(.max))
            }
            for number in numbers { try expect(waiting(for: number, testStore).isEmpty) }
            try expect(
                summary(nil, testStore), is: NoticeSummary(count: 0, oldest: nil, lastEnd: nil))
            try enqueue([notice("new", to: numbers[0])], testStore)
            try expect(
                try require(waiting(for: numbers[0], testStore).first).number > found[4].number)
        },
        StoragePromise("What was given up is kept to a number, and can be sent after all") {
            testStore in
            let numbers = try destinations(1...2, testStore)
            let zone = try testStore.makeZone()
            let condition = NoticeCondition(zone: zone.number, type: 5, isOwn: true)
            var grounded = notice("n2", to: numbers[0], in: .shared)
            (grounded.condition, grounded.collapseID) = (condition, "c")
            let others = [0, 1, 3, 4].map { notice("n\($0)", to: numbers[0]) }
            try enqueue(others[..<2] + [grounded] + others[2...], testStore)
            try enqueue([notice("other", to: numbers[1])], testStore)
            let found = try waiting(for: numbers[0], testStore)
            let other = try require(waiting(for: numbers[1], testStore).first)
            let died = testStore.clock.now
            try testStore.write { transaction in
                try transaction.giveUp(other.number, reason: "gone", keptMax: 1)
                for one in found[..<4] {
                    try transaction.giveUp(one.number, reason: "why \(one.identifier)", keptMax: 3)
                }
            }
            try expect(waiting(for: numbers[0], testStore) == [found[4]])
            try testStore.reopen()
            let letters = found[1..<4].map { waiting in
                var letter = waiting
                letter.end = NoticeEnd(reason: "why \(waiting.identifier)", at: died)
                return letter
            }
            try expect(dead(of: numbers[0], testStore) == letters)
            try expect(dead(of: numbers[0], limit: 1, testStore) == [letters[0]])
            try expect(
                dead(of: numbers[0], after: found[1].number, testStore) == Array(letters[1...]))
            try expect(dead(of: numbers[1], testStore).map(\.end?.reason), is: ["gone"])
            try expect(
                summary(numbers[0], of: .dead, testStore),
                is: NoticeSummary(
                    count: 3, oldest: letters[0].madeAt, lastEnd: letters[2].end))
            let summaries = try testStore.read {
                try $0.noticeSummaries(.dead, for: numbers.reversed(), countedMax: 2)
            }
            try expect(summaries.map(\.count), is: [1, 2])
            try expect(summaries.map(\.lastEnd?.reason), is: ["gone", letters[2].end?.reason])
            try expect(
                testStore.read { try $0.noticeSummaries(.dead, for: [], countedMax: 2) }, is: [])

            try expect(
                testStore.write { try $0.replayDeadLetters(of: numbers[0], limit: 2) }, is: 2)
            try expect(dead(of: numbers[0], testStore) == [letters[2]])
            let again = try waiting(for: numbers[0], testStore)
            try expect(again.map(\.identifier), is: ["n4", "n1", "n2"])
            try expect(again[2].condition == condition && again[2].collapseID == "c")
            try expect(again[2].payload == grounded.payload && again[2].scope == .shared)
            try testStore.write { try $0.removeDestination(numbers[0]) }
            try expect(dead(of: numbers[0], testStore).isEmpty)
            try expect(dead(of: numbers[1], testStore).count, is: 1)
        },
        StoragePromise("What speaks of a person is found, whether it waits or was given up") {
            testStore in
            let numbers = try destinations(1...1, testStore)
            let zone = try testStore.makeZone()
            let (owner, other) = (TestStore.user(1), TestStore.user(9))
            var notices = (0..<5).map { notice("n\($0)", to: numbers[0]) }
            for number in [0, 2] { notices[number].condition = NoticeCondition(zone: zone.number) }
            notices[3].payload = Array("{\"u\":\"\(owner.text)\"}".utf8)
            notices[4].payload = Array("{\"u\":\"\(other.text)\"}".utf8)
            try enqueue(notices, testStore)
            let found = try waiting(for: numbers[0], testStore)
            try testStore.write { try $0.giveUp(found[2].number, reason: "gone", keptMax: 9) }
            func speaking(
                of person: UserRecordName, after number: NoticeNumber = NoticeNumber(0),
                limit: Int = 9
            ) throws -> [String] {
                try testStore.read {
                    try $0.notices(.speakingOf(person), after: number, limit: limit)
                }.map(\.identifier)
            }
            try expect(speaking(of: owner), is: ["n0", "n2", "n3"])
            try expect(speaking(of: owner, limit: 2), is: ["n0", "n2"])
            try expect(speaking(of: owner, after: found[2].number), is: ["n3"])
            try expect(speaking(of: other), is: ["n4"])
            try testStore.write { try $0.forget([found[0].number, found[2].number]) }
            try expect(speaking(of: owner), is: ["n3"])
        },
    ]
}
