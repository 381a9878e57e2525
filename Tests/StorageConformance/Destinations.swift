import CloudModel
import Storage

// Where notices go.
extension StoragePromise {
    private static func device(
        _ key: UInt8, of user: Int? = 1, _ kind: DestinationKind = .courier
    ) -> NewDestination {
        NewDestination(
            kind: kind, key: [key, 0, 255], user: user.map { TestStore.user($0) }, device: "phone",
            address: Array(#"{"url":"é"}"#.utf8), session: [9, 0])
    }

    private static func notice(
        _ identifier: String, to destination: DestinationNumber
    ) -> NewNotice {
        NewNotice(
            destination: destination, identifier: identifier, scope: .private, payload: [123, 125])
    }

    private static func register(
        _ destinations: [NewDestination], _ testStore: TestStore
    ) throws -> [DestinationNumber] {
        try testStore.write { transaction in
            try destinations.map { try transaction.register($0) }
        }
    }

    private static func waiting(
        for destination: DestinationNumber, _ testStore: TestStore
    ) throws -> [String] {
        try testStore.read { snapshot in
            try snapshot.notices(for: destination, after: NoticeNumber(0), limit: 100)
                .map(\.identifier)
        }
    }

    static let destinations = knownDestinations + triedDestinations

    private static let knownDestinations = [
        StoragePromise("A destination is kept as it was given, under its kind and key") {
            testStore in
            let bare = NewDestination(kind: .webhook, key: [1, 0, 255], user: nil)
            let numbers = try register([device(1), bare], testStore)
            try expect(numbers[0] != numbers[1])
            let made = testStore.clock.now
            try testStore.reopen()
            try testStore.read { snapshot in
                let whole = StoredDestination(
                    number: numbers[0], kind: .courier, key: [1, 0, 255], user: TestStore.user(1),
                    device: "phone", address: Array(#"{"url":"é"}"#.utf8), session: [9, 0],
                    madeAt: made, usedAt: made)
                try expect(snapshot.destination(numbers[0]) == whole)
                try expect(snapshot.destination(.courier, key: [1, 0, 255]) == whole)
                let empty = StoredDestination(
                    number: numbers[1], kind: .webhook, key: [1, 0, 255], user: nil, device: nil,
                    address: [], session: nil, madeAt: made, usedAt: made)
                try expect(snapshot.destination(.webhook, key: [1, 0, 255]) == empty)
                try expect(snapshot.destination(.apns, key: [1, 0, 255]) == nil)
                try expect(snapshot.destination(.courier, key: [1]) == nil)
            }
        },
        StoragePromise("A destination that comes again is the same one, with what it brings") {
            testStore in
            let number = try register([device(1, .apns)], testStore)[0]
            let made = testStore.clock.now
            try testStore.write { transaction in
                _ = try transaction.enqueue(notice("n", to: number), countedMax: 9)
                try transaction.setBadge(7, of: number)
                try transaction.noteAttempt(at: number, isFailure: true, next: made + 50)
            }
            let failed = try require(testStore.read { try $0.destination(number) })
            try expect(failed.badge == 7 && failed.failures == 1)
            testStore.clock.advance(1_000)
            var again = device(1, .apns)
            (again.device, again.address, again.session) = (nil, [1], nil)
            try expect(register([again], testStore), is: [number])
            let renewed = try require(testStore.read { try $0.destination(number) })
            try expect(
                renewed
                    == StoredDestination(
                        number: number, kind: .apns, key: [1, 0, 255], user: TestStore.user(1),
                        device: nil, address: [1], session: nil, madeAt: made,
                        usedAt: made + 1_000, dueAt: made + 1_000))
            try expect(waiting(for: number, testStore), is: ["n"])
            // What waits was for somebody else.
            again.user = TestStore.user(2)
            try expect(register([again], testStore), is: [number])
            try expect(waiting(for: number, testStore), is: [])
            try expect(testStore.read { try $0.destinations(of: TestStore.user(1)).isEmpty })
        },
        StoragePromise("A user's destinations and those of a kind lie as they were made") {
            testStore in
            let numbers = try register(
                [
                    device(3, of: 2), device(2, .webPush), device(9), device(4, of: nil, .webhook),
                    device(1),
                ], testStore)
            func found(
                _ list: (any StoreSnapshot) throws -> [StoredDestination]
            ) throws -> [DestinationNumber] { try testStore.read(list).map(\.number) }
            try expect(
                found { try $0.destinations(of: TestStore.user(1)) },
                is: [numbers[1], numbers[2], numbers[4]])
            try expect(
                found { try $0.destinations(ofKind: .courier) },
                is: [numbers[0], numbers[2], numbers[4]])
            try testStore.write { transaction in
                for number in numbers {
                    _ = try transaction.enqueue(notice("n", to: number), countedMax: 9)
                }
                try transaction.removeDestination(numbers[0])
                try transaction.removeDestination(numbers[0])
                try transaction.removeDestinations(of: TestStore.user(1))
            }
            try expect(found { try $0.destinations(ofKind: .courier) }.isEmpty)
            try expect(found { try $0.destinations(ofKind: .webhook) }, is: [numbers[3]])
            let waiting = try testStore.read { snapshot in
                try numbers.map {
                    try snapshot.notices(for: $0, after: NoticeNumber(0), limit: 9).count
                }
            }
            try expect(waiting, is: [0, 0, 0, 1, 0])
            // A number is never used again.
            let next = try register([device(1)], testStore)[0]
            try expect(!numbers.contains(next))
        },
        StoragePromise("Couriers that nobody uses go, the longest unused first") { testStore in
            let numbers = try register(
                [device(1), device(2), device(3), device(4), device(5, .apns)], testStore)
            testStore.clock.advance(100)
            try testStore.write { try $0.use(numbers[1]) }
            let used = testStore.clock.now
            try expect(testStore.read { try $0.destination(numbers[1])?.usedAt } == used)
            testStore.clock.advance(100)
            try testStore.write { try $0.use(numbers[2]) }
            let last = testStore.clock.now
            try expect(
                testStore.write { try $0.removeCouriers(unusedSince: last, limit: 2) }, is: 2)
            func left() throws -> [DestinationNumber] {
                try testStore.read { try $0.destinations(of: TestStore.user(1)).map(\.number) }
            }
            try expect(left(), is: [numbers[1], numbers[2], numbers[4]])
            try expect(
                testStore.write { try $0.removeCouriers(unusedSince: last, limit: 2) }, is: 1)
            try expect(left(), is: [numbers[2], numbers[4]])
        },
        StoragePromise("Every change of a destination moves the revision of subscriptions") {
            testStore in
            func revision() throws -> Int64 { try testStore.read { try $0.subscriptionRevision() } }
            var seen = [try revision()]
            let number = try register([device(1)], testStore)[0]
            seen.append(try revision())
            _ = try register([device(1, of: 2)], testStore)
            seen.append(try revision())
            try testStore.write { try $0.removeDestination(number) }
            seen.append(try revision())
            try expect(Set(seen).count, is: 4)
        },
    ]

    private static let triedDestinations = [
        StoragePromise("A sender is told for whom something waits, the longest due first") {
            testStore in
            let numbers = try register(
                [device(1, .apns), device(2, .webhook), device(3, .webPush), device(4)], testStore)
            func due(by moment: Milliseconds, limit: Int = 9) throws -> [DestinationNumber] {
                try testStore.read { snapshot in
                    try snapshot.destinationsDue(by: moment, limit: limit).map(\.number)
                }
            }
            func next() throws -> Milliseconds? {
                try testStore.read { try $0.nextDestinationMoment() }
            }
            try expect(due(by: .max).isEmpty && next() == nil)
            let first = testStore.clock.now
            func enqueue(_ number: DestinationNumber) throws {
                try testStore.write { transaction in
                    _ = try transaction.enqueue(notice("n", to: number), countedMax: 9)
                }
            }
            try enqueue(numbers[1])
            testStore.clock.advance(10)
            // Nobody sends to a courier: it fetches.
            for number in [numbers[0], numbers[3], numbers[1]] { try enqueue(number) }
            let second = testStore.clock.now
            try expect(due(by: first), is: [numbers[1]])
            try expect(due(by: second), is: [numbers[1], numbers[0]])
            try expect(due(by: second, limit: 1), is: [numbers[1]])
            try expect(next() == first)
            try testStore.write { transaction in
                try transaction.noteAttempt(at: numbers[1], isFailure: true, next: second + 500)
            }
            try expect(due(by: second), is: [numbers[0]])
            try expect(due(by: second + 500), is: [numbers[0], numbers[1]])
            try testStore.reopen()
            try expect(next() == second)
            // Who has nothing left is not due.
            try testStore.write { transaction in
                let sent = try transaction.notices(
                    for: numbers[0], after: NoticeNumber(0), limit: 9)
                try transaction.removeNotices(sent.map(\.number))
                try transaction.noteAttempt(at: numbers[0], isFailure: false, next: second)
            }
            try expect(due(by: .max), is: [numbers[1]])
            try expect(next() == second + 500)
        },
        StoragePromise("Failures in a row are counted, and a success ends the count") { testStore in
            let number = try register([device(1, .apns)], testStore)[0]
            func note(isFailure: Bool) throws -> Int? {
                let next = testStore.clock.now
                try testStore.write {
                    try $0.noteAttempt(at: number, isFailure: isFailure, next: next)
                }
                return try testStore.read { try $0.destination(number)?.failures }
            }
            try expect([note(isFailure: true), note(isFailure: true)], is: [1, 2])
            try expect(note(isFailure: false) == 0)
        },
        StoragePromise("Who waits for notices is told of them, and of a destination's end") {
            testStore in
            let numbers = try register([device(1), device(2, .apns)], testStore)
            let store = testStore.store
            let changes: [@Sendable (any StoreTransaction) throws -> Void] = [
                { _ = try $0.enqueue(notice("n", to: numbers[0]), countedMax: 9) },
                { try $0.wakeWaiting(for: numbers[0]) },
                { try $0.removeDestination(numbers[0]) },
            ]
            for change in changes {
                let told = Told([.destination(numbers[0])], of: store)
                try testStore.write(change)
                _ = try told.wait()
            }
            let senders = Told([.senders], of: store)
            try testStore.write { _ = try $0.enqueue(notice("n", to: numbers[1]), countedMax: 9) }
            _ = try senders.wait()
        },
    ]
}
