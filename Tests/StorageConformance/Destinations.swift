import CloudModel
import Storage

// Where notices go.
extension StoragePromise {
    private static func device(
        _ key: UInt8, of user: Int? = 1, _ kind: DestinationKind = .courier
    ) -> NewDestination {
        NewDestination(
            kind: kind, key: [key, 0, 255], user: user.map { Trial.user($0) }, device: "phone",
            address: Array(#"{"url":"é"}"#.utf8), session: [9, 0])
    }

    private static func notice(
        _ identifier: String, to destination: DestinationNumber
    ) -> NewNotice {
        NewNotice(
            destination: destination, identifier: identifier, scope: .private, payload: [123, 125])
    }

    private static func register(
        _ destinations: [NewDestination], _ trial: Trial
    ) throws -> [DestinationNumber] {
        try trial.write { transaction in
            try destinations.map { try transaction.register($0) }
        }
    }

    private static func waiting(
        for destination: DestinationNumber, _ trial: Trial
    ) throws -> [String] {
        try trial.read { snapshot in
            try snapshot.notices(for: destination, after: NoticeNumber(0), limit: 100)
                .map(\.identifier)
        }
    }

    static let destinations = knownDestinations + triedDestinations

    private static let knownDestinations = [
        StoragePromise("A destination is kept as it was given, under its kind and key") { trial in
            let bare = NewDestination(kind: .webhook, key: [1, 0, 255], user: nil)
            let numbers = try register([device(1), bare], trial)
            try expect(numbers[0] != numbers[1])
            let made = trial.clock.now
            try trial.reopen()
            try trial.read { snapshot in
                let whole = StoredDestination(
                    number: numbers[0], kind: .courier, key: [1, 0, 255], user: Trial.user(1),
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
            trial in
            let number = try register([device(1, .apns)], trial)[0]
            let made = trial.clock.now
            try trial.write { transaction in
                _ = try transaction.enqueue(notice("n", to: number), countedMax: 9)
                try transaction.setBadge(7, of: number)
                try transaction.noteAttempt(at: number, isFailure: true, next: made + 50)
            }
            let failed = try require(trial.read { try $0.destination(number) })
            try expect(failed.badge == 7 && failed.failures == 1)
            trial.clock.advance(1_000)
            var again = device(1, .apns)
            (again.device, again.address, again.session) = (nil, [1], nil)
            try expect(register([again], trial), is: [number])
            let renewed = try require(trial.read { try $0.destination(number) })
            try expect(
                renewed
                    == StoredDestination(
                        number: number, kind: .apns, key: [1, 0, 255], user: Trial.user(1),
                        device: nil, address: [1], session: nil, madeAt: made,
                        usedAt: made + 1_000))
            try expect(waiting(for: number, trial), is: ["n"])
            // What waits was for somebody else.
            again.user = Trial.user(2)
            try expect(register([again], trial), is: [number])
            try expect(waiting(for: number, trial), is: [])
            try expect(trial.read { try $0.destinations(of: Trial.user(1)).isEmpty })
        },
        StoragePromise("A user's destinations and those of a kind lie as they were made") { trial in
            let numbers = try register(
                [
                    device(3, of: 2), device(2, .webPush), device(9), device(4, of: nil, .webhook),
                    device(1),
                ], trial)
            func found(
                _ list: (any StoreSnapshot) throws -> [StoredDestination]
            ) throws -> [DestinationNumber] { try trial.read(list).map(\.number) }
            try expect(
                found { try $0.destinations(of: Trial.user(1)) },
                is: [numbers[1], numbers[2], numbers[4]])
            try expect(
                found { try $0.destinations(ofKind: .courier) },
                is: [numbers[0], numbers[2], numbers[4]])
            try trial.write { transaction in
                for number in numbers {
                    _ = try transaction.enqueue(notice("n", to: number), countedMax: 9)
                }
                try transaction.removeDestination(numbers[0])
                try transaction.removeDestination(numbers[0])
                try transaction.removeDestinations(of: Trial.user(1))
            }
            try expect(found { try $0.destinations(ofKind: .courier) }.isEmpty)
            try expect(found { try $0.destinations(ofKind: .webhook) }, is: [numbers[3]])
            try expect(trial.read { try $0.outboxState().count }, is: 1)
            // A number is never used again.
            let next = try register([device(1)], trial)[0]
            try expect(!numbers.contains(next))
        },
        StoragePromise("Couriers that nobody uses go, the longest unused first") { trial in
            let numbers = try register(
                [device(1), device(2), device(3), device(4), device(5, .apns)], trial)
            trial.clock.advance(100)
            try trial.write { try $0.use(numbers[1]) }
            let used = trial.clock.now
            try expect(trial.read { try $0.destination(numbers[1])?.usedAt } == used)
            trial.clock.advance(100)
            try trial.write { try $0.use(numbers[2]) }
            let last = trial.clock.now
            try expect(
                trial.write { try $0.removeCouriers(unusedSince: last, limit: 2) }, is: 2)
            func left() throws -> [DestinationNumber] {
                try trial.read { try $0.destinations(of: Trial.user(1)).map(\.number) }
            }
            try expect(left(), is: [numbers[1], numbers[2], numbers[4]])
            try expect(
                trial.write { try $0.removeCouriers(unusedSince: last, limit: 2) }, is: 1)
            try expect(left(), is: [numbers[2], numbers[4]])
        },
        StoragePromise("Every change of a destination moves the revision of subscriptions") {
            trial in
            func revision() throws -> Int64 { try trial.read { try $0.subscriptionRevision() } }
            var seen = [try revision()]
            let number = try register([device(1)], trial)[0]
            seen.append(try revision())
            _ = try register([device(1, of: 2)], trial)
            seen.append(try revision())
            try trial.write { try $0.removeDestination(number) }
            seen.append(try revision())
            try expect(Set(seen).count, is: 4)
        },
    ]

    private static let triedDestinations = [
        StoragePromise("A sender is told for whom something waits, the longest due first") {
            trial in
            let numbers = try register(
                [device(1, .apns), device(2, .webhook), device(3, .webPush), device(4)], trial)
            func due(by moment: Milliseconds, limit: Int = 9) throws -> [DestinationNumber] {
                try trial.read { snapshot in
                    try snapshot.destinationsDue(by: moment, limit: limit).map(\.number)
                }
            }
            func next() throws -> Milliseconds? {
                try trial.read { try $0.nextDestinationMoment() }
            }
            try expect(due(by: .max).isEmpty && next() == nil)
            let first = trial.clock.now
            func enqueue(_ number: DestinationNumber) throws {
                try trial.write { transaction in
                    _ = try transaction.enqueue(notice("n", to: number), countedMax: 9)
                }
            }
            try enqueue(numbers[1])
            trial.clock.advance(10)
            // Nobody sends to a courier: it fetches.
            for number in [numbers[0], numbers[3], numbers[1]] { try enqueue(number) }
            let second = trial.clock.now
            try expect(due(by: first), is: [numbers[1]])
            try expect(due(by: second), is: [numbers[1], numbers[0]])
            try expect(due(by: second, limit: 1), is: [numbers[1]])
            try expect(next() == first)
            try trial.write { transaction in
                try transaction.noteAttempt(at: numbers[1], isFailure: true, next: second + 500)
            }
            try expect(due(by: second), is: [numbers[0]])
            try expect(due(by: second + 500), is: [numbers[0], numbers[1]])
            try trial.reopen()
            try expect(next() == second)
            // Who has nothing left is not due.
            try trial.write { transaction in
                let sent = try transaction.notices(
                    for: numbers[0], after: NoticeNumber(0), limit: 9)
                try transaction.removeNotices(sent.map(\.number))
                try transaction.noteAttempt(at: numbers[0], isFailure: false, next: second)
            }
            try expect(due(by: .max), is: [numbers[1]])
            try expect(next() == second + 500)
        },
        StoragePromise("Failures in a row are counted, and a success ends the count") { trial in
            let number = try register([device(1, .apns)], trial)[0]
            func note(isFailure: Bool) throws -> Int? {
                let next = trial.clock.now
                try trial.write {
                    try $0.noteAttempt(at: number, isFailure: isFailure, next: next)
                }
                return try trial.read { try $0.destination(number)?.failures }
            }
            try expect([note(isFailure: true), note(isFailure: true)], is: [1, 2])
            try expect(note(isFailure: false) == 0)
        },
        StoragePromise("Who waits for notices is told of them, and of a destination's end") {
            trial in
            let numbers = try register([device(1), device(2, .apns)], trial)
            let store = trial.store
            let changes: [@Sendable (any StoreTransaction) throws -> Void] = [
                { _ = try $0.enqueue(notice("n", to: numbers[0]), countedMax: 9) },
                { $0.wakeWaiting(for: numbers[0]) },
                { try $0.removeDestination(numbers[0]) },
            ]
            for change in changes {
                let told = Told([.destination(numbers[0])], of: store)
                try trial.write(change)
                _ = try told.wait()
            }
            let senders = Told([.senders], of: store)
            try trial.write { _ = try $0.enqueue(notice("n", to: numbers[1]), countedMax: 9) }
            _ = try senders.wait()
        },
    ]
}
