import Administration
import Awaiting
import CloudDatabase
import CloudModel
import Configuration
import Foundation
import Storage
import Synchronization
import Testing

@testable import Server

@Suite("Accounts whose owners have asked for their end")
struct AccountDeletionTests {
    private static let dayMilliseconds: Milliseconds = 86_400_000
    private static let zones = 5

    private final class Time: Sendable {
        let now = Mutex<Milliseconds>(1_000_000)
        /// What happens once somebody has asked for the time so often.
        private let interruption = Mutex<(count: Int, body: @Sendable () -> Void)?>(nil)

        func interrupt(after count: Int, _ body: @escaping @Sendable () -> Void) {
            interruption.withLock { $0 = (count, body) }
        }

        func ask() -> Milliseconds {
            let due = interruption.withLock { interruption in
                interruption?.count -= 1
                guard let next = interruption, next.count == 0 else { return nil as (() -> Void)? }
                interruption = nil
                return next.body
            }
            due?()
            return now.withLock { $0 }
        }
    }

    private let temporary: TemporaryFolder
    private let time = Time()
    private let folder: DataFolder
    private let container: ContainerID
    private let user: UserRecordName
    private let log = Log(format: .json, descriptor: -1, clock: .system)

    init() throws {
        temporary = try TemporaryFolder()
        var process = ProcessEnvironment.ofProcess()
        process.clock = Clock { [time] in time.ask() }
        var configuration = ServerConfiguration()
        configuration.listen = ["127.0.0.1:0"]
        configuration.storage.reserveBytes = 0
        configuration.accounts.passwordCostBits = 10
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
        let user = user
        try store.writeAndWait { transaction in
            for number in 0..<Self.zones {
                guard let name = ZoneName("z\(number)"), let record = RecordName("r") else {
                    return
                }
                let zone = try transaction.makeZone(named: name, ofOwnerNamed: user)
                _ = try transaction.save(
                    NewVersion(
                        zone: zone, name: record, position: transaction.takePosition(),
                        previous: nil, previousBytes: 0, previousIsAlive: false, type: 0, flags: [],
                        body: Array("{}".utf8)))
            }
        }
    }

    private var store: any Store {
        get throws { try folder.stores.store(of: container, in: .development) }
    }

    private func zoneCount() throws -> Int {
        try store.read { snapshot in
            try snapshot.owner(named: user).map { try snapshot.zones(of: $0.number).count } ?? 0
        }
    }

    private func ask() throws {
        let id = try folder.users.find(email: "ann@a.example").id
        try folder.accountUseCases.endings.ask(
            for: id, publicRecords: .keep, now: time.now.withLock { $0 })
    }

    @Test("An account stays for the days of grace, and then goes with its data")
    func due() throws {
        defer { folder.close() }
        try ask()
        let accountDeletions = AccountDeletions(folder, log: log, intervalSeconds: 3_600)
        defer { accountDeletions.stop() }
        time.now.withLock { $0 += 30 * Self.dayMilliseconds - 1 }
        try accountDeletions.round()
        #expect(try zoneCount() == Self.zones)
        #expect(try folder.users.list().items.count == 1)
        time.now.withLock { $0 += 1 }
        try accountDeletions.round()
        #expect(try zoneCount() == 0)
        #expect(
            try folder.users.list().items.isEmpty
                && folder.users.unfinishedDeletions().items.isEmpty)
        let report = try folder.auditPage(before: nil, since: 0, prefix: "", limit: 10)
        #expect(report.entries.contains { $0.what == "account deletion due" })
    }

    @Test("What was taken back in time does not come to its end")
    func takenBack() throws {
        defer { folder.close() }
        try ask()
        let id = try folder.users.find(email: "ann@a.example").id
        time.now.withLock { $0 += 29 * Self.dayMilliseconds }
        let now = time.now.withLock { $0 }
        struct Unnoted: Error {}
        #expect(throws: Unnoted.self) {
            try folder.accountUseCases.endings.takeBack(of: id, now: now) { throw Unnoted() }
        }
        #expect(try folder.accountUseCases.endings.takeBack(of: id, now: now) {})
        #expect(try !folder.accountUseCases.endings.takeBack(of: id, now: now) {})
        let accountDeletions = AccountDeletions(folder, log: log, intervalSeconds: 3_600)
        defer { accountDeletions.stop() }
        time.now.withLock { $0 += 30 * Self.dayMilliseconds }
        try accountDeletions.round()
        #expect(try zoneCount() == Self.zones)
        // Whose time is over is not saved by a sign-in that comes before the round.
        try ask()
        time.now.withLock { $0 += 30 * Self.dayMilliseconds }
        #expect(
            try !folder.accountUseCases.endings.takeBack(of: id, now: time.now.withLock { $0 }) {})
    }

    @Test("What is taken back while others are deleted stays, and what has begun goes on")
    func takenBackMeanwhile() throws {
        defer { folder.close() }
        let now = time.now.withLock { $0 }
        let ann = try folder.users.find(email: "ann@a.example").id
        let bob = try folder.users.create(email: "bob@a.example", now: 1).id
        let endings = folder.accountUseCases.endings
        try endings.ask(for: ann, publicRecords: .keep, now: now - 1)
        try endings.ask(for: bob, publicRecords: .keep, now: now)
        let due = endings.due(now: now)
        time.now.withLock { $0 = due }
        // The look asks for the time, and then the ledger: by then both are known to be due. The clock of the process
        // that people sign in at is behind.
        let takenBack = Mutex<[Bool]>([])
        time.interrupt(after: 2) {
            #expect(throws: Never.self) {
                for account in [ann, bob] {
                    let isTaken = try endings.takeBack(of: account, now: due - 2) {}
                    takenBack.withLock { $0.append(isTaken) }
                }
            }
        }
        let accountDeletions = AccountDeletions(folder, log: log, intervalSeconds: 3_600)
        // The data is removed once all that are due are deleted.
        try Wait.until {
            try !folder.users.list().items.contains { $0.id == ann }
                && folder.users.unfinishedDeletions().items.isEmpty
        }
        accountDeletions.stop()
        #expect(takenBack.withLock { $0 } == [false, true])
        #expect(try folder.users.list().items.map(\.id) == [bob])
        #expect(try ErasureLedger(in: folder.path).entries().map(\.account) == [ann])
    }

    @Test("An erasure that is cut off anywhere is done by the next, and leaves nothing wrong")
    func interrupted() throws {
        defer { folder.close() }
        _ = try folder.users.delete(email: "ann@a.example", publicRecords: .delete)
        var cuts = 0
        for step in 1..<1_000 {
            let left = Mutex(step)
            do {
                try UnfinishedDeletions(in: folder) {
                    left.withLock { left in
                        left -= 1
                        return left > 0
                    }
                }.finish()
                break
            } catch is ErasePerson.Interrupted {
                cuts += 1
                #expect(try !folder.users.unfinishedDeletions().items.isEmpty)
            }
        }
        #expect(cuts > 2)
        #expect(try zoneCount() == 0 && folder.users.unfinishedDeletions().items.isEmpty)
        #expect(try folder.problems().isEmpty)
    }
}
