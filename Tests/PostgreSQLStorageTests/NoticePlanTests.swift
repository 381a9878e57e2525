#if PostgreSQL
    import CloudModel
    import PostgreSQLStorage
    import Storage
    import Testing

    // What is asked and written for those who are told of changes.
    extension PlanTests {
        private static let follower = FollowerName("follower")

        private static func user(_ number: Int) -> UserRecordName? {
            UserRecordName("_" + "\(1_000_000 + number)".leftPadded)
        }

        /// Has many subscriptions, destinations with notices, and changes that a follower has not seen.
        private static func fill(_ filled: Filled) throws -> [DestinationNumber] {
            let type = try #require(RecordTypeName("Note"))
            let numbers = try filled.store.writeAndWait { transaction in
                _ = try transaction.follow(as: follower)
                return try (0..<2_000).map { number in
                    let user = try #require(Self.user(number))
                    let id = try #require(SubscriptionID("s\(number % 4)"))
                    let match = SubscriptionMatch(
                        field: "f\(number % 3)", value: [UInt8(number % 200)])
                    try transaction.save(
                        Subscription(id: id, kind: .query, recordType: type, firesOn: [.create]),
                        of: SubscriptionOwner(user: user, scope: .public), requiring: match)
                    return try transaction.register(
                        NewDestination(
                            kind: .webPush, key: Array("\(number)".utf8), user: user))
                }
            }
            for first in stride(from: 0, to: 6_000, by: 2_000) {
                try enqueue(first..<first + 2_000, to: numbers, in: filled.store)
            }
            let names = (0..<400).compactMap { RecordName("followed \($0)") }
            try Filled.save(names, in: filled.zone, of: filled.store)
            return numbers
        }

        private static func enqueue(
            _ range: Range<Int>, to numbers: [DestinationNumber], in store: PostgreSQLStore
        ) throws {
            try store.writeAndWait { transaction in
                for number in range {
                    _ = try transaction.enqueue(
                        NewNotice(
                            destination: numbers[number % numbers.count], identifier: "n",
                            scope: .public, mergeKey: [1, UInt8(number % 2)], payload: [123, 125]),
                        countedMax: 0)
                }
            }
        }

        @Test("Notices, subscriptions and changes are found and written without a look at others")
        func notices() throws {
            let filled = try Filled([2_000])
            defer { filled.location.remove() }
            let numbers = try Self.fill(filled)
            let type = try #require(RecordTypeName("Note"))
            let user = try #require(Self.user(7))
            let some = (0..<64).compactMap { RecordName("followed \($0)") }
            let found = try filled.wasteful {
                let last = try filled.store.read { try $0.lastPosition() }
                try Filled.save(some, in: filled.zone, of: filled.store)
                try Self.enqueue(0..<64, to: numbers, in: filled.store)
                try filled.store.read { snapshot in
                    var changes = 0
                    _ = try snapshot.changes(after: last, limit: 100) { _ in
                        changes += 1
                        return true
                    }
                    #expect(changes == 64)
                    let match = SubscriptionMatch(field: "f1", value: [1])
                    #expect(
                        try !snapshot.subscriptions(.publicOnes(type, requiring: match)).isEmpty)
                    #expect(try snapshot.fieldsRequired(of: type).count == 3)
                    let owner = SubscriptionOwner(user: user, scope: .public)
                    #expect(try snapshot.subscriptions(of: owner).count == 1)
                    #expect(try snapshot.destinations(of: user).count == 1)
                    #expect(try snapshot.destination(.webPush, key: [55])?.user == user)
                    #expect(try snapshot.destinationsDue(by: .max, limit: 20).count == 20)
                    let waiting = try snapshot.notices(
                        for: numbers[3], after: NoticeNumber(0), limit: 9)
                    #expect(!waiting.isEmpty)
                    #expect(
                        try snapshot.allSubscriptions(of: nil, ListRequest(limit: 20)).next != nil)
                }
                let waiting = try filled.store.read {
                    try $0.notices(for: numbers[3], after: NoticeNumber(0), limit: 9)
                }
                try filled.store.writeAndWait { transaction in
                    try transaction.giveUp(waiting[0].number, reason: "gone", keptMax: 9)
                    try transaction.removeNotices(waiting.dropFirst().map(\.number))
                    try transaction.noteAttempt(at: numbers[3], isFailure: false, next: 1)
                    try transaction.setBadge(1, of: numbers[3])
                }
                try filled.store.writeAndWait { try $0.advance(Self.follower, through: 64) }
            }
            #expect(found == [])
        }
    }

    extension String {
        /// Of 32 characters, with zeros before.
        fileprivate var leftPadded: String { String(repeating: "0", count: 32 - count) + self }
    }
#endif
