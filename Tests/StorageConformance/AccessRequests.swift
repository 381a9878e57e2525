import CloudModel
import Storage

extension StoreTransaction {
    /// Notes that a user has asked to take part in a share, or in one that is not there.
    func ask(_ user: UserRecordName, for share: ShareNumber?) throws {
        try save(
            [StoredAccessRequest(user: user, madeAt: now, isBlocked: false)], settling: [],
            of: share)
    }
}

// Those who ask to take part in a share.
extension StoragePromise {
    private static func requests(
        of share: ShareNumber, _ testStore: TestStore
    ) throws -> [StoredAccessRequest] {
        try testStore.read { try $0.accessRequests(of: share) }
    }

    private static func makeShares(_ count: Int, _ testStore: TestStore) throws -> [ShareNumber] {
        let zone = try testStore.makeZone()
        return try testStore.write { transaction in
            try (0..<count).map { try Tree("t\($0)", in: zone, transaction).share.number }
        }
    }

    private static func change(
        _ share: ShareNumber, _ testStore: TestStore,
        _ change: @escaping @Sendable (inout StoredShare) -> Void
    ) throws {
        try testStore.write { transaction in
            var stored = try require(transaction.share(share))
            change(&stored)
            try transaction.save(stored)
        }
    }

    static let accessRequests = [
        StoragePromise("A share says whether others may ask to take part") { testStore in
            let share = try makeShares(1, testStore)[0]
            func allows() throws -> Bool? {
                try testStore.read { try $0.share(share)?.allowsRequests }
            }
            try expect(allows() == false)
            try change(share, testStore) { $0.allowsRequests = true }
            try testStore.reopen()
            try expect(allows() == true)
            try change(share, testStore) { $0.allowsRequests = false }
            try expect(allows() == false)
        },
        StoragePromise("Who asks stands at a share, the longest waiting first, and is counted") {
            testStore in
            let shares = try makeShares(2, testStore)
            let start = testStore.clock.now
            for (user, share): (Int, ShareNumber?) in [
                (3, shares[0]), (2, shares[0]), (2, nil), (2, shares[1]),
            ] {
                testStore.clock.advance(10)
                try testStore.write { try $0.ask(TestStore.user(user), for: share) }
            }
            try testStore.reopen()
            func asked(_ user: Int, at moment: Milliseconds) -> StoredAccessRequest {
                StoredAccessRequest(user: TestStore.user(user), madeAt: moment, isBlocked: false)
            }
            try expect(
                requests(of: shares[0], testStore) == [
                    asked(3, at: start + 10), asked(2, at: start + 20),
                ])
            try expect(requests(of: shares[1], testStore) == [asked(2, at: start + 40)])
            func count(_ user: Int, since moment: Milliseconds) throws -> Int {
                try testStore.read {
                    try $0.accessRequestCount(of: TestStore.user(user), since: moment)
                }
            }
            // The request that nobody is to see counts as well.
            try expect(count(2, since: start), is: 3)
            try expect(count(2, since: start + 25), is: 2)
            try expect(count(3, since: start), is: 1)
            try expect(count(4, since: start), is: 0)
        },
        StoragePromise("Requests that are settled are gone from the share, and still count") {
            testStore in
            let shares = try makeShares(2, testStore)
            let start = testStore.clock.now
            testStore.clock.advance(10)
            try testStore.write { transaction in
                for user in 2...4 {
                    try transaction.ask(TestStore.user(user), for: shares[0])
                }
                try transaction.ask(TestStore.user(3), for: shares[1])
            }
            let waiting = try requests(of: shares[0], testStore)
            let blocked = StoredAccessRequest(user: TestStore.user(9), madeAt: nil, isBlocked: true)
            let kept = try require(waiting.first { $0.user == TestStore.user(2) })
            try testStore.write {
                try $0.save(
                    [blocked], settling: [3, 4, 9].map { TestStore.user($0) }, of: shares[0])
            }
            try expect(requests(of: shares[0], testStore) == [blocked, kept])
            try expect(requests(of: shares[1], testStore).count, is: 1)
            func count(_ user: Int) throws -> Int {
                try testStore.read {
                    try $0.accessRequestCount(of: TestStore.user(user), since: start)
                }
            }
            try expect([count(2), count(3), count(4), count(9)], is: [1, 2, 1, 0])
            try testStore.write { transaction in
                try transaction.forget(TestStore.user(3))
                try transaction.forget(TestStore.user(9))
            }
            try expect([count(2), count(3)], is: [1, 0])
            try expect(requests(of: shares[0], testStore) == [kept])
            try expect(requests(of: shares[1], testStore).isEmpty)
        },
        StoragePromise("When requests were last told of is noted for each share") { testStore in
            let shares = try makeShares(2, testStore)
            func told(_ share: ShareNumber) throws -> Milliseconds? {
                try testStore.read { try require($0.share(share)).requestsToldAt }
            }
            try expect(told(shares[0]) == nil)
            testStore.clock.advance(10)
            let now = testStore.clock.now
            try change(shares[0], testStore) { $0.requestsToldAt = now }
            try expect(told(shares[0]) == now)
            try expect(told(shares[1]) == nil)
        },
    ]
}
