import CloudKitWire
import XCTest

@testable import LenticularCloudKit

/// The process ends somewhere within sending, and the next one goes on from the last state that was told.
final class KilledEngineTests: XCTestCase {
    func testNothingIsLostOrDoubledWhereverSendingIsKilled() async throws {
        var steps = 0
        while try await isKilled(after: steps) { steps += 1 }
        print("killed at \(steps) places")
        XCTAssertGreaterThan(steps, 20)
    }

    func testNothingIsMissedWhereverFetchingIsKilled() async throws {
        var steps = 0
        while try await isFetchKilled(after: steps) { steps += 1 }
        print("killed at \(steps) places")
        XCTAssertGreaterThan(steps, 20)
    }

    /// - Returns: false when fetching has ended before its process was killed.
    private func isFetchKilled(after steps: Int) async throws -> Bool {
        let place = "killed after \(steps) steps"
        let process = try await MortalProcess()
        let (server, app, first) = (process.server, process.app, process.engine)
        try await first.fetchChanges()
        await first.tellState()
        for number in 0..<8 { server.put("n\(number)", "text \(number)", in: SyncedApp.zone) }
        _ = try await server.change(.init(recordIDsToDelete: [SyncedApp.id("gone")]), as: "w")

        let wasKilled = await process.isKilled(after: steps) { try await first.fetchChanges() }

        let next = app.notes.engine(server, from: app.notes.lastState)
        try await next.fetchChanges()
        let expected = Dictionary(
            uniqueKeysWithValues: (0..<8).map { ("n\($0)", "text \($0)") })
        XCTAssertEqual(app.notes.notes, expected, place)
        XCTAssertEqual(next.state.zoneIDsWithUnfetchedServerChanges, [], place)
        return wasKilled
    }

    /// - Returns: false when sending has ended before its process was killed.
    private func isKilled(after steps: Int) async throws -> Bool {
        let place = "killed after \(steps) steps"
        let process = try await MortalProcess()
        let (server, app, first) = (process.server, process.app, process.engine)
        for number in 0..<5 { app.notes.write("n\(number)", "text \(number)", first) }
        app.notes.remove("gone", first)
        first.state.add(
            pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneName: "Another"))])
        await first.tellState()

        let wasKilled = await process.isKilled(after: steps) { try await first.sendChanges() }

        // The next process: the app's own notes are on its disk, the engine's state as it was told last.
        let next = app.notes.engine(server, from: app.notes.lastState)
        for _ in 0..<4 { try? await next.sendChanges() }
        try await next.fetchChanges()
        let expected = Dictionary(
            uniqueKeysWithValues: (0..<5).map { ("n\($0)", "text \($0)") })
        XCTAssertEqual(server.texts(in: SyncedApp.zone), expected, place)
        XCTAssertEqual(app.notes.notes, expected, place)
        XCTAssertEqual(next.state.pendingRecordZoneChanges, [], place)
        XCTAssertEqual(next.state.pendingDatabaseChanges, [], place)
        XCTAssertTrue(server.hasZone("Another"), place)
        return wasKilled
    }
}

/// An app and its engine, which have saved a zone and the note "gone", and end when they are told to.
private struct MortalProcess {
    let server = ScriptedSyncServer()
    let app: MortalApp
    let engine: CKSyncEngine
    private let life = Life()

    init() async throws {
        app = MortalApp(life)
        engine = app.notes.engine(MortalServer(server, life), delegate: app)
        engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: SyncedApp.zone))])
        app.notes.write("gone", "soon", engine)
        try await engine.sendChanges()
    }

    /// Does something until so many steps are over; afterwards the process has ended.
    ///
    /// - Returns: false when it was done before that.
    func isKilled(after steps: Int, _ body: () async throws -> Void) async -> Bool {
        life.end(after: steps)
        try? await body()
        defer { life.end(after: 0) }
        return life.isOver
    }
}

/// How long a process lives, in steps: each call of a server or a delegate is two, its beginning and its end.
private final class Life: Sendable {
    private let left = Locked(Int.max)

    func end(after steps: Int) { left.withLock { $0 = steps } }

    var isOver: Bool { left.withLock { $0 <= 0 } }

    /// - Throws: `CancellationError` once the process has ended: nothing it does has any effect from there on.
    func step() throws {
        try left.withLock { left in
            guard left > 0 else { throw CancellationError() }
            left -= 1
        }
    }
}

/// An app that is told nothing after its process has ended.
private final class MortalApp: CKSyncEngineDelegate {
    let notes = SyncedApp()
    private let life: Life

    init(_ life: Life) { self.life = life }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        guard (try? life.step()) != nil else { return }
        await notes.handleEvent(event, syncEngine: syncEngine)
        try? life.step()
    }

    /// Two records at a time, so that there are several batches.
    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        guard (try? life.step()) != nil,
            let all = await notes.nextRecordZoneChangeBatch(context, syncEngine: syncEngine),
            (try? life.step()) != nil
        else { return nil }
        return CKSyncEngine.RecordZoneChangeBatch(
            recordsToSave: Array(all.recordsToSave.prefix(2)),
            recordIDsToDelete: Array(all.recordIDsToDelete.prefix(1)))
    }
}

/// A server that a process which has ended no longer reaches, and whose last answer it did not get.
private struct MortalServer: SyncServer {
    private let server: ScriptedSyncServer
    private let life: Life

    init(_ server: ScriptedSyncServer, _ life: Life) {
        self.server = server
        self.life = life
    }

    private func living<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
        try life.step()
        let answer = try await body()
        try life.step()
        return answer
    }

    func account() async throws -> CKRecord.ID? { try await living { try await server.account() } }

    func databasePage(since token: CKServerChangeToken?) async throws -> SyncDatabasePage {
        try await living { try await server.databasePage(since: token) }
    }

    func recordPage(
        of zone: CKRecordZone.ID, since token: CKServerChangeToken?
    ) async throws -> CKDatabase.ZonePage {
        try await living { try await server.recordPage(of: zone, since: token) }
    }

    func change(
        saving zones: [CKRecordZone], deleting ids: [CKRecordZone.ID]
    ) async throws -> (
        saved: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
        deleted: [CKRecordZone.ID: Result<Void, any Error>]
    ) {
        try await living { try await server.change(saving: zones, deleting: ids) }
    }

    func change(
        _ batch: CKSyncEngine.RecordZoneChangeBatch, as writeID: String
    ) async throws -> (
        saved: [CKRecord.ID: Result<CKRecord, any Error>],
        deleted: [CKRecord.ID: Result<Void, any Error>]
    ) {
        try await living { try await server.change(batch, as: writeID) }
    }

    func subscribe(as id: CKSubscription.ID?) async throws -> CKSubscription.ID {
        try await living { try await server.subscribe(as: id) }
    }

    func signs() -> AsyncThrowingStream<SyncSign, any Error> { server.signs() }
}
