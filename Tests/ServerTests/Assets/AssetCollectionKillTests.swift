import AssetStorage
import CloudModel
import Foundation
import SQLite
import Testing

@Suite("A server killed while it removes assets")
struct AssetCollectionKillTests {
    /// So many that a fast machine does not remove them between two looks.
    private static let unused = 3_000

    /// Puts files in place that nothing has referred to for long: some with a row, some without.
    private static func fill(_ data: String) throws {
        let folder = "\(data)/containers/icloud.a/development"
        let storage = FolderAssets(path: "\(folder)/assets")
        let store = try Connection(path: "\(folder)/store.sqlite", mode: .readWrite)
        try store.execute("BEGIN")
        for number in 0..<unused {
            let upload = try storage.begin(expectedBytes: 0)
            let bytes = Array("unused \(number)".utf8)
            try bytes.withUnsafeBytes { try upload.append($0) }
            let content = try upload.seal()
            try upload.place()
            let name = content.digest.hexadecimal
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -7_200)],
                ofItemAtPath: "\(folder)/assets/\(name.prefix(2))/\(name)")
            // Each tenth is as a crash leaves it.
            guard number % 10 > 0 else { continue }
            let row = try store.prepare(
                "INSERT INTO asset_files (digest, bytes, unused_since) VALUES (?1, ?2, 1)")
            row.bind(content.digest.bytes, at: 1)
            row.bind(Int64(bytes.count), at: 2)
            try row.run()
        }
        try store.execute("COMMIT")
    }

    /// How many files have gone: much quicker than to list them.
    private static func gone(_ files: [String]) -> Int { files.count { access($0, F_OK) != 0 } }

    @Test("Whenever it goes, what is held stays whole, and the next goes on until the rest is gone")
    func kills() async throws {
        let folder = try TemporaryFolder()
        let test = try AssetFixture(
            data: folder.path("data"),
            environment: [
                "LENTICULAR_RETENTION_UPKEEP_SECONDS": "1",
                "LENTICULAR_ASSETS_GRACE_SECONDS": "60",
            ])
        try await BlockingThread.run {
            let held = try makeFile(folder.path("held"), bytes: 70_000)
            try test.save("held", test.upload(file: folder.path("held")))
            test.server.signal(SIGTERM)
            _ = test.server.wait()
            try Self.fill(test.data)
            let found = try Program.run(
                ["check", "--data", test.data, "--json"], environment: test.environment)
            let problems = found.object["problems"] as? [String] ?? []
            #expect(found.status == 1 && problems.count == 21, "\(found)")
            #expect(problems.allSatisfy { $0.contains("asset that nothing refers to") })
            #expect(problems.last?.contains("\(Self.unused / 10 - 20) more") == true)
            var files = test.files().placed
            #expect(files.count == Self.unused + 1)
            var kills = 0
            let until = Date(timeIntervalSinceNow: 600)
            while files.count > 1, Date() < until {
                try test.restart()
                // A request opens the store; then the rounds begin.
                #expect(try test.download(test.link(of: "held")) == held)
                // The first are killed at the first file that goes: a busy machine may see it late.
                let enough = min(files.count - 1, kills < 3 ? 1 : 200)
                while Self.gone(files) < enough, Date() < until {}
                test.server.signal(SIGKILL)
                _ = test.server.wait()
                kills += 1
                files = test.files().placed
            }
            let left = files.count
            #expect(left == 1)
            #expect(kills > 2)
            try test.restart()
            #expect(try test.download(test.link(of: "held")) == held)
            #expect(try test.problems() == [])
        }
    }
}
