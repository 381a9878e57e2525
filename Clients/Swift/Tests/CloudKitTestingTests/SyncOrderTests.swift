import CloudKitTesting
import CloudKitWire
import LenticularCloudKit
import XCTest

/// In which order an engine tells what it does, and that it tells one thing at a time.
final class SyncOrderTests: XCTestCase {
    private let server = MemoryServer()
    private let zone = CKRecordZone(zoneName: "Notes")

    /// An app that counts the calls that it is in, and stays in each for a while.
    private final class SlowApp: CKSyncEngineDelegate {
        private let calls = Locked<(now: Int, most: Int)>((0, 0))
        private let isAtomic: Bool
        private let onEvent: @Sendable (CKSyncEngine.Event) -> Void

        init(
            isAtomic: Bool = false,
            onEvent: @escaping @Sendable (CKSyncEngine.Event) -> Void = { _ in }
        ) {
            self.isAtomic = isAtomic
            self.onEvent = onEvent
        }

        var mostCallsAtOnce: Int { calls.withLock { $0.most } }

        private func stay() async {
            calls.withLock { calls in
                calls.now += 1
                calls.most = max(calls.most, calls.now)
            }
            for _ in 0..<20 { await Task.yield() }
            calls.withLock { $0.now -= 1 }
        }

        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
            await stay()
            onEvent(event)
        }

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? {
            await stay()
            var batch = await CKSyncEngine.RecordZoneChangeBatch(
                pendingChanges: syncEngine.state.pendingRecordZoneChanges
            ) { CKRecord(recordType: "Note", recordID: $0) }
            batch?.atomicByZone = isAtomic
            return batch
        }

        func nextFetchChangesOptions(
            _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.FetchChangesOptions {
            await stay()
            return context.options
        }
    }

    private func engine(_ app: any CKSyncEngineDelegate) -> CKSyncEngine {
        var configuration = CKSyncEngine.Configuration(
            database: server.container(of: "ann").privateCloudDatabase, stateSerialization: nil,
            delegate: app)
        configuration.automaticallySync = false
        return CKSyncEngine(configuration)
    }

    private func id(_ name: String) -> CKRecord.ID {
        CKRecord.ID(recordName: name, zoneID: zone.zoneID)
    }

    func testAnAppIsInOneCallAtATimeHoweverMuchGoesOn() async throws {
        let app = SlowApp()
        let engine = engine(app)
        let zone = zone
        engine.state.add(pendingDatabaseChanges: [.saveZone(zone)])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let id = CKRecord.ID(recordName: "n\(number)", zoneID: zone.zoneID)
                    engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
                    if number % 2 == 0 {
                        try await engine.sendChanges()
                    } else {
                        try await engine.fetchChanges()
                    }
                }
            }
            try await group.waitForAll()
        }
        try await engine.sendChanges()
        XCTAssertEqual(engine.state.pendingRecordZoneChanges, [])
        XCTAssertEqual(app.mostCallsAtOnce, 1)
    }

    func testEachWillHasItsDidAndRunsDoNotOverlap() async throws {
        let recorder = EventRecorder(forwardingTo: SlowApp())
        let engine = engine(recorder)
        engine.state.add(pendingDatabaseChanges: [.saveZone(zone)])
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(id("a"))])
        async let sent: Void = engine.sendChanges()
        async let fetched: Void = engine.fetchChanges()
        async let sentAgain: Void = engine.sendChanges()
        _ = try await (sent, fetched, sentAgain)
        var open: [String] = []
        for event in recorder.takeEvents() {
            let words = event.split(separator: " ")
            let name = String(words[0])
            if name.hasPrefix("will") {
                open.append(String(name.dropFirst(4)))
            } else if name.hasPrefix("did") {
                XCTAssertEqual(open.popLast(), String(name.dropFirst(3)), event)
            }
            let isZoneOfFetch = open == ["FetchChanges", "FetchRecordZoneChanges"]
            XCTAssertTrue(open.count <= 1 || isZoneOfFetch, "\(open)")
        }
        XCTAssertEqual(open, [])
    }

    func testABatchThatIsToBeDoneWholeFailsWithTheRecordThatWasRefused() async throws {
        let other = server.container(of: "ann").privateCloudDatabase
        try await other.save(zone)
        try await other.save(CKRecord(recordType: "Note", recordID: id("theirs")))
        for isAtomic in [true, false] {
            let told = expectation(description: "told")
            let expected: [String: CKError.Code] =
                isAtomic
                ? ["theirs": .serverRecordChanged, "mine": .batchRequestFailed]
                : ["theirs": .serverRecordChanged]
            let app = SlowApp(isAtomic: isAtomic) { event in
                guard case .sentRecordZoneChanges(let sent) = event else { return }
                let codes = sent.failedRecordSaves.map {
                    ($0.record.recordID.recordName, $0.error.code)
                }
                XCTAssertEqual(Dictionary(codes) { $1 }, expected)
                told.fulfill()
            }
            let engine = engine(app)
            engine.state.add(pendingRecordZoneChanges: [
                .saveRecord(id("mine")), .saveRecord(id("theirs")),
            ])
            do {
                try await engine.sendChanges()
                XCTFail("expected a partial failure")
            } catch CKError.partialFailure {}
            await fulfillment(of: [told], timeout: 20)
            XCTAssertEqual(engine.state.pendingRecordZoneChanges, [])
        }
    }
}
