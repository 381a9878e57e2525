import CloudModel
import Dispatch
import Foundation
import Seeding
import Storage
import Synchronization
import Testing

@testable import Server

/// Stores that are closed while nobody needs them, and opened again.
@Suite("Stores that come and go")
final class StoresTests {
    private let temporary: TemporaryFolder
    private var server: FolderServer
    private var containers: [ContainerID] = []
    private var tokens: [String] = []

    init() throws {
        temporary = try TemporaryFolder()
        server = try Self.start(temporary)
        for number in 0..<12 {
            let id = try server.folder.containers.create("iCloud.n\(number)", now: 1).id
            containers.append(id)
            tokens.append(
                try server.folder.apiTokens.create(
                    container: id, environment: .development, now: 1
                ).token)
        }
    }

    deinit { server.stop() }

    private static func start(_ temporary: TemporaryFolder, openMax: Int = 1) throws -> FolderServer
    {
        try FolderServer(data: temporary.path("data")) {
            $0.storage.storesOpenMax = openMax
            $0.retention.upkeepSeconds = 86_400
        }
    }

    private var stores: Stores { server.folder.stores }

    private func store(_ number: Int) throws -> LeasedStore {
        try stores.store(of: containers[number], in: .development)
    }

    private func key(_ number: Int) -> Stores.Key { Stores.Key(containers[number], .development) }

    private func path(_ number: Int) -> String {
        server.folder.engineWords.location(.store(key(number)))
    }

    /// Opens another store, and waits until this one has been closed for it.
    private func close(_ number: Int, by other: Int = 11) throws {
        try until("the store was closed") {
            // One that is at work stays, and the other is closed in its place: it is opened again.
            _ = try? self.store(other)
            self.stores.cache.closeSurplus()
            return !self.isOpen(number)
        }
        // It leaves the cache before its file is closed.
        let path = path(number)
        try until("its files were closed") { !Self.openFiles.contains { $0.hasPrefix(path) } }
    }

    private func isOpen(_ number: Int) -> Bool {
        stores.cache.open.contains { $0.key == key(number) }
    }

    private func until(_ what: String = "it was so", _ isSo: () -> Bool) throws {
        let end = Date().addingTimeInterval(60)
        while !isSo() {
            try #require(Date() < end, "waited in vain until \(what)")
            sched_yield()
        }
    }

    /// Makes a zone in a store, or another one.
    ///
    /// - Returns: its number, and the position of the change.
    private func change(_ number: Int, _ zone: String) throws -> (ZoneNumber, Position) {
        let name = try #require(ZoneName(zone))
        return try store(number).writeAndWait { transaction in
            let made = try transaction.makeZone(named: name, ofOwnerNamed: .publicOwner)
            return (made.number, made.created)
        }
    }

    /// What anybody is told of a record that is not there.
    private func lookUp(_ number: Int) throws -> Int {
        try server.ask(
            "/database/1/iCloud.n\(number)/development/public/records/lookup"
                + "?ckAPIToken=\(tokens[number])", ["records": [["recordName": "none"]]]
        ).status
    }

    @Test("A closed store goes on with its life and its numbers; a new process begins a new one")
    func life() throws {
        let identity = try store(0).identity
        let (_, first) = try change(0, "a")
        try close(0)
        let again = try store(0).identity
        #expect(again.incarnation == identity.incarnation)
        let (_, second) = try change(0, "b")
        #expect(second == first + 1)
        server.stop()
        server = try Self.start(temporary)
        let later = try store(0).identity
        #expect(later.knows(identity.incarnation, through: second))
        try close(0)
        // It had not written anything, so that its life had not begun.
        let (_, third) = try change(0, "c")
        let begun = try store(0).identity.incarnation
        #expect(third > second + 1)
        #expect(begun != identity.incarnation)
        try close(0)
        #expect(try store(0).identity.incarnation == begun)
        #expect(try server.folder.problems() == [])
    }

    @Test("A closed file that another took the place of begins a new life")
    func exchanged() throws {
        _ = try change(0, "a")
        try close(0)
        let path = path(0)
        try FileManager.default.copyItem(atPath: path, toPath: temporary.path("copy"))
        let (_, last) = try change(0, "b")
        let life = try store(0).identity
        try close(0)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: temporary.path("copy"), toPath: path)
        #expect(try !store(0).identity.knows(life.incarnation, through: last))
        // A life begins with the first write.
        _ = try change(0, "c")
        let other = try store(0).identity
        #expect(other.incarnation != life.incarnation)
        #expect(!other.knows(life.incarnation, through: last))
    }

    @Test("Who waits for a store that is closed meanwhile is woken by the next change")
    func waiting() throws {
        let (zone, _) = try change(0, "a")
        let notices = try store(0).notices
        let moved = DispatchSemaphore(value: 0)
        let owner = try store(0).read { try $0.zone(zone)?.owner }
        notices.watch([.owner(try #require(owner))]).whenMoved { _ in moved.signal() }
        try close(0)
        _ = try change(0, "b")
        #expect(moved.wait(timeout: .now() + 60) == .success)
    }

    @Test("A closed store leaves neither a log nor descriptors, and is counted as before")
    func traces() throws {
        _ = try change(0, "a")
        let commits = commitCount
        #expect(commits > 0)
        try close(0)
        let path = path(0)
        for suffix in ["-wal", "-shm"] {
            #expect(!FileManager.default.fileExists(atPath: path + suffix))
        }
        #expect(commitCount >= commits)
    }

    /// As the engine's figures have it, over all stores.
    private var commitCount: UInt64 {
        stores.engine.figures.reduce(0) { sum, figure in
            guard figure.name == "lenticular_fsync_seconds",
                case .distribution(let times) = figure.value
            else { return sum }
            return sum + times.counts.reduce(0, +)
        }
    }

    private static var openFiles: [String] {
        let folder = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
        }
    }

    @Test("Queued work of a closed store is done when it is due, also by the next process")
    func work() throws {
        for isRestarted in [false, true] {
            let number = isRestarted ? 1 : 0
            _ = try change(number, "a")
            let due = server.folder.clock.now() + 1_800_000
            try store(number).writeAndWait { transaction in
                try transaction.enqueue(.collect)
                var turn = WorkTurn(WorkHolder(9), [.collect])
                let work = try transaction.takeWork(&turn)
                try transaction.postpone(try #require(work), until: due)
            }
            try close(number)
            if isRestarted {
                server.stop()
                server = try Self.start(temporary)
                // Its clock begins anew.
            }
            let upkeep = Upkeep(
                stores: stores, log: Log(format: .json, descriptor: -1, clock: .system),
                intervalSeconds: 86_400)
            defer { upkeep.stop() }
            // The server's own upkeep may have left something that is due at once.
            try until("it stays closed until it is due") {
                upkeep.round()
                guard self.isOpen(number) else { return true }
                // NB: one that is at work is closed the next time.
                try? self.close(number)
                return false
            }
            server.time.now.withLock { $0 = due + 1 }
            upkeep.round()
            let key = key(number)
            try until { self.isDone(key) }
        }
    }

    private func isDone(_ key: Stores.Key) -> Bool {
        do {
            let store = try stores.store(of: key.container, in: key.environment)
            return try store.writeAndWait {
                try $0.nextWorkMoment(nil, for: WorkHolder(1)) == nil
            }
        } catch {
            return false
        }
    }

    @Test("A closed store has its upkeep once a day")
    func upkeep() throws {
        _ = try change(0, "a")
        try close(0)
        let upkeep = Upkeep(
            stores: stores, log: Log(format: .json, descriptor: -1, clock: .system),
            intervalSeconds: 86_400)
        defer { upkeep.stop() }
        upkeep.round()
        let now = server.folder.clock.now()
        #expect(!stores.schedule.dueNow(limit: 100).contains(key(0)))
        server.time.now.withLock { $0 = now + 23 * 3_600_000 }
        #expect(!stores.schedule.dueNow(limit: 100).contains(key(0)))
        server.time.now.withLock { $0 = now + 25 * 3_600_000 }
        #expect(stores.schedule.dueNow(limit: 100).contains(key(0)))
        upkeep.round()
        #expect(!stores.schedule.dueNow(limit: 100).contains(key(0)))
    }

    @Test("More stores than may be open serve requests in any order, and few stay open")
    func requests() throws {
        let seed = SeededRandom("stores").seed
        server.stop()
        server = try Self.start(temporary, openMax: 3)
        let address = try #require(server.server.addresses.first).description
        let (group, tokens) = (DispatchGroup(), tokens)
        let failures = Failures()
        for client in 0..<4 {
            group.enter()
            DispatchQueue(label: "test.client").async {
                var random = SeededRandom(seed: seed, stream: client)
                let connection = WireConnection(address: address)
                for _ in 0..<60 {
                    let number = random.below(tokens.count)
                    let target =
                        "/database/1/iCloud.n\(number)/development/public/records/lookup"
                        + "?ckAPIToken=\(tokens[number])"
                    let body = #"{"records":[{"recordName":"none"}]}"#
                    let answer = connection.send("POST", target, body)
                    guard case .answered(200, _) = answer else {
                        failures.add("\(number): \(answer)")
                        continue
                    }
                }
                group.leave()
            }
        }
        #expect(group.wait(timeout: .now() + 600) == .success)
        #expect(failures.all == [])
        try until { self.stores.cache.open.count <= 3 }
        #expect(try server.folder.problems() == [])
    }

    private final class Failures: Sendable {
        private let stored = Mutex<[String]>([])
        var all: [String] { stored.withLock { $0 } }
        func add(_ failure: String) { stored.withLock { $0.append(failure) } }
    }

    @Test("A container that is deleted while its store is used is gone, and can be made anew")
    func deletion() throws {
        _ = try change(0, "a")
        let held = try store(0)
        let woken = DispatchSemaphore(value: 0)
        held.notices.watch([.anything]).whenMoved { _ in woken.signal() }
        try server.folder.deleteContainer(containers[0])
        #expect(woken.wait(timeout: .now() + 60) == .success)
        #expect(throws: (any Error).self) { try held.writeAndWait { _ in } }
        #expect(throws: (any Error).self) { try self.store(0) }
        _ = try server.folder.containers.create("iCloud.n0", now: 2)
        let zones = try store(0).read { try $0.zones(of: OwnerNumber(0)) }
        #expect(zones.isEmpty)
        #expect(try server.folder.problems() == [])
    }

    @Test("Who works in stores hears of each, also of one that is just being opened")
    func observed() throws {
        for number in containers.indices {
            let key = key(number)
            let told = Told()
            stores.open(key.container, key.environment) { _ in }
            var last = 0
            // The store is being opened; the last one who begins before it is open must hear of it.
            repeat {
                last += 1
                stores.observeOpening { [last] opened, _, _ in
                    if opened == key { told.numbers.withLock { _ = $0.insert(last) } }
                    return nil
                }
            } while told.numbers.withLock { $0.isEmpty }
            try until("the last was told") { told.numbers.withLock { $0.contains(last) } }
        }
    }

    private final class Told: Sendable {
        let numbers = Mutex<Set<Int>>([])
    }

    @Test("A store that is reset while it is closed or used begins anew, for who waits too")
    func reset() throws {
        for isUsed in [false, true] {
            let number = isUsed ? 1 : 0
            _ = try change(number, "a")
            let held = isUsed ? try store(number) : nil
            if !isUsed { try close(number) }
            try stores.reset(
                key(number),
                StoreBeginning(schema: Schema(), moment: 1, who: "test", difference: []))
            let zones = try store(number).read { try $0.zones(of: OwnerNumber(0)) }
            #expect(zones.isEmpty)
            if let held { #expect(throws: (any Error).self) { try held.writeAndWait { _ in } } }
        }
    }

    @Test("A file that goes while its store is closed is refused until it is back")
    func missing() throws {
        _ = try change(0, "a")
        try close(0)
        let path = path(0)
        try FileManager.default.moveItem(atPath: path, toPath: temporary.path("away"))
        #expect(throws: StorageFailure.self) { try self.store(0) }
        #expect(server.server.readiness.obstacle == nil)
        // Told of once, by the upkeep.
        #expect(try stores.search.examineMore().missing == [key(0)])
        #expect(try stores.search.examineMore().missing == [])
        #expect(stores.search.missingCount == 1)
        #expect(try lookUp(0) == 503)
        try FileManager.default.moveItem(atPath: temporary.path("away"), toPath: path)
        #expect(try lookUp(0) == 200)
        #expect(stores.search.missingCount == 0)
    }

    @Test("A backup has the stores that are closed as well as those that are open")
    func backup() throws {
        _ = try change(0, "a")
        _ = try change(1, "b")
        try close(0)
        let copy = temporary.path("copy")
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
        #expect(try DataBackup.copy(server.folder, to: CopyDestination(path: copy)) == [])
        for number in [0, 1] {
            let file =
                "\(copy)/containers/\(key(number).container.folded)/development/store.sqlite"
            #expect(FileManager.default.fileExists(atPath: file))
        }
        _ = try change(0, "c")
    }
}
