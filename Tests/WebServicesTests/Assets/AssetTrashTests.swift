import AssetStorage
import CloudDatabase
import CloudModel
import Foundation
import Seeding
import Synchronization
import Testing

/// Files that no row stands for, between their folder and their end.
@Suite("The trash of assets")
struct AssetTrashTests {
    private static let hour: Milliseconds = 3_600_000
    private let server: WireServer

    init() throws { server = try WireServer() }

    private func collection() throws -> CollectAssets {
        CollectAssets(try server.store(), assetStore: try server.assetStore())
    }

    private func trash() throws -> AssetTrash {
        try #require(try server.assetStore().storage.trash)
    }

    private func put(_ bytes: [UInt8]) throws -> AssetDigest {
        let upload = try server.assetStore().storage.begin(expectedBytes: bytes.count)
        try bytes.withUnsafeBytes { try upload.append($0) }
        let content = try upload.seal()
        try upload.place()
        return content.digest
    }

    /// Has all files without a row taken for old and put into the trash at a moment.
    private func removeStray(at moment: Milliseconds) throws {
        let later = Milliseconds(Date().timeIntervalSince1970 * 1_000) + 10_000
        while try collection().removeStray(placedBefore: later, now: moment) {}
    }

    @Test("A stray file is readable in the trash for its time there, and then gone")
    func expiry() throws {
        let digests = try (1...250).map { try put(pattern(20, seed: UInt64($0))) }
        let came = server.clock.now
        try removeStray(at: came)
        #expect(try server.assetFiles().isEmpty)
        #expect(try Set(trash().list().map(\.digest)) == Set(digests))
        #expect(try trash().list().allSatisfy { $0.placed == came })
        let storage = try server.assetStore().storage
        #expect(try storage.open(digests[0])?.read(at: 0, count: 20) == pattern(20, seed: 1))
        #expect(try collection().emptyTrash(putBefore: came) == false)
        #expect(try trash().list().count == 250)
        // A hundred in a step.
        #expect(try collection().emptyTrash(putBefore: came + 1_000))
        #expect(try trash().list().count == 150)
        while try collection().emptyTrash(putBefore: came + 1_000) {}
        #expect(try trash().list().isEmpty)
        #expect(try storage.open(digests[0]) == nil)
    }

    @Test("A file that comes again leaves the trash, and stays when that is emptied")
    func again() throws {
        let digest = try put(pattern(1_000))
        try removeStray(at: server.clock.now)
        #expect(try trash().list().map(\.digest) == [digest])
        let ida = try server.user()
        let value = try ida.asset(pattern(1_000))
        #expect(try ida.save("a", Self.field(value), zone: nil).code == nil)
        #expect(try trash().list().isEmpty)
        while try collection().emptyTrash(putBefore: .max) {}
        #expect(try ida.download(Self.link(ida.record("a", zone: nil))).bytes == pattern(1_000))
        #expect(try server.problems().isEmpty)
    }

    @Test(
        "The files of a store that was lost wait for it in the trash, and go back to their places")
    func takenBack() throws {
        let ida = try server.user()
        let value = try ida.asset(pattern(100_000))
        #expect(try ida.save("a", Self.field(value), zone: nil).code == nil)
        let files = try server.assetFiles()
        let kept = server.folder.appending(path: "kept").path
        try server.restart { path in
            try FileManager.default.moveItem(atPath: path, toPath: kept)
            for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
        }
        // An empty store in its place knows no file.
        try removeStray(at: server.clock.now)
        #expect(try server.assetFiles().isEmpty)
        #expect(try trash().list().count == 1)
        try server.restart { path in
            for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
            try FileManager.default.moveItem(atPath: kept, toPath: path)
        }
        // Before and after it has been put back.
        for _ in 0..<2 {
            let link = try Self.link(ida.record("a", zone: nil))
            #expect(try ida.download(link).bytes == pattern(100_000))
            #expect(try collection().emptyTrash(putBefore: .max) == false)
        }
        #expect(try server.assetFiles() == files)
        #expect(try trash().list().isEmpty)
        #expect(try server.problems().isEmpty)
    }

    @Test("While the disk is short of room the oldest go before their time, and no more than must")
    func pressure() throws {
        let digests = try (1...3).map { try put(pattern(20, seed: UInt64($0))) }
        let came = server.clock.now
        // The last one put there is the first of all three.
        for (number, digest) in digests.enumerated() {
            try trash().put(digest, at: came - Milliseconds(number) * Self.hour)
        }
        let looks = Mutex(0)
        let short = FolderAssets(
            path: try server.storePath() + "-assets",
            reserved: {
                looks.withLock { looks in
                    looks += 1
                    return looks <= 2 ? .max / 2 : 0
                }
            })
        let collection = CollectAssets(try server.store(), assetStore: AssetStore(short))
        #expect(try collection.emptyTrash(putBefore: 0) == false)
        #expect(try trash().list().map(\.digest) == [digests[0]])
        #expect(looks.withLock { $0 } == 3)
    }

    private static func field(_ value: AnswerPart) -> String {
        "{\"photo\":{\"value\":\(value.raw),\"type\":\"ASSETID\"}}"
    }

    private static func link(_ record: AnswerPart) throws -> String {
        try #require(record["fields"]["photo"]["value"]["downloadURL"].string)
    }
}
