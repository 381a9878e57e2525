import CloudModel
import Foundation
import SQLite
import Seeding
import SharingModel
import Testing

@testable import Server

/// Stores that servers of before version rows have left.
@Suite("Records that move into the present form")
struct MovedVersionTests {
    private static let kills = 10

    /// Reads until the worker has moved all.
    private func waitForMove(_ notes: FolderNotes) throws {
        let deadline = Date(timeIntervalSinceNow: 60)
        while try FormerVersions.left(in: notes.store) > 0, Date.now < deadline {
            _ = try notes.page(nil)
        }
        #expect(try FormerVersions.left(in: notes.store) == 0)
    }

    @Test("They move while clients write and follow: no answer changes, and tokens stay good")
    func moves() throws {
        let notes = try FolderNotes()
        for number in 0..<60 { try notes.save("a\(number)") }
        for number in 0..<5 { try notes.save("p\(number)", in: "public") }
        let follower = NoteFollower(notes)
        try follower.follow()
        let token = follower.token
        let pages = try ["private", "public"].map { try notes.page(nil, of: $0) }
        notes.stop()
        #expect(try FormerVersions.bringBack(notes.store) >= 65)
        try notes.start()
        // Read wherever they lie, and written over.
        for number in 0..<20 {
            try notes.save("a\(number * 3)")
            try follower.follow()
        }
        try waitForMove(notes)
        try follower.follow()
        #expect(follower.expiries == 0)
        #expect(follower.held.count == 60)
        #expect(try notes.page(token)["serverErrorCode"] == nil)
        let now = try notes.page(nil, of: "public")
        #expect(
            NSArray(array: now["records"] as? [Any] ?? [])
                == NSArray(array: pages[1]["records"] as? [Any] ?? [1]))
        #expect(notes.reusedTags == [])
        #expect(try #require(notes.running).folder.problems() == [])
    }

    @Test("All are moved, each once, wherever the server was killed")
    func killed() async throws {
        let seed = TestSeed.value
        print("kill test of moved records: LENTICULAR_SEED=\(seed)")
        let folder = try TemporaryFolder()
        let data = folder.path("data")
        try await BlockingThread.run {
            let wire = try SharingProcessWire(data: data)
            _ = try wire.makeAccount(SharingPerson(index: 0))
            for number in 0..<20 { try Self.save(number, wire) }
            let before = try Self.all(wire)
            #expect(before.count == 2_000)
            var store = ""
            try wire.restart {
                store = $0
                try FormerVersions.bringBack($0)
            }
            var random = SeededRandom(seed: seed)
            for _ in 0..<Self.kills {
                wire.killSoon(microseconds: random.below(40_000))
                // NB: it only has the store opened; the answer may fall to the kill.
                _ = try? Self.names(0, wire)
                try wire.restartIfKilled()
            }
            #expect(try Self.all(wire) == before)
            let deadline = Date(timeIntervalSinceNow: 60)
            while try FormerVersions.left(in: store) > 0, Date.now < deadline {
                _ = try Self.names(0, wire)
            }
            #expect(try FormerVersions.left(in: store) == 0)
            #expect(try Self.all(wire) == before)
            // Checks the store, too.
            try wire.end()
        }
    }

    /// Saves a hundred public records.
    private static func save(_ batch: Int, _ wire: SharingProcessWire) throws {
        let operations = (0..<100).map { number in
            """
            {"operationType":"forceReplace","record":{"recordName":"r\(batch * 100 + number)",
            "recordType":"Leaf","fields":{}}}
            """
        }
        let answer = try wire.send(
            0, "public/records/modify", "{\"operations\":[\(operations.joined(separator: ","))]}")
        #expect(answer.status == 200)
    }

    /// The tags of a hundred records by their names.
    private static func names(_ batch: Int, _ wire: SharingProcessWire) throws -> [String: String] {
        let asked = (0..<100).map { "{\"recordName\":\"r\(batch * 100 + $0)\"}" }
        let answer = try wire.send(
            0, "public/records/lookup", "{\"records\":[\(asked.joined(separator: ","))]}")
        var found: [String: String] = [:]
        for record in answer["records"].elements {
            found[record["recordName"].string ?? ""] = record["recordChangeTag"].string
        }
        return found
    }

    private static func all(_ wire: SharingProcessWire) throws -> [String: String] {
        try (0..<20).reduce(into: [:]) { all, batch in
            all.merge(try names(batch, wire)) { first, _ in first }
        }
    }

    @Test("Nothing is moved while the disk has less room than is set; log, metrics and check tell")
    func noRoom() throws {
        let folder = try TemporaryFolder()
        let data = folder.path("data")
        let wire = try SharingProcessWire(data: data)
        _ = try wire.makeAccount(SharingPerson(index: 0))
        for batch in 0..<3 { try Self.save(batch, wire) }
        let before = try Self.names(1, wire)
        var (versions, names) = (0, 0)
        try wire.restart(environment: ["LENTICULAR_STORAGE_MOVE_FREE_BYTES_MIN": "\(1 << 50)"]) {
            versions = try FormerVersions.bringBack($0)
            names = try FormerVersions.bringBackNames($0)
        }
        #expect(versions >= 300 && names >= 300)
        // It has the store opened.
        #expect(try Self.names(1, wire) == before)
        for kind in ["versions", "names"] {
            let line = try #require(wire.waitForLine("\"kind\":\"\(kind)\""))
            #expect(line.contains("storage.moveFreeBytesMin is \(1 << 50)"), "\(line)")
        }
        try wire.restart { _ in
            let check = try Program.run(["check", "--json", "--data", data])
            #expect(check.status == 0, "\(check)")
            #expect(check.object["recordsToMove"] as? Int == versions)
            #expect(check.object["namesToMove"] as? Int == names)
        }
        #expect(try Self.names(1, wire) == before)
        for (what, count) in [("records", versions), ("names", names)] {
            let line = try #require(wire.waitForLine("a store's \(what) have been moved"))
            #expect(line.contains("\(count)"), "\(line)")
        }
        let metrics = try wire.metrics()
        #expect(metrics.contains("lenticular_records_moved_total \(versions)\n"))
        #expect(metrics.contains("lenticular_names_moved_total \(names)\n"))
        #expect(try Self.names(1, wire) == before)
        try wire.end()
    }

    @Test("A store that is half moved is checked, copied and restored as any other")
    func halfMoved() throws {
        let notes = try FolderNotes()
        for number in 0..<40 { try notes.save("a\(number)") }
        _ = try notes.found(after: nil)
        let page = try notes.page(nil)
        notes.stop()
        try FormerVersions.bringBack(notes.store)
        try FormerVersions.move(notes.store, limit: 20)
        #expect(try FormerVersions.left(in: notes.store) >= 20)
        let (copy, restored) = (notes.temporary.path("copy"), notes.temporary.path("restored"))
        for arguments in [
            ["check", "--data", notes.data], ["backup", copy, "--data", notes.data],
            ["restore", copy, "--yes", "--data", restored],
        ] {
            let outcome = try Program.run(arguments + ["--json"])
            #expect(outcome.status == 0, "\(arguments): \(outcome)")
        }
        let files = FileManager.default
        try files.removeItem(atPath: notes.data)
        try files.moveItem(atPath: restored, toPath: notes.data)
        #expect(try FormerVersions.left(in: notes.store) >= 20)
        try notes.start()
        let again = try notes.page(nil)
        #expect(
            NSArray(array: again["records"] as? [Any] ?? [])
                == NSArray(array: page["records"] as? [Any] ?? [1]))
        let next = try notes.page(page["syncToken"] as? String)
        #expect(next["serverErrorCode"] == nil, "\(next)")
        try waitForMove(notes)
        #expect(try #require(notes.running).folder.problems() == [])
    }
}
