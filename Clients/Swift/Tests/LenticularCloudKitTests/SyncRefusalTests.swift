import CloudKitWire
import XCTest

@testable import LenticularCloudKit

/// What becomes of changes that are refused, cancelled or taken back while they are on their way.
final class SyncRefusalTests: XCTestCase {
    private let server = ScriptedSyncServer()
    private let app = SyncedApp()
    private let note = CKSyncEngine.PendingRecordZoneChange.saveRecord(SyncedApp.id("a"))

    func testARequestThatIsRefusedAsAWholeIsToldForEachChangeAndHoldsNothingUp() async throws {
        let engine = try await app.readyEngine(server)
        app.resolves = false
        app.write("a", "too much", engine)
        server.fail(with: CKError(.limitExceeded, "too much"))
        let error = await failure { try await engine.sendChanges() }
        XCTAssertEqual(error?.code, .partialFailure)
        XCTAssertEqual(
            app.takeLog(), ["will send", "sent [] -[] failed [\"a limitExceeded\"]", "did send"])
        XCTAssertEqual(engine.state.pendingRecordZoneChanges, [])
        app.write("b", "enough", engine)
        try await engine.sendChanges()
        XCTAssertEqual(server.texts(in: SyncedApp.zone), ["b": "enough"])
    }

    func testZonesThatAreRefusedAsAWholeDoNotHoldRecordsUp() async throws {
        let engine = try await app.readyEngine(server)
        let refused = Codes()
        app.onEvent = { event, _ in
            guard case .sentDatabaseChanges(let sent) = event else { return }
            refused.note(sent.failedZoneSaves.map(\.error.code))
        }
        app.write("a", "x", engine)
        engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneName: "No"))])
        server.fail(with: CKError(.badDatabase, "no zones here"))
        let error = await failure { try await engine.sendChanges() }
        XCTAssertEqual(error?.code, .partialFailure)
        XCTAssertEqual(refused.all, [.badDatabase])
        XCTAssertEqual(engine.state.pendingDatabaseChanges, [])
        try await engine.sendChanges()
        XCTAssertEqual(server.texts(in: SyncedApp.zone), ["a": "x"])
    }

    func testWhatIsNoAnswerOfAServerLeavesTheChangesWaiting() async throws {
        for code in [CKError.Code.internalError, .badContainer] {
            let engine = try await app.readyEngine(server)
            app.write("a", "x", engine)
            server.fail(with: CKError(code, "a page that asks for a room number"))
            let error = await failure { try await engine.sendChanges() }
            XCTAssertEqual(error?.code, code)
            XCTAssertEqual(engine.state.pendingRecordZoneChanges, [note])
            XCTAssertEqual(app.takeLog(), ["will send", "did send"])
        }
    }

    func testARecordWhoseRequestWasCancelledWaitsAlthoughOthersWereAnswered() async throws {
        let engine = try await app.readyEngine(server)
        app.resolves = false
        for code in [CKError.Code.operationCancelled, .zoneBusy] {
            app.write("a", "x", engine)
            app.remove("b", engine)
            server.failItems(with: CKError(code, "by chance"))
            let error = await failure { try await engine.sendChanges() }
            XCTAssertEqual(error?.code, .partialFailure)
            XCTAssertEqual(
                engine.state.pendingRecordZoneChanges, [note, .deleteRecord(SyncedApp.id("b"))])
            try await engine.sendChanges()
            XCTAssertEqual(engine.state.pendingRecordZoneChanges, [])
        }
    }

    func testAStateThatNoLongerHoldsAZoneComesAfterTheEventThatSaysSo() async throws {
        let engine = app.engine(server)
        let held = Codes()
        let (app, server) = (app, server)
        app.onEvent = { event, engine in
            guard case .sentDatabaseChanges = event else { return }
            let next = app.engine(server, from: engine.memory.serialization)
            held.note(next.state.pendingDatabaseChanges.map { _ in .zoneNotFound })
        }
        engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: SyncedApp.zone))])
        try await engine.sendChanges()
        XCTAssertEqual(held.all.count, 1, "an app that ends within the event hears of it again")
        XCTAssertEqual(engine.state.pendingDatabaseChanges, [])
    }

    func testWhatTheAppTakesBackWhileItIsSentDoesNotComeBack() async throws {
        let engine = try await app.readyEngine(server)
        app.write("a", "x", engine)
        let note = note
        server.onRequest = { request in
            guard request.hasPrefix("change") else { return }
            engine.state.remove(pendingRecordZoneChanges: [note])
        }
        server.fail(with: CKError(.networkFailure, "by chance"))
        let error = await failure { try await engine.sendChanges() }
        XCTAssertEqual(error?.code, .networkFailure)
        XCTAssertEqual(engine.state.pendingRecordZoneChanges, [])
    }

    func testWhoHasJoinedAFetchGoesOnWhenTheOneWhoBeganItGivesUp() async throws {
        let engine = try await app.readyEngine(server)
        server.put("a", "x", in: SyncedApp.zone)
        let isFirst = Flag()
        let begun = expectation(description: "begun")
        server.onRequest = { request in
            guard request == "zones", !isFirst.isSet else { return }
            isFirst.set()
            begun.fulfill()
            // Under way until it is cancelled: the sleep then ends at once.
            try? await Task.sleep(nanoseconds: 20_000_000_000)
        }
        server.fail(with: CKError(.operationCancelled, "cancelled"))
        let first = Task { try await engine.fetchChanges() }
        await fulfillment(of: [begun], timeout: 20)
        let second = Task { try await engine.fetchChanges() }
        for _ in 0..<100 { await Task.yield() }
        first.cancel()
        let error = await failure { try await first.value }
        XCTAssertEqual(error?.code, .operationCancelled)
        try await second.value
        XCTAssertEqual(app.notes, ["a": "x"])
    }
}

/// Codes of errors, noted from another task.
private final class Codes: Sendable {
    private let noted = Locked<[CKError.Code]>([])

    func note(_ codes: [CKError.Code]) { noted.withLock { $0 += codes } }

    var all: [CKError.Code] { noted.withLock { $0 } }
}
