import CloudModel
import Cryptography
import Dispatch
import Foundation
import SQLiteStorage
import Storage
import Testing

/// Requests that find the writer's queue full.
@Suite("Writes that wait")
struct WaitingWriteTests {
    @Test(
        "Over their part of what waits callers are told 429, and over all of it 503, and when to come"
    )
    func bounds() throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "waiting-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var options = SQLiteStore.Options(
            clock: Clock { 1_767_225_600_000 }, random: { RandomSource.system.bytes($0) })
        // An eighth of it is one caller's.
        options.writer.groups.waitingJobsMax = 16
        let store = try SQLiteStore(
            path: folder.appending(path: "store.sqlite").path, options: options,
            onIndeterminate: { _ in })
        defer { store.close() }
        let server = try WireServer(storage: store)
        let users = try (0..<9).map { try server.user("u\($0)") }
        for user in users { #expect(try user.save("known", zone: nil).code == nil) }

        // The writer's thread stands until it is let go.
        let (begun, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        store.write(cost: 1, frees: false) { _ in
            begun.signal()
            go.wait()
        } completion: { _ in
        }
        defer { go.signal() }
        try #require(begun.wait(timeout: .now() + 60) == .success)
        let save = "{\"operations\":[\(operation("forceReplace", "a"))]}"
        var waiting: [WireClient.Pending] = []
        func start(_ user: WireClient) throws {
            waiting.append(user.start("private/records/modify", save))
            // With the one at work.
            try server.until { store.measurements.groups.waiting == waiting.count + 1 }
        }
        // The writer's own job counts, too: there is room for 15.
        for user in users.prefix(7) {
            for _ in 0..<2 { try start(user) }
            let over = try user.send("private/records/modify", save)
            #expect(over.status == 429 && over.code == "THROTTLED", "\(over.text)")
            #expect(over.header("Retry-After") == over["retryAfter"].raw)
            #expect((over["retryAfter"].int ?? 0) > 0)
        }
        try start(users[7])
        let full = try users[8].send("private/records/modify", save)
        #expect(full.status == 503 && full.code == "TRY_AGAIN_LATER", "\(full.text)")
        #expect(full.header("Retry-After") == full["retryAfter"].raw)
        // Reads need no writer.
        #expect(try users[8].record("known", zone: nil).code == nil)
        go.signal()
        for pending in waiting { #expect(try pending.answer().records[0].code == nil) }
        #expect(try users[8].send("private/records/modify", save).records[0].code == nil)
    }
}
