import ChildProcesses
import CloudModel
import Dispatch
import Foundation
import SQLite
import Testing

@testable import Server

@Suite("A store that is migrated slowly")
struct SlowMigrationTests {
    private static let archive = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fixtures/catalog-1-store-4.tar.gz")
        .path

    @Test("While one store waits to be migrated, another one is made and answers")
    func beside() throws {
        let temporary = try TemporaryFolder()
        let tar = ChildProcess()
        tar.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        tar.arguments = ["tar", "-xzf", Self.archive, "-C", temporary.root]
        try tar.run()
        tar.waitUntilExit()
        try #require(tar.terminationStatus == 0)
        // No round of upkeep opens the store meanwhile, however long this takes.
        let server = try FolderServer(data: temporary.path("clean")) {
            $0.retention.upkeepSeconds = 86_400
        }
        defer { server.stop() }
        let stores = server.folder.stores
        let key = try #require(try stores.existing().first)
        let begun = DispatchSemaphore(value: 0)
        stores.reports.observe { _, report in
            if case .migrating = report { begun.signal() }
        }
        // Somebody has the file: the migration waits for its lock.
        let other = try Connection(path: stores.engine.words(for: key), mode: .readWrite)
        try other.execute("BEGIN IMMEDIATE")
        let opened = DispatchSemaphore(value: 0)
        stores.open(key.container, key.environment) { _ in opened.signal() }
        #expect(begun.wait(timeout: .now() + 60) == .success)
        let id = try server.folder.containers.create("iCloud.beside", now: 1).id
        let token = try server.folder.apiTokens.create(
            container: id, environment: .development, now: 1
        ).token
        let (status, _) = try server.ask(
            "/database/1/iCloud.beside/development/public/records/lookup?ckAPIToken=\(token)",
            ["records": [["recordName": "none"]]])
        #expect(status == 200)
        #expect(stores.known(key.container, key.environment) == nil)
        try other.execute("ROLLBACK")
        #expect(opened.wait(timeout: .now() + 60) == .success)
        // Where the machine was so busy that the lock was not waited for any longer, it is migrated now.
        let store = try stores.store(of: key.container, in: key.environment)
        #expect(stores.known(key.container, key.environment) != nil)
        withExtendedLifetime(store) {}
    }
}
