import AssetStorage
import Awaiting
import CloudModel
import Configuration
import Foundation
import Storage
import Synchronization
import Testing

@testable import Commands
@testable import Server

@Suite("Upkeep of a data folder")
struct OperatingUpkeepTests {
    /// A time of day that the test sets.
    private final class Time: Sendable {
        let now = Mutex<Milliseconds>(1_000_000)
    }

    private static let dayMilliseconds: Milliseconds = 86_400_000

    private let temporary: TemporaryFolder
    private let time = Time()
    private let folder: DataFolder
    private let container: ContainerID
    private let user: UserRecordName
    private let log = Log(format: .json, descriptor: -1, clock: .system)

    init() throws {
        temporary = try TemporaryFolder()
        let time = time
        var process = ProcessEnvironment.ofProcess()
        process.clock = Clock { time.now.withLock { $0 } }
        var configuration = ServerConfiguration()
        configuration.listen = ["127.0.0.1:0"]
        configuration.storage.reserveBytes = 0
        try DataFolder.make(temporary.path("data"))
        folder = try #require(
            try DataFolder.open(
                temporary.path("data"), configuration: configuration, process: process
            ) { Issue.record("commit of unknown outcome: \($0)") })
        container = try folder.containers.create("iCloud.a", now: 1).id
        _ = try folder.users.create(email: "ann@a.example", now: 1)
        user = try folder.webTokens.create(
            container: container, environment: .development, email: "ann@a.example", now: 1
        ).userRecordName
    }

    private var store: any Store {
        get throws { try folder.stores.store(of: container, in: .development) }
    }

    /// Saves a record in the user's zone `z`, or deletes it.
    private func save(_ text: String, flags: VersionFlags = []) throws {
        let user = user
        let name = try #require(RecordName(text))
        let zoneName = try #require(ZoneName("z"))
        try store.writeAndWait { transaction in
            let zone =
                try transaction.zone(named: zoneName, ofOwnerNamed: user)
                ?? transaction.makeZone(named: zoneName, ofOwnerNamed: user)
            let previous = try transaction.head(of: name, in: zone.number)
            let isAlive = previous != nil
            _ = try transaction.save(
                NewVersion(
                    zone: zone, name: name, position: transaction.takePosition(),
                    previous: previous,
                    previousBytes: isAlive ? 2 : 0, previousIsAlive: isAlive, type: 0, flags: flags,
                    body: Array("{}".utf8)))
        }
    }

    private func isKnown(_ text: String) throws -> Bool {
        let name = try #require(RecordName(text))
        let zoneName = try #require(ZoneName("z"))
        return try store.read { snapshot in
            guard let owner = try snapshot.owner(named: user),
                let zone = try snapshot.zone(named: zoneName, of: owner.number)
            else { return false }
            return try snapshot.head(of: name, in: zone.number) != nil
        }
    }

    /// Waits until nothing is left of the work that is queued.
    private func finishWork() throws {
        try Wait.until {
            try store.writeAndWait {
                try $0.nextWorkMoment(nil, for: WorkHolder(1)) == nil
            }
        }
    }

    @Test("Deletions are forgotten once their retention is over, and nothing else is")
    func retention() throws {
        defer { folder.close() }
        try save("alive")
        for number in 0..<600 { try save("gone\(number)") }
        for number in 0..<600 { try save("gone\(number)", flags: .tombstone) }
        let work = StoreWork(
            folder.configuration, limits: folder.limits, clock: folder.clock, log: log)
        folder.stores.observeOpening { work.worker($0, $1, $2) }
        let upkeep = Upkeep(stores: folder.stores, log: log, intervalSeconds: 3_600)
        defer { upkeep.stop() }
        time.now.withLock { $0 += 179 * Self.dayMilliseconds }
        upkeep.round()
        try finishWork()
        #expect(try isKnown("gone0"))
        time.now.withLock { $0 += 2 * Self.dayMilliseconds }
        upkeep.round()
        try finishWork()
        #expect(try !isKnown("gone0"))
        #expect(try !isKnown("gone599"))
        #expect(try isKnown("alive"))
    }

    @Test("A user's private data goes with the account, at the next start if the first was cut off")
    func deletion() throws {
        try save("private")
        // What a process does that is killed after the catalog has forgotten the account.
        _ = try folder.catalog.delete(folder.users.find(email: "ann@a.example").id)
        #expect(try isKnown("private"))
        #expect(try !folder.users.unfinishedDeletions().items.isEmpty)
        let server = try RunningServer(
            folder: folder, log: log, commands: CommandLineProgram.answer)
        #expect(try !isKnown("private"))
        // What was deleted is overwritten while it serves.
        try Wait.until { try folder.users.unfinishedDeletions().items.isEmpty }
        server.drain(withinSeconds: 5)
    }

    @Test("check waits for what is being removed, and does not name it as missing")
    func checkBesideCollection() throws {
        defer { folder.close() }
        let store = try store
        let assetStore = folder.stores.assetStore(of: Stores.Key(container, .development))
        let upload = try assetStore.storage.begin(expectedBytes: 3)
        try [1, 2, 3].withUnsafeBytes { try upload.append($0) }
        let content = try upload.seal()
        try upload.place()
        let id = [UInt8](repeating: 1, count: AssetReceipt.idBytes)
        try store.writeAndWait { transaction in
            try transaction.addReceipt(
                id,
                StoredReceipt(
                    content: content, identity: [UInt8](repeating: 2, count: 16),
                    expires: transaction.now + 1))
        }
        #expect(try folder.problems() == [])
        // A removal under way, of a file whose row a check may have read before.
        #expect(assetStore.claims.claim([content.digest]) == [content.digest])
        try assetStore.storage.delete(content.digest)
        let found = Mutex<[String]?>(nil)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let problems = (try? folder.problems()) ?? ["the check failed"]
            found.withLock { $0 = problems }
            done.signal()
        }
        #expect(done.wait(timeout: .now() + 1) == .timedOut)
        time.now.withLock { $0 += 2 * Self.dayMilliseconds }
        let now = folder.clock.now()
        try store.writeAndWait { transaction in
            _ = try transaction.collect(olderThan: 0, limit: 100)
            let forgotten = try transaction.remove(.begin([content.digest], unusedSince: now))
            #expect(forgotten == [content.digest])
        }
        assetStore.claims.unclaim([content.digest])
        #expect(done.wait(timeout: .now() + 60) == .success)
        #expect(found.withLock { $0 } == [])
    }
}
