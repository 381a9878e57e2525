import Foundation
import Testing

/// A server on a disk of its own that other files fill up.
@Suite("A server whose disk is full")
struct FaultsOfFullDiskTests {
    /// A server on a small disk, and one client.
    private final class Fixture {
        static let environment = ["LENTICULAR_STORAGE_RESERVE_BYTES": "4194304"]

        let disk: SmallDisk
        let access: DatabaseClient.Access
        var server: ServerProcess
        var client: DatabaseClient
        /// What was acknowledged, and not deleted since.
        var stored: [String: RecordVersion] = [:]
        var refused: [String] = []
        private var count = 0

        /// Nil when this process may not mount.
        init?() throws {
            guard let disk = try SmallDisk.make(bytes: 32 << 20) else { return nil }
            self.disk = disk
            let data = disk.folder.path("data")
            access = try CrashRun.access(data)
            server = try ServerProcess(data: data, environment: Self.environment)
            client = DatabaseClient(address: server.address, access: access, user: 0)
        }

        /// Makes the zone that everything is saved in.
        func makeZone() throws {
            guard case .success = client.modifyZone("Z", deletes: false) else {
                throw CrashRun.Stopped(why: "no zone")
            }
        }

        /// Saves batches until the server says that the disk is full.
        func saveUntilFull() throws {
            while save() {}
        }

        /// Saves one batch; false when it was refused because the disk is full.
        func save() -> Bool {
            count += 1
            let operations = (0..<20).map {
                // Values of this form come with as much padding as there is.
                Operation(
                    "r\(count)-\($0)", .create, "w\($0 + count * 20)-\(29 * (count * 20 + $0))")
            }
            switch client.modify("Z", operations, isAtomic: true) {
            case .success(let outcomes):
                for (operation, outcome) in zip(operations, outcomes) {
                    guard case .saved(let tag) = outcome else {
                        Issue.record("\(outcome)")
                        return false
                    }
                    stored[operation.name] = RecordVersion(tag: tag, value: operation.value)
                }
                return true
            case .fault("TRY_AGAIN_LATER", let reason, 503) where reason.contains("full"):
                refused += operations.map(\.name)
                return false
            case let other:
                Issue.record("\(other)")
                return false
            }
        }

        /// Deletes one record; whether it was done.
        func deleteOne() -> Bool {
            guard let name = stored.keys.sorted().first, let version = stored[name] else {
                return false
            }
            let reply = client.modify(
                "Z", [Operation(name, .delete(base: version.tag))], isAtomic: true)
            guard case .success(let outcomes) = reply, outcomes == [.deleted] else {
                Issue.record("\(reply)")
                return false
            }
            stored[name] = nil
            return true
        }

        /// Tries until writes work again; whether they did in two minutes.
        func worksAgain() -> Bool {
            let deadline = DatabaseClient.now + 120_000_000_000
            while !save() {
                if DatabaseClient.now > deadline { return false }
                Thread.sleep(forTimeInterval: 0.05)
            }
            return client.get("/readyz") == 200
        }

        func restart(_ signal: Int32) throws {
            server.signal(signal)
            _ = server.wait()
            server = try ServerProcess(
                data: disk.folder.path("data"), environment: Self.environment)
            client = DatabaseClient(address: server.address, access: access, user: 0)
        }

        /// All that was acknowledged is there, and nothing else.
        func checkContent(at location: SourceLocation = #_sourceLocation) throws {
            var token: FeedToken?
            var found: [String: RecordVersion] = [:]
            while true {
                let reply = client.changes("Z", after: token?.text, limit: 200, newestFirst: false)
                guard case .success(let page) = reply else {
                    Issue.record("\(reply)", sourceLocation: location)
                    return
                }
                for (name, version) in page.records { found[name] = version }
                token = page.token
                if !page.moreComing { break }
            }
            #expect(found == stored, sourceLocation: location)
            let some = Array(refused.suffix(20))
            guard case .success(let versions) = client.lookup("Z", some) else {
                Issue.record("no lookup", sourceLocation: location)
                return
            }
            #expect(versions.allSatisfy { $0 == nil }, sourceLocation: location)
        }

        func checkStore(at location: SourceLocation = #_sourceLocation) throws {
            let outcome = try server.command("check", "--json")
            #expect(outcome.object["ok"] as? Bool == true, "\(outcome)", sourceLocation: location)
        }
    }

    private func onSmallDisk(
        _ body: @escaping @Sendable (Fixture) throws -> Void
    ) async throws {
        try await BlockingThread.run {
            guard let fixture = try Fixture() else { return }
            try body(fixture)
        }
    }

    @Test("Writes are refused with 503, reads and deletes go on, and room brings writes back")
    func otherFiles() async throws {
        try await onSmallDisk { fixture in
            try fixture.makeZone()
            for _ in 0..<5 { #expect(fixture.save()) }
            #expect(fixture.disk.fill())
            try fixture.saveUntilFull()
            #expect(fixture.client.get("/readyz") == 503)
            #expect(fixture.client.get("/healthz") == 200)
            try fixture.checkContent()
            for _ in 0..<50 { #expect(fixture.deleteOne()) }
            // What the log gave up may be room enough for a few more.
            try fixture.saveUntilFull()
            try fixture.checkContent()
            fixture.disk.empty()
            #expect(fixture.worksAgain())
            try fixture.checkContent()
            try fixture.checkStore()
            try fixture.restart(SIGKILL)
            try fixture.checkContent()
            #expect(fixture.save())
            try fixture.checkStore()
        }
    }

    @Test("Deletes alone make the room that writes need")
    func ownRecords() async throws {
        try await onSmallDisk { fixture in
            try fixture.makeZone()
            try fixture.saveUntilFull()
            #expect(fixture.client.get("/readyz") == 503)
            try fixture.checkContent()
            for _ in 0..<(fixture.stored.count * 2 / 3) { #expect(fixture.deleteOne()) }
            #expect(fixture.worksAgain())
            try fixture.checkContent()
            try fixture.checkStore()
            try fixture.restart(SIGTERM)
            try fixture.checkContent()
        }
    }

    @Test(
        "A server killed on a full disk starts on it, and loses nothing",
        arguments: [SIGKILL, SIGTERM])
    func restart(signal: Int32) async throws {
        try await onSmallDisk { fixture in
            try fixture.makeZone()
            for _ in 0..<5 { #expect(fixture.save()) }
            #expect(fixture.disk.fill())
            try fixture.saveUntilFull()
            #expect(fixture.disk.fill("more"))
            try fixture.restart(signal)
            try fixture.checkContent()
            #expect(!fixture.save())
            fixture.disk.empty()
            fixture.disk.empty("more")
            #expect(fixture.worksAgain())
            try fixture.checkContent()
            try fixture.checkStore()
        }
    }

    @Test("A container's first write on a full disk is refused with 503, too")
    func newStore() async throws {
        try await onSmallDisk { fixture in
            #expect(fixture.disk.fill())
            let reply = fixture.client.modifyZone("Z", deletes: false)
            guard case .fault("TRY_AGAIN_LATER", _, 503) = reply else {
                Issue.record("\(reply)")
                return
            }
            fixture.disk.empty()
            try fixture.makeZone()
            #expect(fixture.save())
            try fixture.checkContent()
        }
    }
}
