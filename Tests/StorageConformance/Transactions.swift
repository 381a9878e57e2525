import CloudModel
import Dispatch
import Storage
import Synchronization

// What a read sees, and what becomes of a write.
extension StoragePromise {
    static let transactions = [
        StoragePromise("A read sees one moment, whatever is written meanwhile") { trial in
            let zone = try trial.makeZone()
            try trial.write { try $0.save("a", in: zone) }
            try trial.read { snapshot in
                let before = try snapshot.head(of: Trial.record("a"), in: zone.number)
                try onAnotherThread {
                    try trial.write { transaction in
                        try transaction.save("a", in: zone)
                        try transaction.save("b", in: zone)
                        try transaction.deleteZone(zone)
                    }
                }
                try expect(
                    snapshot.head(of: Trial.record("a"), in: zone.number)?.position
                        == before?.position)
                try expect(snapshot.head(of: Trial.record("b"), in: zone.number) == nil)
                try expect(snapshot.zone(zone.number)?.isDeleted == false)
            }
            try expect(trial.read { try $0.zone(zone.number)?.isDeleted } == true)
        },
        StoragePromise("What was acknowledged, every read that begins later sees, whoever reads") {
            trial in
            let zone = try trial.makeZone()
            for number in 0..<30 {
                try trial.write { try $0.save("r\(number)", in: zone) }
                for reader in [StoreReader.anybody, .loop(0), .loop(1)] {
                    let head = try trial.store.read(by: reader) {
                        try $0.head(of: Trial.record("r\(number)"), in: zone.number)
                    }
                    try expect(head != nil, "\(reader)")
                }
                if let beside = try trial.place.openBeside() {
                    let head = try beside.read {
                        try $0.head(of: Trial.record("r\(number)"), in: zone.number)
                    }
                    try expect(head != nil, "another process")
                }
            }
        },
        StoragePromise("A write sees what it has itself written, and nobody else does before") {
            trial in
            let zone = try trial.makeZone()
            try trial.write { transaction in
                let head = try transaction.save("a", in: zone)
                try expect(
                    transaction.head(of: Trial.record("a"), in: zone.number)?.position
                        == head.position)
                let made = try transaction.makeZone(named: Trial.zone("Other"), of: zone.owner)
                try expect(transaction.zone(named: made.name, of: zone.owner) != nil)
                try onAnotherThread {
                    try trial.read {
                        try expect($0.head(of: Trial.record("a"), in: zone.number) == nil)
                        try expect($0.zone(named: made.name, of: zone.owner) == nil)
                    }
                }
            }
        },
        StoragePromise("A write that throws leaves nothing, and what stood before stands") {
            trial in
            let zone = try trial.makeZone()
            let before = try trial.write { try $0.save("a", in: zone) }
            try expectFailure(Refusal.self) {
                try trial.write { transaction in
                    try transaction.save("a", in: zone)
                    try transaction.save("b", in: zone)
                    _ = try transaction.makeZone(named: Trial.zone("Other"), of: zone.owner)
                    try transaction.enqueue(.collect)
                    throw Refusal()
                }
            }
            try trial.read { snapshot in
                try expect(
                    snapshot.head(of: Trial.record("a"), in: zone.number)?.position
                        == before.position)
                try expect(snapshot.head(of: Trial.record("b"), in: zone.number) == nil)
                try expect(snapshot.zone(named: Trial.zone("Other"), of: zone.owner) == nil)
            }
            try expect(
                trial.write { try $0.nextWorkMoment(nil, for: WorkHolder(1)) } == nil)
        },
        StoragePromise("Of many writes at once each is there as a whole, or not at all") { trial in
            let zone = try trial.makeZone()
            let acknowledged = Mutex<Set<Int>>([])
            try together(8) { stream in
                for round in 0..<40 {
                    let number = stream * 40 + round
                    do {
                        try trial.write(by: WriteCaller(UInt64(stream))) { transaction in
                            try transaction.save("r\(number)-a", in: zone)
                            if number % 3 == 0 { throw Refusal() }
                            try transaction.save("r\(number)-b", in: zone)
                        }
                        acknowledged.withLock { _ = $0.insert(number) }
                    } catch is Refusal {}
                }
            }
            let feed = Set(try trial.feed(of: zone))
            for number in 0..<320 {
                let isThere = acknowledged.withLock { $0.contains(number) }
                try expect(isThere == (number % 3 != 0))
                try expect(feed.contains("r\(number)-a") == isThere, "\(number)")
                try expect(feed.contains("r\(number)-b") == isThere, "\(number)")
            }
        },
        StoragePromise("What one caller hands in runs in that order") { trial in
            let order = Mutex<[Int]>([])
            let done = DispatchSemaphore(value: 0)
            for number in 0..<200 {
                trial.store.write(WriteLoad(caller: WriteCaller(7))) {
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
        StoragePromise("No write is lost that relies on what it has read") { trial in
            let zone = try trial.makeZone()
            try trial.write { try $0.save("count", in: zone, body: Array("0".utf8)) }
            try together(8) { stream in
                for _ in 0..<25 {
                    try trial.write(by: WriteCaller(UInt64(stream))) { transaction in
                        let head = try require(
                            transaction.head(of: Trial.record("count"), in: zone.number))
                        let text = try transaction.version(at: head.position, in: zone.number) {
                            String(decoding: $0.body, as: UTF8.self)
                        }
                        let next = (text.flatMap { Int($0) } ?? -1) + 1
                        try transaction.save("count", in: zone, body: Array("\(next)".utf8))
                    }
                }
            }
            try expect(trial.feed(of: zone), is: ["200"])
        },
        StoragePromise("A snapshot ends when its query has had its time, and those after it do not")
        { trial in
            let zone = try trial.makeZone()
            try trial.write { transaction in
                for number in 0..<200 { try transaction.save("r\(number)", in: zone) }
            }
            let end = DispatchTime.now() + 60
            try expectFailure(StorageFailure.self, where: { $0 == .interrupted }) {
                try trial.read { snapshot in
                    let query = StoreQuery(
                        RecordQuery(type: Trial.type), type: 0, zones: [], sight: .all, words: [:],
                        start: nil, limit: 1, bytesMax: 1,
                        bounds: QueryBounds(rowsMax: 1, millisecondsMax: 1, sharedRecordsMax: 1))
                    _ = try snapshot.page(of: query) { _ in }
                    while DispatchTime.now() < end {
                        try snapshot.versions(
                            in: zone.number, after: 0, through: .max, newestFirst: false
                        ) { _ in true }
                    }
                }
            }
            try expect(trial.feed(of: zone).count, is: 200)
        },
        StoragePromise("A read ends when it is told to, with what it was told") { trial in
            let stop = StopSignal()
            stop.stop(.makesRoom)
            try expectFailure(WorkStopped.self, where: { $0.reason == .makesRoom }) {
                try trial.store.read(by: .anybody, until: stop) { try $0.checkStop() }
            }
            stop.goOn()
            try trial.store.read(by: .anybody, until: stop) { try $0.checkStop() }
        },
        StoragePromise("What was acknowledged is there after a crash and after an orderly end") {
            trial in
            let zone = try trial.makeZone()
            for round in 0..<3 {
                for number in 0..<20 {
                    try trial.write { try $0.save("r\(number)", in: zone) }
                    try trial.write { try $0.save("only \(round)-\(number)", in: zone) }
                }
                if round > 0 { try trial.reopen() } else { _ = try trial.crash() }
                let feed = try trial.feed(of: zone)
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
