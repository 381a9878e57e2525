import CloudModel
import Dispatch
import Storage
import Synchronization

// What a read sees, and what becomes of a write.
extension StoragePromise {
    static let transactions = [
        StoragePromise("A read sees one moment, whatever is written meanwhile") { testStore in
            let zone = try testStore.makeZone()
            try testStore.write { try $0.save("a", in: zone) }
            try testStore.read { snapshot in
                let before = try snapshot.head(of: TestStore.record("a"), in: zone.number)
                try onAnotherThread {
                    try testStore.write { transaction in
                        try transaction.save("a", in: zone)
                        try transaction.save("b", in: zone)
                        try transaction.deleteZone(zone)
                    }
                }
                try expect(
                    snapshot.head(of: TestStore.record("a"), in: zone.number)?.position
                        == before?.position)
                try expect(snapshot.head(of: TestStore.record("b"), in: zone.number) == nil)
                try expect(snapshot.zone(zone.number)?.isDeleted == false)
            }
            try expect(testStore.read { try $0.zone(zone.number)?.isDeleted } == true)
        },
        StoragePromise("What was acknowledged, every read that begins later sees, whoever reads") {
            testStore in
            let zone = try testStore.makeZone()
            for number in 0..<30 {
                try testStore.write { try $0.save("r\(number)", in: zone) }
                for reader in [StoreReader.anybody, .loop(0), .loop(1)] {
                    let head = try testStore.store.read(by: reader) {
                        try $0.head(of: TestStore.record("r\(number)"), in: zone.number)
                    }
                    try expect(head != nil, "\(reader)")
                }
                if let beside = try testStore.location.openBeside() {
                    let head = try beside.read {
                        try $0.head(of: TestStore.record("r\(number)"), in: zone.number)
                    }
                    try expect(head != nil, "another process")
                }
            }
        },
        StoragePromise("A write sees what it has itself written, and nobody else does before") {
            testStore in
            let zone = try testStore.makeZone()
            try testStore.write { transaction in
                let head = try transaction.save("a", in: zone)
                try expect(
                    transaction.head(of: TestStore.record("a"), in: zone.number)?.position
                        == head.position)
                let made = try transaction.makeZone(
                    named: TestStore.zone("Other"), ofOwnerNamed: TestStore.user(1))
                try expect(transaction.zone(named: made.name, of: zone.owner) != nil)
                try onAnotherThread {
                    try testStore.read {
                        try expect($0.head(of: TestStore.record("a"), in: zone.number) == nil)
                        try expect($0.zone(named: made.name, of: zone.owner) == nil)
                    }
                }
            }
        },
        StoragePromise("A write that throws leaves nothing, and what stood before stands") {
            testStore in
            let zone = try testStore.makeZone()
            let before = try testStore.write { try $0.save("a", in: zone) }
            try expectFailure(Refusal.self) {
                try testStore.write { transaction in
                    try transaction.save("a", in: zone)
                    try transaction.save("b", in: zone)
                    _ = try transaction.makeZone(
                        named: TestStore.zone("Other"), ofOwnerNamed: TestStore.user(1))
                    try transaction.enqueue(.collect)
                    throw Refusal()
                }
            }
            try testStore.read { snapshot in
                try expect(
                    snapshot.head(of: TestStore.record("a"), in: zone.number)?.position
                        == before.position)
                try expect(snapshot.head(of: TestStore.record("b"), in: zone.number) == nil)
                try expect(snapshot.zone(named: TestStore.zone("Other"), of: zone.owner) == nil)
            }
            try expect(
                testStore.write { try $0.nextWorkMoment(nil, for: WorkHolder(1)) } == nil)
        },
        StoragePromise("Of many writes at once each is there as a whole, or not at all") {
            testStore in
            let zone = try testStore.makeZone()
            let acknowledged = Mutex<Set<Int>>([])
            try together(8) { stream in
                for round in 0..<40 {
                    let number = stream * 40 + round
                    do {
                        try testStore.write(by: StoreCaller(UInt64(stream))) { transaction in
                            try transaction.save("r\(number)-a", in: zone)
                            if number % 3 == 0 { throw Refusal() }
                            try transaction.save("r\(number)-b", in: zone)
                        }
                        acknowledged.withLock { _ = $0.insert(number) }
                    } catch is Refusal {}
                }
            }
            let feed = Set(try testStore.feed(of: zone))
            for number in 0..<320 {
                let isThere = acknowledged.withLock { $0.contains(number) }
                try expect(isThere == (number % 3 != 0))
                try expect(feed.contains("r\(number)-a") == isThere, "\(number)")
                try expect(feed.contains("r\(number)-b") == isThere, "\(number)")
            }
        },
        StoragePromise("What one caller hands in runs in that order") { testStore in
            let order = Mutex<[Int]>([])
            let done = DispatchSemaphore(value: 0)
            for number in 0..<200 {
                testStore.store.write(WriteLoad(caller: StoreCaller(7))) {
                    try $0.takePosition()
                } completion: {
                    result in
                    if case .success = result { order.withLock { $0.append(number) } }
                    done.signal()
                }
            }
            for _ in 0..<200 {
                try expect(done.wait(timeout: .now() + 60) == .success, "a write without an answer")
            }
            try expect(order.withLock { $0 }, is: Array(0..<200))
        },
        StoragePromise("No write is lost that relies on what it has read") { testStore in
            let zone = try testStore.makeZone()
            try testStore.write { try $0.save("count", in: zone, body: Array("0".utf8)) }
            try together(8) { stream in
                for _ in 0..<25 {
                    try testStore.write(by: StoreCaller(UInt64(stream))) { transaction in
                        let head = try require(
                            transaction.head(of: TestStore.record("count"), in: zone.number))
                        let text = try transaction.version(at: head.position, in: zone.number) {
                            String(decoding: $0.body, as: UTF8.self)
                        }
                        let next = (text.flatMap { Int($0) } ?? -1) + 1
                        try transaction.save("count", in: zone, body: Array("\(next)".utf8))
                    }
                }
            }
            try expect(testStore.feed(of: zone), is: ["200"])
        },
        StoragePromise("A snapshot ends when its query has had its time, and those after it do not")
        { testStore in
            let zone = try testStore.makeZone()
            try testStore.write { transaction in
                for number in 0..<200 { try transaction.save("r\(number)", in: zone) }
            }
            let end = DispatchTime.now() + 60
            try expectFailure(StorageFailure.self, where: { $0 == .interrupted }) {
                try testStore.read { snapshot in
                    let query = StoreQuery(
                        RecordQuery(type: TestStore.type), type: 0, zones: [], sight: .all,
                        words: [:],
                        start: nil, limit: 1, bytesMax: 1,
                        bounds: QueryBounds(recordsMax: 1, millisecondsMax: 1, sharedRecordsMax: 1))
                    _ = try snapshot.page(of: query) { _ in }
                    while DispatchTime.now() < end {
                        try snapshot.versions(
                            in: zone.number, after: 0, through: .max, newestFirst: false
                        ) { _ in true }
                    }
                }
            }
            try expect(testStore.feed(of: zone).count, is: 200)
        },
        StoragePromise("A read ends when it is told to, with what it was told") { testStore in
            let zone = try testStore.makeZone()
            // So many that an engine looks at the signal on its way.
            let records = 5_000
            try testStore.write { transaction in
                for number in 0..<records { try transaction.save("r\(number)", in: zone) }
            }
            func count(_ snapshot: any StoreSnapshot) throws -> Int {
                var count = 0
                try snapshot.versions(
                    in: zone.number, after: 0, through: .max, newestFirst: false
                ) { _ in
                    count += 1
                    return true
                }
                return count
            }
            let stop = StopSignal()
            stop.stop(.makesRoom)
            try expectFailure(WorkStopped.self, where: { $0.reason == .makesRoom }) {
                _ = try testStore.store.read(ReadLoad(until: stop), count)
            }
            stop.goOn()
            try expect(testStore.store.read(ReadLoad(until: stop), count), is: records)
        },
        StoragePromise("What was acknowledged is there after a crash and after an orderly end") {
            testStore in
            let zone = try testStore.makeZone()
            for round in 0..<3 {
                for number in 0..<20 {
                    try testStore.write { try $0.save("r\(number)", in: zone) }
                    try testStore.write { try $0.save("only \(round)-\(number)", in: zone) }
                }
                if round > 0 { try testStore.reopen() } else { _ = try testStore.crash() }
                let feed = try testStore.feed(of: zone)
                try expect(feed.count, is: 20 + 20 * (round + 1))
                try expect(feed.last, is: "only \(round)-19")
            }
        },
    ]

    /// What a write of the suite fails with.
    struct Refusal: Error {}
}

/// Runs a closure on another thread and waits for it.
func onAnotherThread(_ body: @escaping @Sendable () throws -> Void) throws {
    let outcome = Mutex<Result<Void, any Error>>(.success(()))
    let done = DispatchSemaphore(value: 0)
    DispatchQueue(label: "conformance.beside").async {
        let result = Result { try body() }
        outcome.withLock { $0 = result }
        done.signal()
    }
    try expect(done.wait(timeout: .now() + 60) == .success, "the other thread does not end")
    try outcome.withLock { $0 }.get()
}
