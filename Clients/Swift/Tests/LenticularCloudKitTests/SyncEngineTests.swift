import CloudKitWire
import XCTest

@testable import LenticularCloudKit

final class SyncEngineTests: XCTestCase {
    private let server = ScriptedSyncServer()
    private let app = SyncedApp()

    func testPendingChangesAreKeptInOrderAndEachOnce() {
        let engine = app.engine(server)
        let (a, b) = (SyncedApp.id("a"), SyncedApp.id("b"))
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(a), .saveRecord(b)])
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(a)])
        XCTAssertEqual(engine.state.pendingRecordZoneChanges, [.saveRecord(a), .saveRecord(b)])
        engine.state.add(pendingRecordZoneChanges: [.deleteRecord(a)])
        XCTAssertEqual(engine.state.pendingRecordZoneChanges, [.saveRecord(b), .deleteRecord(a)])
        engine.state.remove(pendingRecordZoneChanges: [.saveRecord(b)])
        XCTAssertEqual(engine.state.pendingRecordZoneChanges, [.deleteRecord(a)])
    }

    func testTheFirstRunTellsOfTheAccountBeforeAnythingElse() async throws {
        let engine = app.engine(server)
        engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: SyncedApp.zone))])
        app.write("a", "Tea", engine)
        try await engine.sendChanges()
        XCTAssertEqual(
            app.takeLog().map { $0.hasPrefix("account signIn") ? "sign in" : $0 },
            ["sign in", "will send", "sent zones [\"Notes\"]", "sent [\"a\"] -[]", "did send"])
        XCTAssertEqual(engine.state.pendingRecordZoneChanges, [])
        XCTAssertEqual(server.texts(in: SyncedApp.zone), ["a": "Tea"])
    }

    func testFetchingGoesByZonesAndPages() async throws {
        let engine = try await app.readyEngine(server)
        for name in ["a", "b", "c", "d"] { server.put(name, "x", in: SyncedApp.zone) }
        try await engine.fetchChanges()
        XCTAssertEqual(
            app.takeLog(),
            [
                "will fetch", "zones +[\"Notes\"] -[]", "will fetch Notes",
                "fetched [\"a\", \"b\", \"c\"] -[]", "fetched [\"d\"] -[]", "did fetch Notes",
                "did fetch",
            ])
        try await engine.fetchChanges()
        XCTAssertEqual(app.takeLog(), ["will fetch", "did fetch"])
    }

    func testARefusalEndsTheSendAndWhatTheAppAddsIsSentByTheNext() async throws {
        let engine = try await app.readyEngine(server)
        server.put("a", "theirs", in: SyncedApp.zone)
        app.write("a", "mine", engine)
        do {
            try await engine.sendChanges()
            XCTFail("expected a partial failure")
        } catch let error as CKError {
            XCTAssertEqual(error.code, .partialFailure)
            let item = error.partialErrorsByItemID?[SyncedApp.id("a")] as? CKError
            XCTAssertEqual(item?.code, .serverRecordChanged)
        }
        XCTAssertEqual(
            app.takeLog(),
            ["will send", "sent [] -[] failed [\"a serverRecordChanged\"]", "did send"])
        XCTAssertEqual(engine.state.pendingRecordZoneChanges.count, 1)
        try await engine.sendChanges()
        XCTAssertEqual(server.texts(in: SyncedApp.zone), ["a": "mine"])
    }

    func testAMissingZoneIsMadeByTheNextSend() async throws {
        let engine = app.engine(server)
        app.write("a", "Tea", engine)
        do {
            try await engine.sendChanges()
            XCTFail("expected a partial failure")
        } catch CKError.partialFailure {}
        XCTAssertEqual(engine.state.pendingDatabaseChanges.count, 1)
        try await engine.sendChanges()
        XCTAssertEqual(server.texts(in: SyncedApp.zone), ["a": "Tea"])
    }

    func testAnEditWhileItsRecordIsSentStaysWaiting() async throws {
        let engine = try await app.readyEngine(server)
        app.write("a", "first", engine)
        let app = app
        app.onEvent = { event, engine in
            guard case .sentRecordZoneChanges = event else { return }
            app.onEvent = { _, _ in }
            app.write("a", "second", engine)
        }
        try await engine.sendChanges()
        XCTAssertEqual(server.texts(in: SyncedApp.zone), ["a": "second"])
        XCTAssertEqual(engine.state.pendingRecordZoneChanges, [])
    }

    func testWhatPassesIsPutBack() async throws {
        for code in [
            CKError.Code.networkFailure, .networkUnavailable, .requestRateLimited,
            .serviceUnavailable, .zoneBusy, .notAuthenticated, .accountTemporarilyUnavailable,
        ] {
            let engine = try await app.readyEngine(server)
            app.write("a", "Tea", engine)
            server.fail(with: CKError(code, "passes"))
            do {
                try await engine.sendChanges()
                XCTFail("expected \(code)")
            } catch let error as CKError {
                XCTAssertEqual(error.code, code)
            }
            XCTAssertEqual(
                engine.state.pendingRecordZoneChanges, [.saveRecord(SyncedApp.id("a"))])
        }
    }

    func testWaitingForTheEngineWithinAnEventIsRefused() async throws {
        let engine = try await app.readyEngine(server)
        let refused = Flag()
        app.onEvent = { event, engine in
            guard case .willFetchChanges = event else { return }
            do {
                try await engine.sendChanges()
            } catch CKError.invalidArguments {
                refused.set()
            } catch {}
        }
        try await engine.fetchChanges()
        XCTAssertTrue(refused.isSet)
    }

    func testAccountsThatComeAndGoResetWhatIsKnown() async throws {
        let engine = try await app.readyEngine(server)
        app.write("a", "Tea", engine)
        server.account = CKRecord.ID(recordName: "_bob")
        try await engine.fetchChanges()
        XCTAssertTrue(app.takeLog().first?.hasPrefix("account switchAccounts") ?? false)
        XCTAssertEqual(engine.state.pendingRecordZoneChanges, [])
        server.account = nil
        try await engine.fetchChanges()
        XCTAssertTrue(app.takeLog().first?.hasPrefix("account signOut") ?? false)
        try await engine.fetchChanges()
        XCTAssertEqual(app.takeLog(), [])
    }

    func testAnExpiredTokenIsFetchedAnewWithinTheEngine() async throws {
        let engine = try await app.readyEngine(server)
        server.put("a", "x", in: SyncedApp.zone)
        try await engine.fetchChanges()
        _ = app.takeLog()
        server.put("b", "x", in: SyncedApp.zone)
        server.fail(with: CKError(.changeTokenExpired, "old"))
        try await engine.fetchChanges()
        XCTAssertEqual(app.notes, ["a": "x", "b": "x"])
        XCTAssertTrue(app.takeLog().contains("did fetch Notes"))
    }

    func testAnEngineThatDoesNothingByItselfMakesNoRequest() async throws {
        let engine = app.engine(server)
        app.write("a", "Tea", engine)
        for _ in 0..<50 { await Task.yield() }
        XCTAssertEqual(server.requests, [])
    }

    func testAnAutomaticEngineSendsWhatIsAdded() async throws {
        let sent = expectation(description: "sent")
        sent.assertForOverFulfill = false
        app.onEvent = { event, _ in
            if case .sentRecordZoneChanges(let changes) = event, !changes.savedRecords.isEmpty {
                sent.fulfill()
            }
        }
        let engine = app.engine(server, automatic: true) { seconds in
            // Fetching waits for ever; sending goes on at once.
            if seconds >= 30 { try await Task.sleep(nanoseconds: 1_000_000_000_000) }
        }
        engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: SyncedApp.zone))])
        app.write("a", "Tea", engine)
        await fulfillment(of: [sent], timeout: 20)
        XCTAssertEqual(server.texts(in: SyncedApp.zone), ["a": "Tea"])
        await engine.cancelOperations()
    }

    func testAnAutomaticEngineSubscribesOnceAndFetchesWhenItIsTold() async throws {
        let fetched = expectation(description: "fetched")
        app.onEvent = { event, _ in
            if case .fetchedRecordZoneChanges = event { fetched.fulfill() }
        }
        let server = server
        server.onListen = { told in
            // Somebody else's change, which the engine hears of and does not wait for.
            server.put("a", "x", in: SyncedApp.zone)
            for subscription in ["of another app", "any"] {
                let push = ["ck": ["met": ["sid": subscription, "dbs": 2] as [String: Any]]]
                if let note = CKNotification(fromRemoteNotificationDictionary: push) {
                    told.yield(.told(note))
                }
            }
        }
        let engine = app.engine(server, automatic: true) { _ in
            try await Task.sleep(nanoseconds: 1_000_000_000_000)
        }
        await fulfillment(of: [fetched], timeout: 20)
        XCTAssertEqual(server.requests.filter { $0.hasPrefix("subscribe") }.count, 1)
        await engine.tellState()
        let again = expectation(description: "fetched again")
        // Before the next engine begins: it may be told at once.
        app.onEvent = { event, _ in
            if case .fetchedRecordZoneChanges = event { again.fulfill() }
        }
        let next = app.engine(server, automatic: true, from: app.lastState) { _ in
            try await Task.sleep(nanoseconds: 1_000_000_000_000)
        }
        await fulfillment(of: [again], timeout: 20)
        XCTAssertEqual(server.requests.filter { $0.hasPrefix("subscribe") }.count, 1)
        await engine.cancelOperations()
        await next.cancelOperations()
    }

    func testAnEngineLooksOnceMoreWhenTellingBegins() async throws {
        let fetched = expectation(description: "fetched")
        app.onEvent = { event, _ in
            if case .fetchedRecordZoneChanges = event { fetched.fulfill() }
        }
        let server = server
        server.onListen = { told in
            // Between the engine's look and the first moment that something would be told.
            server.put("a", "x", in: SyncedApp.zone)
            told.yield(.begun)
        }
        let engine = app.engine(server, automatic: true) { _ in
            try await Task.sleep(nanoseconds: 1_000_000_000_000)
        }
        await fulfillment(of: [fetched], timeout: 20)
        await engine.cancelOperations()
    }

    func testAnEngineUsesTheSubscriptionThatItIsGiven() async throws {
        let fetched = expectation(description: "fetched")
        app.onEvent = { event, _ in if case .didFetchChanges = event { fetched.fulfill() } }
        let engine = app.engine(server, automatic: true, subscription: "mine") { _ in
            try await Task.sleep(nanoseconds: 1_000_000_000_000)
        }
        await fulfillment(of: [fetched], timeout: 20)
        XCTAssertTrue(server.requests.contains("subscribe mine"))
        XCTAssertEqual(engine.memory.read(\.subscription), "mine")
        await engine.cancelOperations()
    }

    func testAStateIsReadBackWithEverythingInIt() async throws {
        let engine = try await app.readyEngine(server)
        server.put("a", "x", in: SyncedApp.zone)
        try await engine.fetchChanges()
        app.write("b", "y", engine)
        app.remove("a", engine)
        await engine.tellState()
        let data = try JSONEncoder().encode(try XCTUnwrap(app.lastState))
        let state = try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: data)
        let next = app.engine(server, from: state)
        XCTAssertEqual(
            next.state.pendingRecordZoneChanges, engine.state.pendingRecordZoneChanges)
        _ = app.takeLog()
        try await next.sendChanges()
        XCTAssertEqual(server.texts(in: SyncedApp.zone), ["b": "y"])
        XCTAssertFalse(app.takeLog().contains { $0.hasPrefix("account") })
    }
}

/// Something that happens once, told from another task.
final class Flag: Sendable {
    private let value = Locked(false)

    func set() { value.withLock { $0 = true } }

    var isSet: Bool { value.withLock { $0 } }
}
