import CloudKitTesting
import LenticularCloudKit
import XCTest

/// An engine that works by itself, with a clock that goes when the test says so.
final class EngineTimeTests: XCTestCase {
    private final class Notes: CKSyncEngineDelegate, @unchecked Sendable {
        // Unchecked: behind the lock.
        private let lock = NSLock()
        private var texts: [CKRecord.ID: String] = [:]

        func write(_ id: CKRecord.ID, _ text: String, _ engine: CKSyncEngine) {
            lock.withLock { texts[id] = text }
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        }

        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? {
            await .init(pendingChanges: syncEngine.state.pendingRecordZoneChanges) { id in
                let record = CKRecord(recordType: "Note", recordID: id)
                record["text"] = self.lock.withLock { self.texts[id] }
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
        // The first fetch is over, and the next is waited for.
        await clock.waitForSleepers(1)
        XCTAssertEqual(
            recorder.takeEvents(), ["accountChange signIn", "willFetchChanges", "didFetchChanges"])
        let zone = CKRecordZone(zoneName: "Notes")
        engine.state.add(pendingDatabaseChanges: [.saveZone(zone)])
        notes.write(CKRecord.ID(recordName: "a", zoneID: zone.zoneID), "Tea", engine)
        await clock.waitForSleepers(2)
        XCTAssertEqual(recorder.takeEvents(), [])
        server.fail(.refused(code: "THROTTLED", retryAfter: 10))
        await clock.advance(by: 1)
        await clock.waitForSleepers(2)
        XCTAssertEqual(recorder.takeEvents(), ["willSendChanges", "didSendChanges"])
        await clock.advance(by: 9)
        XCTAssertFalse(server.requests.contains("private/records/modify"))
        await clock.advance(by: 4)
        var events: [String] = []
        while events.last != "didSendChanges" {
            events += recorder.takeEvents()
            await Task.yield()
        }
        XCTAssertEqual(
            events,
            [
                "willSendChanges", "sentDatabaseChanges [Notes]", "sentRecordZoneChanges [a]",
                "didSendChanges",
            ])
        let record = try await engine.database.record(
            for: CKRecord.ID(recordName: "a", zoneID: zone.zoneID))
        XCTAssertEqual(record["text"] as? String, "Tea")
    }
}
