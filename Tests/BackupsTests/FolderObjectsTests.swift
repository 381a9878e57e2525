import Cryptography
import Foundation
import Testing

@testable import Backups

@Suite("Backups in a folder")
struct FolderObjectsTests {
    @Test(
        "An object takes the place of the one of its name: who was erased is noted again and again")
    func replaced() throws {
        let path = FileManager.default.temporaryDirectory.path + "/backups-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let repository = try BackupRepository(
            FolderObjects(path: path), key: BackupKey(random: .system), random: .system,
            owner: "me")
        for round in 1...3 {
            try repository.putErasures([UInt8](repeating: 7, count: round))
            #expect(try repository.erasures().count == round)
            try repository.putVerified(at: Int64(round))
            #expect(try repository.verified() == Int64(round))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).count == 3)
    }

    @Test("What a killed process has left of an object is no object, and goes with the next backup")
    func unfinished() throws {
        let path = FileManager.default.temporaryDirectory.path + "/backups-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let objects = FolderObjects(path: path)
        let repository = try BackupRepository(
            objects, key: BackupKey(random: .system), random: .system, owner: "me")
        let bytes: [UInt8] = [1, 2, 3]
        func backUp(at moment: Int64) throws {
            let new = try repository.begin(at: moment, version: "test")
            _ = try new.add(
                "a", mark: nil,
                NewBackup.Source { offset, _ in Array(bytes[Int(offset)...]) })
            _ = try new.finish()
            try repository.sweep(now: moment)
        }
        try backUp(at: 1_800_000_000_000)
        let left = [
            path + "/packs/1-0.unfinished", path + "/backups/000001800000000001.unfinished",
        ]
        for file in left { try Data([1]).write(to: URL(fileURLWithPath: file)) }
        #expect(try repository.moments().count == 1)
        #expect(try objects.list("packs/").count == 1)
        try backUp(at: 1_800_000_060_000)
        for file in left { #expect(!FileManager.default.fileExists(atPath: file)) }
        var found: [UInt8] = []
        try repository.contents(of: #require(try repository.last())).read("a") { found += $0 }
        #expect(found == bytes)
        let mode = try FileManager.default.attributesOfItem(atPath: path + "/lenticular-backups")
        #expect(mode[.posixPermissions] as? Int == 0o600)
    }
}
