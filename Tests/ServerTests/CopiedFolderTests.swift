import CloudModel
import Configuration
import Control
import Foundation
import Storage
import Testing

@testable import Backups
@testable import Server

/// Two data folders that go by one name, because somebody copied the files of one.
@Suite("A data folder copied by its files")
struct CopiedFolderTests {
    private let temporary: TemporaryFolder
    private let configuration: ServerConfiguration

    init() throws {
        temporary = try TemporaryFolder()
        var configuration = ServerConfiguration()
        configuration.listen = ["127.0.0.1:0"]
        configuration.storage.reserveBytes = 0
        configuration.backups.to = temporary.path("backups")
        self.configuration = configuration
    }

    private func open(_ name: String) throws -> DataFolder {
        try DataFolder.make(temporary.path(name))
        return try #require(
            try DataFolder.open(
                temporary.path(name), configuration: configuration,
                process: ProcessEnvironment.ofProcess()
            ) { Issue.record("commit of unknown outcome: \($0)") })
    }

    private func backUp(_ folder: DataFolder) throws {
        let target = try #require(
            try BackupTarget(of: configuration, clock: folder.clock, random: folder.random))
        _ = try folder.makeBackup(in: target.open(for: folder)) { true }
    }

    private func findings(_ folder: DataFolder) throws -> [String] {
        try folder.examine().filter { $0.subject == "backups" && $0.level == .problem }.map(\.text)
    }

    private func copyFolder() throws {
        try FileManager.default.copyItem(
            atPath: temporary.path("data"), toPath: temporary.path("copy"))
    }

    @Test("Of two the one that made the last backup makes the next, and doctor tells the other")
    func backups() throws {
        let first = try open("data")
        try backUp(first)
        try backUp(first)
        try copyFolder()
        let second = try open("copy")
        defer { second.close() }
        try backUp(second)
        #expect(throws: BackupFailure.self) { try backUp(first) }
        #expect(try findings(first).contains { $0.contains("copy of this data folder") })
        #expect(try findings(second).isEmpty)
        first.close()
        // Also after a restart, and for a copy that is older than the last backup.
        let again = try open("data")
        defer { again.close() }
        #expect(throws: BackupFailure.self) { try backUp(again) }
        try backUp(second)
    }

    @Test("A folder that was moved goes on with its backups, and one that was restored does not")
    func moved() throws {
        let first = try open("data")
        try backUp(first)
        first.close()
        try FileManager.default.moveItem(
            atPath: temporary.path("data"), toPath: temporary.path("moved"))
        let moved = try open("moved")
        try backUp(moved)
        moved.close()
        var configuration = configuration
        configuration.data = temporary.path("restored")
        _ = try DataFolder.restore(
            from: temporary.path("backups"), configuration, ProcessEnvironment.ofProcess())
        #expect(!FileManager.default.fileExists(atPath: "\(configuration.data)/backup-turn"))
        #expect(!FileManager.default.fileExists(atPath: "\(configuration.data)/backup-owner"))
    }

    @Test("Each of the two begins a life: what one gives out the other does not take for its own")
    func lives() throws {
        let first = try open("data")
        let id = try first.containers.create("iCloud.a", now: 1).id
        let user = try #require(UserRecordName("_" + String(repeating: "a", count: 32)))
        _ = try first.stores.store(of: id, in: .development).writeAndWait {
            try $0.makeZone(named: .defaultZone, ofOwnerNamed: user)
        }
        first.close()
        try copyFolder()
        let folders = [try open("data"), try open("copy")]
        defer { for folder in folders { folder.close() } }
        let other = try #require(ZoneName("z"))
        let lives = try folders.map { folder in
            let store = try folder.stores.store(of: id, in: .development)
            _ = try store.writeAndWait { transaction in
                try transaction.makeZone(named: other, ofOwnerNamed: user)
            }
            return try store.identity
        }
        #expect(lives[0].incarnation != lives[1].incarnation)
    }
}
