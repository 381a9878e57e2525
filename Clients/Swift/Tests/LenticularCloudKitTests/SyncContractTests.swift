import CloudKitWire
import XCTest

@testable import LenticularCloudKit

/// What an engine promises an app, line by line, in places where it is easily broken.
final class SyncContractTests: XCTestCase {
    private let server = ScriptedSyncServer()
    private let app = SyncedApp()
    private let other = CKRecordZone.ID(zoneName: "Other")

    private struct NeverCame: Error {}

    /// Lets others run until something holds; after 20 seconds the test fails.
    private func eventually(_ holds: @Sendable () async -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(20)
        while await !holds() {
            guard ContinuousClock.now < end else { throw NeverCame() }
            await Task.yield()
        }
    }

    // MARK: - Sending

    func testOnlyWhatIsInTheScopeIsSent() async throws {
        let engine = try await app.readyEngine(server)
        app.write("a", "x", engine)
        app.write("b", "x", engine)
        engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: other))])
        try await engine.sendChanges(.init(scope: .recordIDs([SyncedApp.id("b")])))
        XCTAssertEqual(server.texts(in: SyncedApp.zone), ["b": "x"])
        XCTAssertEqual(engine.state.pendingDatabaseChanges.count, 1)
        try await engine.sendChanges(.init(scope: .zoneIDs([other])))
        XCTAssertTrue(server.hasZone("Other"))
        XCTAssertEqual(
            engine.state.pendingRecordZoneChanges, [.saveRecord(SyncedApp.id("a"))])
        try await engine.sendChanges(.init(scope: .allExcluding([SyncedApp.zone])))
        XCTAssertEqual(engine.state.pendingRecordZoneChanges.count, 1)
        try await engine.sendChanges()
        XCTAssertEqual(engine.state.pendingRecordZoneChanges, [])
    }

    func testABatchTakesAsManyAsARequestMayHaveAndLeavesWhatHasNoRecord() async throws {
        let ids = (0..<500).map { SyncedApp.id("n\($0)") }
        let batch = await CKSyncEngine.RecordZoneChangeBatch(
            pendingChanges: ids.map { .saveRecord($0) } + [.deleteRecord(SyncedApp.id("gone"))]
        ) { id in
            id.recordName == "n0" ? nil : CKRecord(recordType: "Note", recordID: id)
        }
        let saved = try XCTUnwrap(batch).recordsToSave.map(\.recordID)
        XCTAssertEqual(saved, Array(ids[1...200]))
        XCTAssertEqual(batch?.atomicByZone, false)
        let none = await CKSyncEngine.RecordZoneChangeBatch(
            pendingChanges: [.saveRecord(ids[0])]
        ) { _ in nil }
        XCTAssertNil(none)
        let engine = try await app.readyEngine(server)
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(ids[0])])
        app.onBatch = { _ in nil }
        try await engine.sendChanges()
        XCTAssertEqual(engine.state.pendingRecordZoneChanges, [.saveRecord(ids[0])])
    }

    func testManyZonesGoInSeveralRequests() async throws {
        let engine = app.engine(server)
        let zones = (0..<450).map { CKRecordZone(zoneName: "Z\($0)") }
        engine.state.add(pendingDatabaseChanges: zones.map { .saveZone($0) })
        try await engine.sendChanges()
        XCTAssertEqual(server.requests.filter { $0 == "change zones" }.count, 3)
        XCTAssertEqual(engine.state.pendingDatabaseChanges, [])
        XCTAssertTrue(server.hasZone("Z449"))
    }

    func testZonesThatAreAddedWhileRecordsAreSentGoBeforeTheNextBatch() async throws {
        let engine = try await app.readyEngine(server)
        app.write("a", "x", engine)
        let (app, other) = (app, other)
        app.onEvent = { event, engine in
            guard case .sentRecordZoneChanges = event else { return }
            app.onEvent = { _, _ in }
            engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: other))])
            app.write("b", "y", engine)
        }
        try await engine.sendChanges()
        XCTAssertEqual(
            app.takeLog(),
            [
                "will send", "sent [\"a\"] -[]", "sent zones [\"Other\"]", "sent [\"b\"] -[]",
                "did send",
            ])
    }

    func testACancelledSendLeavesItsChangesWaitingAndEndsWithItsEvent() async throws {
        let engine = try await app.readyEngine(server)
        app.write("a", "x", engine)
        server.onRequest = { request in
            guard request.hasPrefix("change") else { return }
            // Under way until it is cancelled: the sleep then ends at once.
            try? await Task.sleep(nanoseconds: 20_000_000_000)
        }
        server.fail(with: CKError(.operationCancelled, "cancelled"))
        let sending = Task { try await engine.sendChanges() }
        try await eventually { !engine.memory.read(\.recordsInFlight).isEmpty }
        XCTAssertEqual(engine.state.pendingRecordZoneChanges, [])
        await engine.cancelOperations()
        let error = await failure { try await sending.value }
        XCTAssertEqual(error?.code, .operationCancelled)
        XCTAssertEqual(app.takeLog(), ["will send", "did send"])
        XCTAssertEqual(
            engine.state.pendingRecordZoneChanges, [.saveRecord(SyncedApp.id("a"))])
    }

    func testWithoutAnAccountNothingIsToldAndNothingSent() async throws {
        let engine = app.engine(server)
        app.write("a", "x", engine)
        server.account = nil
        let error = await failure { try await engine.sendChanges() }
        XCTAssertEqual(error?.code, .notAuthenticated)
        try await engine.fetchChanges()
        XCTAssertEqual(app.takeLog(), [])
        XCTAssertEqual(server.requests, [])
        XCTAssertEqual(engine.state.pendingRecordZoneChanges.count, 1)
        server.account = CKRecord.ID(recordName: "_ann")
        _ = await failure { try await engine.sendChanges() }
        XCTAssertEqual(app.takeLog().first?.hasPrefix("account signIn"), true)
    }

    func testARecordThatIsGoneIsSavedAnewByTheNextSend() async throws {
        let engine = try await app.readyEngine(server)
        app.write("a", "x", engine)
        try await engine.sendChanges()
        _ = try await server.change(.init(recordIDsToDelete: [SyncedApp.id("a")]), as: "w")
        _ = app.takeLog()
        app.write("a", "y", engine)
        let error = await failure { try await engine.sendChanges() }
        XCTAssertEqual(error?.code, .partialFailure)
        XCTAssertEqual(
            app.takeLog(), ["will send", "sent [] -[] failed [\"a unknownItem\"]", "did send"])
        XCTAssertEqual(engine.state.pendingRecordZoneChanges.count, 1)
        try await engine.sendChanges()
        XCTAssertEqual(server.texts(in: SyncedApp.zone), ["a": "y"])
    }

    func testAnAppThatAddsWhatIsRefusedEachTimeIsSlowedDown() async throws {
        let slowed = expectation(description: "slowed down")
        let pauses = Pauses()
        server.put("a", "theirs", in: SyncedApp.zone)
        app.resolves = false
        app.onBatch = { _ in
            let record = CKRecord(recordType: "Note", recordID: SyncedApp.id("a"))
            record["text"] = "mine"
            return .init(recordsToSave: [record])
        }
        app.onEvent = { event, engine in
            guard case .sentRecordZoneChanges = event else { return }
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(SyncedApp.id("a"))])
        }
        let engine = app.engine(server, automatic: true) { seconds in
            let count = seconds < 30 ? pauses.note(seconds) : 0
            if count == 6 { slowed.fulfill() }
            if seconds >= 30 || count >= 6 { try await Task.sleep(nanoseconds: 1_000_000_000_000) }
        }
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(SyncedApp.id("a"))])
        await fulfillment(of: [slowed], timeout: 20)
        XCTAssertEqual(pauses.seconds, [0.3, 0.3, 0.6, 1.2, 2.4, 4.8])
        await engine.cancelOperations()
    }

    func testChangesThatAreNotInTheListsAreAskedForToo() async throws {
        let asked = expectation(description: "asked for a batch")
        asked.assertForOverFulfill = false
        app.onBatch = { engine in
            engine.state.hasPendingUntrackedChanges = false
            asked.fulfill()
            return nil
        }
        let engine = app.engine(server, automatic: true) { seconds in
            if seconds >= 30 { try await Task.sleep(nanoseconds: 1_000_000_000_000) }
        }
        engine.state.hasPendingUntrackedChanges = true
        await fulfillment(of: [asked], timeout: 20)
        await engine.cancelOperations()
    }

    // MARK: - Fetching

    func testOtherZonesAreFetchedBesideARunThatFetchesSome() async throws {
        let engine = try await app.readyEngine(server)
        server.put("a", "x", in: SyncedApp.zone)
        server.put("b", "y", in: other)
        let gate = Gate()
        server.onRequest = { if $0 == "zones" { await gate.pass() } }
        let zone = SyncedApp.zone
        let other = other
        let first = Task { try await engine.fetchChanges(.init(scope: .zoneIDs([zone]))) }
        await gate.waitForArrivals(1)
        let joined = Task { try await engine.fetchChanges(.init(scope: .zoneIDs([zone]))) }
        let second = Task { try await engine.fetchChanges(.init(scope: .zoneIDs([other]))) }
        await gate.open()
        try await first.value
        try await joined.value
        try await second.value
        XCTAssertEqual(app.notes, ["a": "x", "b": "y"])
        XCTAssertLessThanOrEqual(app.takeLog().filter { $0 == "will fetch" }.count, 3)
    }

    func testWhatIsToldDuringAFetchIsFetchedByAnother() async throws {
        let fetched = expectation(description: "fetched")
        app.onEvent = { event, _ in
            if case .fetchedRecordZoneChanges = event { fetched.fulfill() }
        }
        let (server, app) = (server, app)
        let signs = Signs()
        server.onListen = { told in
            signs.keep(told)
            told.yield(.begun)
        }
        let hasLooked = Flag()
        server.onRequest = { request in
            // The second look has just passed what now changes.
            guard request == "zones after", !hasLooked.isSet else { return }
            hasLooked.set()
            server.put("a", "x", in: SyncedApp.zone)
            signs.tell("any")
        }
        let engine = app.engine(server, automatic: true) { _ in
            try await Task.sleep(nanoseconds: 1_000_000_000_000)
        }
        await fulfillment(of: [fetched], timeout: 20)
        await engine.cancelOperations()
    }

    func testZonesThatMatterMostComeFirstAndTheDelegateIsAskedBeforeEach() async throws {
        let engine = try await app.readyEngine(server)
        server.put("a", "x", in: SyncedApp.zone)
        server.put("b", "y", in: other)
        let other = other
        app.onOptions = { context in
            var options = context.options
            options.prioritizedZoneIDs = [other]
            return options
        }
        try await engine.fetchChanges()
        XCTAssertEqual(
            app.takeLog().filter { $0.hasPrefix("will fetch ") },
            ["will fetch Other", "will fetch Notes"])
    }

    func testAZoneThatCannotBeFetchedEndsWithItsErrorAndTheOthersGoOn() async throws {
        let engine = try await app.readyEngine(server)
        server.put("a", "x", in: SyncedApp.zone)
        server.put("b", "y", in: other)
        let server = server
        let isFirst = Flag()
        server.onRequest = { request in
            guard request.hasPrefix("records"), !isFirst.isSet else { return }
            isFirst.set()
            server.fail(with: CKError(.zoneNotFound, "just deleted"))
        }
        try await engine.fetchChanges()
        let log = app.takeLog()
        XCTAssertEqual(log.filter { $0.hasSuffix("zoneNotFound") }.count, 1)
        XCTAssertEqual(log.filter { $0.hasPrefix("will fetch ") }.count, 2)
        XCTAssertEqual(log.filter { $0.hasPrefix("did fetch ") }.count, 2)
        XCTAssertEqual(app.notes.count, 1)
    }

    func testZonesThatWentWhileTheTokenExpiredAreToldToBeGone() async throws {
        let engine = try await app.readyEngine(server)
        server.put("a", "x", in: SyncedApp.zone)
        server.put("b", "y", in: other)
        try await engine.fetchChanges()
        _ = try await server.change(saving: [], deleting: [other])
        _ = app.takeLog()
        server.fail(with: CKError(.changeTokenExpired, "too old"))
        try await engine.fetchChanges()
        XCTAssertEqual(
            app.takeLog(),
            [
                "will fetch", "zones +[\"Notes\"] -[\"Other\"]", "will fetch Notes",
                "did fetch Notes", "did fetch",
            ])
        try await engine.fetchChanges()
        XCTAssertEqual(app.takeLog(), ["will fetch", "did fetch"])
    }

    func testWhatIsLeftOutOfAFetchIsStillToBeFetched() async throws {
        let engine = try await app.readyEngine(server)
        server.put("a", "x", in: SyncedApp.zone)
        server.put("b", "y", in: other)
        try await engine.fetchChanges(.init(scope: .allExcluding([other])))
        XCTAssertEqual(app.notes, ["a": "x"])
        XCTAssertEqual(engine.state.zoneIDsWithUnfetchedServerChanges, [other])
        try await engine.fetchChanges()
        XCTAssertEqual(app.notes, ["a": "x", "b": "y"])
        XCTAssertEqual(engine.state.zoneIDsWithUnfetchedServerChanges, [])
    }

    // MARK: - Accounts

    func testSeveralChangesOfAccountWhileTheAppDidNotRunAreOneEvent() async throws {
        let engine = try await app.readyEngine(server)
        await engine.tellState()
        let state = app.lastState
        for name in ["_bob", "_carol", "_dave"] {
            server.account = CKRecord.ID(recordName: name)
        }
        let next = app.engine(server, from: state)
        try await next.fetchChanges()
        XCTAssertEqual(
            app.takeLog().filter { $0.hasPrefix("account") },
            ["account switchAccounts"])
    }

    func testWhoComesBackWhileTheAppDidNotRunIsNoChange() async throws {
        let engine = try await app.readyEngine(server)
        app.write("a", "x", engine)
        await engine.tellState()
        let state = app.lastState
        server.account = nil
        server.account = CKRecord.ID(recordName: "_ann")
        let next = app.engine(server, from: state)
        try await next.sendChanges()
        XCTAssertEqual(app.takeLog(), ["will send", "sent [\"a\"] -[]", "did send"])
    }
}

/// What tells an engine, once it listens.
private final class Signs: Sendable {
    private let told = Locked<ScriptedSyncServer.Told.Continuation?>(nil)

    func keep(_ told: ScriptedSyncServer.Told.Continuation) { self.told.withLock { $0 = told } }

    func tell(_ subscription: String) {
        let push = ["ck": ["met": ["sid": subscription, "dbs": 2] as [String: Any]]]
        guard let note = CKNotification(fromRemoteNotificationDictionary: push) else { return }
        _ = told.withLock { $0 }?.yield(.told(note))
    }
}

/// How long an engine has waited, each time.
private final class Pauses: Sendable {
    private let noted = Locked<[Double]>([])

    /// - Returns: how many there were.
    func note(_ seconds: Double) -> Int {
        noted.withLock {
            $0.append(seconds)
            return $0.count
        }
    }

    var seconds: [Double] { noted.withLock { $0 } }
}
