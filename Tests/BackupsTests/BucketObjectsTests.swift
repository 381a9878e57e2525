import Cryptography
import S3StandIn
import Seeding
import Testing

@testable import Backups

@Suite("Backups in a bucket")
struct BucketObjectsTests {
    @Test("A backup in a bucket comes out as it went in, and nothing is below another prefix")
    func roundTrip() throws {
        let store = try S3StandInServer()
        defer { store.stop() }
        let objects = BucketObjects(store.bucket(), prefix: "one/two/")
        let beside = BucketObjects(store.bucket(), prefix: "one/")
        try beside.put("packs/of-another", [1])
        let key = BackupKey(random: .system)
        let repository = try BackupRepository(objects, key: key, random: .system, owner: "me")
        var random = SeededRandom("backups in a bucket")
        let bytes = (0..<3_000_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        for moment in [1_800_000_000_000, 1_800_000_060_000] as [Int64] {
            let new = try repository.begin(at: moment, version: "test")
            _ = try new.add(
                "a", mark: nil,
                NewBackup.Source { offset, count in
                    Array(bytes[Int(offset)..<min(bytes.count, Int(offset) + count)])
                })
            let stored = try new.finish()
            #expect(stored > 3_000_000 || moment > 1_800_000_000_000 && stored < 20_000)
            try repository.sweep(now: moment)
        }
        #expect(try repository.moments().count == 2)
        var found: [UInt8] = []
        let last = try #require(try repository.last())
        try repository.contents(of: last).read("a") { found += $0 }
        #expect(found == bytes)
        #expect(try objects.list("packs/").count == 2)
        #expect(try beside.read("packs/of-another", nil) == [1])
        #expect(try objects.read("packs/nothing", nil) == nil)
        #expect(try objects.read("packs/nothing", 0..<5) == nil)
        #expect(throws: (any Error).self) {
            let pack = try #require(try objects.list("packs/").first)
            _ = try objects.read(pack.name, pack.byteCount - 5..<pack.byteCount + 5)
        }
    }
}
