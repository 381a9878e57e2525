import CloudModel
import Foundation
import Testing

@testable import Server

@Suite("Copies of databases from before an upgrade")
struct UpgradeCopyTests {
    private static let now: Milliseconds = 1_800_000_000_000

    @Test(
        "They go with the first start after 30 days, those of the catalog and of each store, and no sooner"
    )
    func age() throws {
        let temporary = try TemporaryFolder()
        let data = temporary.path("data")
        let first = try FolderServer(data: data, at: Self.now)
        let container = try first.folder.containers.create("iCloud.a", now: 1).id
        _ = try first.folder.stores.store(of: container, in: .development)
        first.stop()
        let databases = ["catalog.sqlite", "containers/icloud.a/development/store.sqlite"]
        func copies() throws -> [String] {
            try FileManager.default.subpathsOfDirectory(atPath: data)
                .filter { $0.contains(".before-") }.sorted()
        }
        for (name, days) in [("0002-old", 31.0), ("0003-young", 29.0)] {
            for database in databases {
                let written = Date(timeIntervalSince1970: Double(Self.now / 1_000) - days * 86_400)
                let path = "\(data)/\(database).before-\(name)"
                let made = FileManager.default.createFile(
                    atPath: path, contents: Data("copy".utf8),
                    attributes: [.modificationDate: written])
                #expect(made)
            }
        }
        let server = try FolderServer(data: data, at: Self.now) { $0.retention.upkeepSeconds = 1 }
        defer { server.stop() }
        let end = Date(timeIntervalSinceNow: 120)
        while try copies().contains(where: { $0.hasSuffix("old") }), Date() < end { sched_yield() }
        // What every start does, to end an erasure that was cut off, leaves them.
        try server.folder.overwriteDeletedInCatalog { true }
        #expect(try copies() == databases.map { "\($0).before-0003-young" })
    }
}
