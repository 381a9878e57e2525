import CloudModel
import Configuration
import Foundation
import Storage
import Synchronization
import Testing

@testable import Backups
@testable import Server

/// Which backup is restored, what a restored folder begins with, and when a server restores one to check it.
@Suite("What becomes of backups")
struct BackupChecksTests {
    /// A time of day that the test sets.
    private final class Time: Sendable {
        let now = Mutex<Milliseconds>(1_800_000_000_000)
    }

    private static let day: Milliseconds = 86_400_000

    private let temporary: TemporaryFolder
    private let time = Time()

    init() throws {
        temporary = try TemporaryFolder()
        let key = Data((String(repeating: "cd", count: 32) + "\n").utf8)
        #expect(
            FileManager.default.createFile(
                atPath: temporary.path("key"), contents: key,
                attributes: [.posixPermissions: 0o600]))
    }

    private var process: ProcessEnvironment {
        var process = ProcessEnvironment.ofProcess()
        process.clock = Clock { [time] in time.now.withLock { $0 } }
        return process
    }

    private func configuration(_ name: String) -> ServerConfiguration {
        var configuration = ServerConfiguration()
        configuration.listen = ["127.0.0.1:0"]
        configuration.data = temporary.path(name)
        configuration.storage.reserveBytes = 0
        configuration.security.keyFile = temporary.path("key")
        configuration.backups.to = temporary.path("backups")
        return configuration
    }

    private func open(_ name: String) throws -> DataFolder {
        let configuration = configuration(name)
        try DataFolder.make(configuration.data)
        return try #require(
            try DataFolder.open(
                configuration.data, configuration: configuration, process: process
            ) { Issue.record("commit of unknown outcome: \($0)") })
    }

    private func backUp(_ folder: DataFolder) throws -> Milliseconds {
        time.now.withLock { $0 += 60_000 }
        let target = try #require(
            try BackupTarget(of: folder.configuration, clock: folder.clock, random: folder.random))
        _ = try folder.makeBackup(in: target.open(for: folder)) { true }
        return folder.clock.now()
    }

    private func identity(_ folder: DataFolder, of container: ContainerID) throws -> StoreIdentity {
        let store = try folder.stores.store(of: container, in: .development)
        // The life of an opening begins with its first write.
        let user = try #require(UserRecordName("_" + String(repeating: "b", count: 32)))
        try store.writeAndWait { transaction in
            if try transaction.owner(named: user) == nil {
                _ = try transaction.makeZone(named: .defaultZone, ofOwnerNamed: user)
            }
            _ = try transaction.takePosition()
        }
        return try store.identity
    }

    @Test(
        "The last backup of then is restored, each store begins a life, and who was erased is again"
    )
    func restored() throws {
        let folder = try open("data")
        let first = try folder.containers.create("iCloud.a", now: 1).id
        let ann = try folder.users.create(email: "ann@a.example", now: 1).id
        let before = try identity(folder, of: first)
        let moment = try backUp(folder)
        _ = try folder.containers.create("iCloud.b", now: 2)
        _ = try identity(folder, of: first)
        try folder.noteErasure(of: ann, publicRecords: .keep)
        let later = try backUp(folder)
        folder.close()
        try FileManager.default.removeItem(atPath: temporary.path("data"))

        for (name, at, count) in [
            ("first", moment, 1), ("between", later - 1, 1), ("second", later, 2),
        ] {
            let configuration = configuration(name)
            let restored = try DataFolder.restore(
                from: temporary.path("backups"), at: at, configuration, process)
            #expect(restored.problems == [] && restored.erasedAgain == 1, "\(name)")
            let folder = try open(name)
            defer { folder.close() }
            #expect(try folder.containers.list(ListRequest()).items.count == count, "\(name)")
            #expect(try folder.catalog.account(ann) == nil, "\(name)")
            let after = try identity(folder, of: first)
            #expect(after.incarnation != before.incarnation, "\(name)")
            #expect(after.earlier[before.incarnation] != nil, "\(name)")
        }
        #expect(throws: (any Error).self) {
            try DataFolder.restore(
                from: temporary.path("backups"), at: moment - 1, configuration("none"), process)
        }
    }

    @Test("The last backup is checked once a week")
    func weekly() {
        #expect(BackupRounds.isCheckDue(verified: nil, now: 0))
        #expect(!BackupRounds.isCheckDue(verified: 5, now: 5 + 7 * Self.day - 1))
        #expect(BackupRounds.isCheckDue(verified: 5, now: 5 + 7 * Self.day))
    }

    @Test("A restored copy has to leave a fifth of the disk, or take a hundredth of what is free")
    func room() {
        #expect(BackupRounds.leavesRoom(bytes: 100, freeBytes: 300, diskBytes: 1_000))
        #expect(!BackupRounds.leavesRoom(bytes: 101, freeBytes: 300, diskBytes: 1_000))
        #expect(!BackupRounds.leavesRoom(bytes: .max, freeBytes: 300, diskBytes: 1_000))
        #expect(BackupRounds.leavesRoom(bytes: 1, freeBytes: 100, diskBytes: 1_000))
        #expect(!BackupRounds.leavesRoom(bytes: 2, freeBytes: 100, diskBytes: 1_000))
    }

    @Test("Where it would not, the check is left out, and the log, a metric and doctor say so")
    func skipped() throws {
        guard let disk = try SmallDisk.make(bytes: 100 << 20) else { return }
        let filler = disk.folder.path("filler")
        try Data(count: 70 << 20).write(to: URL(fileURLWithPath: filler))
        let environment = [
            "LENTICULAR_BACKUPS_TO": temporary.path("backups"),
            "LENTICULAR_STORAGE_RESERVE_BYTES": "1048576",
            "LENTICULAR_ASSETS_FREE_BYTES_MIN": "1048576",
        ]
        let path = disk.folder.path("data")
        let first = try ServerProcess(data: path, environment: environment)
        try #require(first.waitForLine { $0.contains("restored and is good") } != nil)
        first.signal(SIGTERM)
        #expect(first.wait() == 0)
        // Now it is nearly full, and neither a backup nor a check there is.
        try FileManager.default.removeItem(atPath: temporary.path("backups"))
        try Data(count: 90 << 20).write(to: URL(fileURLWithPath: filler))
        let second = try ServerProcess(data: path, environment: environment)
        let line = second.waitForLine { $0.contains("would leave less than a fifth") }
        try #require(line != nil)
        #expect(try second.metrics().contains("lenticular_backup_check_skipped 1"))
        #expect(try second.command("doctor").output.contains("none was restored and checked"))
    }
}
