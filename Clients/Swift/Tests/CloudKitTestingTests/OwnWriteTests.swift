import CloudKitTesting
import CloudKitWire
import LenticularCloudKit
import XCTest

/// What an engine sends and gets no answer to, and what this device cannot encrypt.
final class OwnWriteTests: XCTestCase {
    /// An app that makes each record anew when it is asked for it, as apps with a store of their own do.
    private final class Notes: CKSyncEngineDelegate, Sendable {
        struct Contents {
            var state: CKSyncEngine.State.Serialization?
            var saved: [String: CKRecord] = [:]
            var errors: [CKError.Code] = []
            var texts: [String: String] = [:]
            var secrets: Set<String> = []
        }

        static let zone = CKRecordZone.ID(zoneName: "Notes")
        let contents = Locked(Contents())

        func write(_ name: String, _ text: String, isSecret: Bool = false, _ engine: CKSyncEngine) {
            contents.withLock { contents in
                contents.texts[name] = text
                if isSecret { contents.secrets.insert(name) }
            }
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(Self.id(name))])
        }

        static func id(_ name: String) -> CKRecord.ID {
            CKRecord.ID(recordName: name, zoneID: zone)
        }

        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
            contents.withLock { contents in
                switch event {
                case .stateUpdate(let update): contents.state = update.stateSerialization
                case .sentRecordZoneChanges(let sent):
                    for record in sent.savedRecords {
                        contents.saved[record.recordID.recordName] = record
                    }
                    contents.errors += sent.failedRecordSaves.map(\.error.code)
                default: break
                }
            }
        }

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? {
            await .init(pendingChanges: syncEngine.state.pendingRecordZoneChanges) { id in
                self.contents.withLock { contents in
                    let name = id.recordName
                    let record =
                        contents.saved[name]?.copy() as? CKRecord
                        ?? CKRecord(recordType: "Note", recordID: id)
                    if contents.secrets.contains(name) {
                        record.encryptedValues["text"] = contents.texts[name]
                    } else {
                        record["text"] = contents.texts[name]
                    }
                    return record
                }
            }
        }
    }

    private func configuration(
        _ container: CKContainer, _ notes: Notes, _ delegate: (any CKSyncEngineDelegate)? = nil
    ) -> CKSyncEngine.Configuration {
        var configuration = CKSyncEngine.Configuration(
            database: container.privateCloudDatabase,
            stateSerialization: notes.contents.withLock { $0.state }, delegate: delegate ?? notes)
        configuration.automaticallySync = false
        return configuration
    }

    func testAnEngineGoesOnFromItsOwnWriteInALaterRunOfTheProgramToo() async throws {
        for restarts in [false, true] {
            let server = MemoryServer()
            let container = server.container(of: "ann")
            let notes = Notes()
            var engine = CKSyncEngine(configuration(container, notes))
            engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: Notes.zone))])
            try await engine.sendChanges()
            for text in ["first", "second"] {
                notes.write("a", text, engine)
                server.fail(.answerLost)
                do {
                    try await engine.sendChanges()
                    XCTFail("expected a lost answer")
                } catch CKError.serverResponseLost {}
                if restarts { engine = CKSyncEngine(configuration(container, notes)) }
                XCTAssertEqual(
                    engine.state.pendingRecordZoneChanges, [.saveRecord(Notes.id("a"))])
                try await engine.sendChanges()
                XCTAssertEqual(engine.state.pendingRecordZoneChanges, [])
            }
            XCTAssertEqual(notes.contents.withLock { $0.errors }, [])
            let record = try await container.privateCloudDatabase.record(for: Notes.id("a"))
            XCTAssertEqual(record["text"] as? String, "second")
        }
    }

    func testAChangeOfAnotherDeviceIsAConflictAlsoAfterALostAnswer() async throws {
        let server = MemoryServer()
        let notes = Notes()
        let engine = CKSyncEngine(configuration(server.container(of: "ann"), notes))
        engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: Notes.zone))])
        try await engine.sendChanges()
        notes.write("a", "mine", engine)
        server.fail(.answerLost)
        try? await engine.sendChanges()
        let other = server.container(of: "ann").privateCloudDatabase
        let theirs = try await other.record(for: Notes.id("a"))
        theirs["text"] = "theirs"
        try await other.save(theirs)
        do {
            try await engine.sendChanges()
            XCTFail("expected a conflict")
        } catch CKError.partialFailure {}
        XCTAssertEqual(notes.contents.withLock { $0.errors }, [.serverRecordChanged])
    }

    func testALockedDeviceSendsWhatIsNotEncryptedAndTriesTheRestOnceUntilItIsUnlocked() async throws
    {
        let server = MemoryServer()
        let first = server.container(of: "ann")
        _ = try await first.encryption.setUp(passphrase: "correct horse")
        try await first.privateCloudDatabase.save(CKRecordZone(zoneID: Notes.zone))
        let container = server.container(of: "ann")
        let notes = Notes()
        let recorder = EventRecorder(forwardingTo: notes)
        let clock = VirtualClock()
        var configuration = configuration(container, notes, recorder)
        configuration.automaticallySync = true
        let engine = CKSyncEngine(configuration, clock: clock)
        _ = try await recorder.events(until: "didFetchChanges")
        _ = try await recorder.events(until: "didFetchChanges")
        notes.write("secret", "nobody knows", isSecret: true, engine)
        notes.write("open", "Tea", engine)
        try await clock.waitForSleepers(2)
        await clock.advance(by: 1)
        _ = try await recorder.events(until: "didSendChanges")
        XCTAssertEqual(
            notes.contents.withLock { $0.errors }, [.accountTemporarilyUnavailable])
        XCTAssertEqual(notes.contents.withLock { Set($0.saved.keys) }, ["open"])
        XCTAssertEqual(
            engine.state.pendingRecordZoneChanges, [.saveRecord(Notes.id("secret"))])
        // What is added later goes alone, and the other is not tried again.
        notes.write("more", "Coffee", engine)
        try await clock.waitForSleepers(2)
        await clock.advance(by: 1)
        _ = try await recorder.events(until: "didSendChanges")
        XCTAssertEqual(notes.contents.withLock { Set($0.saved.keys) }, ["open", "more"])
        XCTAssertEqual(notes.contents.withLock { $0.errors.count }, 1)
        let isTold = expectation(forNotification: .CKAccountChanged, object: container)
        try await container.encryption.unlock(passphrase: "correct horse")
        await fulfillment(of: [isTold], timeout: 20)
        _ = try await recorder.events(until: "didFetchChanges")
        try await clock.waitForSleepers(2)
        await clock.advance(by: 1)
        _ = try await recorder.events(until: "didSendChanges")
        let saved = try await container.privateCloudDatabase.record(for: Notes.id("secret"))
        XCTAssertEqual(saved.encryptedValues["text"] as? String, "nobody knows")
        XCTAssertEqual(engine.state.pendingRecordZoneChanges, [])
        await engine.cancelOperations()
    }
}
