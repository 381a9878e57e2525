import Foundation
import Seeding
import Synchronization
import Testing

@Suite("Assets of a server that is killed, or whose disk is full")
struct AssetFaultTests {
    /// What was acknowledged: records, and the bytes that they hold.
    private final class Acknowledged: Sendable {
        private let state = Mutex<[String: Data]>([:])
        private let added = DispatchSemaphore(value: 0)

        var all: [String: Data] { state.withLock { $0 } }

        func add(_ name: String, _ bytes: Data) {
            state.withLock { $0[name] = bytes }
            added.signal()
        }

        /// Waits until one more is there.
        func waitForNext() -> Bool {
            added.wait(timeout: .now() + .seconds(120)) == .success
        }
    }

    @Test("Whatever was acknowledged outlives every kill byte for byte, and nothing half is left")
    func kills() async throws {
        print("kill test of assets: LENTICULAR_KILL_SEED=\(TestSeed.value)")
        let folder = try TemporaryFolder()
        let test = try AssetFixture(data: folder.path("data"))
        try await BlockingThread.run {
            var random = SeededRandom(seed: TestSeed.value)
            let acknowledged = Acknowledged()
            for round in 0..<6 {
                let done = DispatchGroup()
                for uploader in 0..<3 {
                    done.enter()
                    Thread.detachNewThread {
                        Self.uploadUntilGone(
                            test, folder.path("file-\(uploader)"), "\(round)-\(uploader)",
                            acknowledged)
                        done.leave()
                    }
                }
                done.enter()
                Thread.detachNewThread {
                    // Its server goes in the middle; what it leaves is no backup.
                    _ = try? test.server.command("backup", folder.path("copy-\(round)"))
                    done.leave()
                }
                #expect(acknowledged.waitForNext())
                _ = done.wait(timeout: .now() + .milliseconds(random.below(1_500)))
                test.server.signal(SIGKILL)
                #expect(test.server.wait() == -SIGKILL)
                done.wait()
                try test.restart()
                #expect(try test.problems() == [])
                for (name, bytes) in acknowledged.all {
                    #expect(try test.download(test.link(of: name)) == bytes, "\(name)")
                }
                #expect(test.files().incoming.isEmpty)
            }
            #expect(acknowledged.all.count > 5)
            let copy = folder.path("last")
            let backup = try test.server.command("backup", copy, "--json")
            #expect(backup.object["ok"] as? Bool == true)
            // The copies are whole or not there.
            for round in 0..<6 {
                let path = folder.path("copy-\(round)")
                guard FileManager.default.fileExists(atPath: path) else { continue }
                let data = folder.path("restored-\(round)")
                let outcome = try Program.run(["restore", path, "--data", data, "--yes", "--json"])
                #expect(outcome.object["ok"] as? Bool == true, "\(outcome)")
            }
        }
    }

    /// Uploads and saves one file after another until the server does not answer.
    private static func uploadUntilGone(
        _ test: AssetFixture, _ file: String, _ stem: String, _ acknowledged: Acknowledged
    ) {
        var number = 0
        do {
            while true {
                number += 1
                let name = "r\(stem)-\(number)"
                let bytes = try makeFile(
                    file, bytes: 300_000 * (number % 8) + number,
                    number: UInt64(truncatingIfNeeded: name.hashValue))
                try test.save(name, test.upload(file: file))
                acknowledged.add(name, bytes)
            }
        } catch {
            // The server has been killed.
        }
    }

    /// Runs a server on a small disk, and gives a path for files that lie elsewhere.
    private func onSmallDisk(
        bytes: Int, freeBytesMin: Int, reserveBytes: Int = 1 << 20,
        _ body: (_ disk: SmallDisk, _ test: AssetFixture, _ file: String) throws -> Void
    ) throws {
        guard let disk = try SmallDisk.make(bytes: bytes) else { return }
        let elsewhere = try TemporaryFolder()
        // The server goes before its disk.
        try withExtendedLifetime((disk, elsewhere)) {
            let test = try AssetFixture(
                data: disk.folder.path("data"),
                environment: [
                    "LENTICULAR_ASSETS_FREE_BYTES_MIN": "\(freeBytesMin)",
                    "LENTICULAR_STORAGE_RESERVE_BYTES": "\(reserveBytes)",
                ])
            try body(disk, test, elsewhere.path("file"))
        }
    }

    @Test("A full disk refuses uploads, keeps nothing of them, serves the rest, and recovers")
    func fullDisk() throws {
        try onSmallDisk(bytes: 32 << 20, freeBytesMin: 0) { disk, test, file in
            _ = try makeFile(disk.folder.path("filler"), bytes: 4_000_000)
            var saved: [String: Data] = [:]
            var refusal = ""
            for number in 0..<40 {
                let bytes = try makeFile(file, bytes: 1_500_000, number: UInt64(number))
                do {
                    // Without a length nobody knows beforehand that it will not fit.
                    try test.save(
                        "r\(number)",
                        test.upload(["-T", file, "-H", "Transfer-Encoding: chunked"]))
                    saved["r\(number)"] = bytes
                } catch let refused as AssetFixture.Refused {
                    refusal = refused.text
                    break
                }
            }
            #expect(refusal.contains("503"), "\(refusal)")
            #expect(refusal.contains("full"))
            #expect(saved.count > 5)
            #expect(test.files().incoming.isEmpty)
            for (name, bytes) in saved { #expect(try test.download(test.link(of: name)) == bytes) }
            // Somebody makes room.
            disk.empty("filler")
            let small = try makeFile(file, bytes: 1_000, number: 99)
            try test.save("small", test.upload(file: file))
            #expect(try test.download(test.link(of: "small")) == small)
            #expect(try test.problems() == [])
        }
    }

    @Test("An upload of unknown length ends where the disk would be left with less than the floor")
    func floorOnTheWay() throws {
        try onSmallDisk(bytes: 48 << 20, freeBytesMin: 24 << 20) { _, test, file in
            _ = try makeFile(file, bytes: 40_000_000)
            // Nobody knows beforehand that it is too long: there is room for the beginning.
            let refused = try test.server.request(
                test.uploadPath(), ["-T", file, "-H", "Transfer-Encoding: chunked"])
            #expect(refused.status == 503, "\(refused.text)")
            #expect(refused.text.contains("full"))
            #expect(test.files().incoming.isEmpty)
            #expect(test.files().placed.isEmpty)
            let small = try makeFile(file, bytes: 5_000_000)
            try test.save(
                "small", test.upload(["-T", file, "-H", "Transfer-Encoding: chunked"]))
            #expect(try test.download(test.link(of: "small")) == small)
        }
    }

    @Test(
        "Uploads do not take the room that a full disk has set free for deletes, without a floor too"
    )
    func releasedReserve() throws {
        try onSmallDisk(bytes: 48 << 20, freeBytesMin: 0, reserveBytes: 16 << 20) {
            disk, test, file in
            func modify(_ operation: String, _ name: String) throws -> [String: Any] {
                let text = String(repeating: "x", count: 500_000)
                let fields =
                    operation == "forceDelete" ? "" : #","fields":{"t":{"value":"\#(text)"}}"#
                let body =
                    #"{"operations":[{"operationType":"\#(operation)","record":{"recordType":"T","#
                    + #""recordName":"\#(name)"\#(fields)}}]}"#
                try Data(body.utf8).write(to: URL(fileURLWithPath: file))
                return try test.post("records/modify", "@\(file)")
            }
            _ = try modify("forceReplace", "kept")
            #expect(disk.fill())
            var isFull = false
            for number in 0..<20 where !isFull {
                do { _ = try modify("forceReplace", "r\(number)") } catch is AssetFixture.Refused {
                    isFull = true
                }
            }
            #expect(isFull)
            _ = try makeFile(file, bytes: 2_000_000)
            for options in [
                ["--data-binary", "@\(file)"], ["-T", file, "-H", "Transfer-Encoding: chunked"],
            ] {
                let refused = try test.server.request(test.uploadPath(), options)
                #expect(refused.status == 503 && refused.text.contains("full"), "\(refused.text)")
            }
            let deleted = try modify("forceDelete", "kept")
            let record = (deleted["records"] as? [[String: Any]])?.first
            #expect(record?["deleted"] as? Bool == true, "\(deleted)")
        }
    }
}
