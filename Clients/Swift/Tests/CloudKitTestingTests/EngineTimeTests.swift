import CloudKitTesting
import CloudKitWire
import LenticularCloudKit
import XCTest

/// An engine that works by itself, with a clock that goes when the test says so.
final class EngineTimeTests: XCTestCase {
    private final class Notes: CKSyncEngineDelegate {
        private let texts = Locked<[CKRecord.ID: String]>([:])

        func write(_ id: CKRecord.ID, _ text: String, _ engine: CKSyncEngine) {
            texts.withLock { $0[id] = text }
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        }

        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? {
            await .init(pendingChanges: syncEngine.state.pendingRecordZoneChanges) { id in
                let record = CKRecord(recordType: "Note", recordID: id)
                record["text"] = self.texts.withLock { $0[id] }
                return record
            }
        }
    }

    func testWhatIsAddedIsSentWhenItsTimeHasComeAndWhatFailsIsTriedAgain() async throws {
        let server = MemoryServer()
        let clock = VirtualClock()
        let notes = Notes()
        let recorder = EventRecorder(forwardingTo: notes)
        let engine = CKSyncEngine(
            CKSyncEngine.Configuration(
                database: server.container(of: "ann").privateCloudDatabase,
                stateSerialization: nil, delegate: recorder), clock: clock)
        let first = try await recorder.events(until: "didFetchChanges")
        XCTAssertEqual(first, ["accountChange signIn", "willFetchChanges", "didFetchChanges"])
        // The look that telling begins with; then the next is waited for.
        let second = try await recorder.events(until: "didFetchChanges")
        XCTAssertEqual(second, ["willFetchChanges", "didFetchChanges"])
        try await clock.waitForSleepers(1)
        let zone = CKRecordZone(zoneName: "Notes")
        engine.state.add(pendingDatabaseChanges: [.saveZone(zone)])
        notes.write(CKRecord.ID(recordName: "a", zoneID: zone.zoneID), "Tea", engine)
        try await clock.waitForSleepers(2)
        XCTAssertEqual(recorder.takeEvents(), [])
        server.fail(.refused(code: "THROTTLED", retryAfter: 10))
        await clock.advance(by: 1)
        try await clock.waitForSleepers(2)
        XCTAssertEqual(recorder.takeEvents(), ["willSendChanges", "didSendChanges"])
        await clock.advance(by: 9)
        XCTAssertFalse(server.requests.contains("private/records/modify"))
        await clock.advance(by: 4)
        let sent = try await recorder.events(until: "didSendChanges")
        XCTAssertEqual(
            sent,
            [
                "willSendChanges", "sentDatabaseChanges [Notes]", "sentRecordZoneChanges [a]",
                "didSendChanges",
            ])
        let record = try await engine.database.record(
            for: CKRecord.ID(recordName: "a", zoneID: zone.zoneID))
        XCTAssertEqual(record["text"] as? String, "Tea")
    }

    func testWhatTheServerAsksOfFetchesIsKept() async throws {
        let server = MemoryServer()
        let clock = VirtualClock()
        let recorder = EventRecorder(forwardingTo: Notes())
        server.fail(.refused(code: "THROTTLED", retryAfter: 100))
        let engine = CKSyncEngine(
            CKSyncEngine.Configuration(
                database: server.container(of: "ann").privateCloudDatabase,
                stateSerialization: nil, delegate: recorder), clock: clock)
        try await clock.waitForSleepers(1)
        XCTAssertEqual(server.requests.count, 1)
        await clock.advance(by: 99)
        XCTAssertEqual(server.requests.count, 1)
        XCTAssertEqual(recorder.takeEvents(), [])
        // A quarter more at most, so that devices do not come back together.
        await clock.advance(by: 26)
        let events = try await recorder.events(until: "didFetchChanges")
        XCTAssertEqual(events, ["accountChange signIn", "willFetchChanges", "didFetchChanges"])
        await engine.cancelOperations()
    }

    func testWhatDoesNotComeIsToldAfterItsTime() async throws {
        let recorder = EventRecorder(forwardingTo: Notes())
        do {
            _ = try await recorder.events(until: "didFetchChanges", within: 0.01)
            XCTFail("expected an error")
        } catch let error as NothingCame {
            XCTAssertEqual(error.awaited, "didFetchChanges")
        }
        do {
            try await VirtualClock().waitForSleepers(1, within: 0.01)
            XCTFail("expected an error")
        } catch is NothingCame {}
        do {
            try await MemoryServer().waitForListeners(1, within: 0.01)
            XCTFail("expected an error")
        } catch is NothingCame {}
    }
}
