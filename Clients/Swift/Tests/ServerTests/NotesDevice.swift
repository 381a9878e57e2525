import CloudKitWire
import Foundation
import LenticularCloudKit

/// A device with notes of one zone, kept in step by an engine; the last edit wins.
final class NotesDevice: CKSyncEngineDelegate {
    static let zone = CKRecordZone.ID(zoneName: "Notes")

    fileprivate struct State {
        var texts: [String: String] = [:]
        var records: [String: CKRecord] = [:]
        var stored: CKSyncEngine.State.Serialization?
        var current: CKSyncEngine?
    }

    private let database: CKDatabase
    private let state = Locked(State())

    init(_ container: CKContainer) {
        database = container.privateCloudDatabase
        make().state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: Self.zone))])
    }

    var engine: CKSyncEngine { state.withLock { $0.current } ?? make() }

    var notes: [String: String] { state.withLock { $0.texts } }

    private func make() -> CKSyncEngine {
        var configuration = CKSyncEngine.Configuration(
            database: database, stateSerialization: state.withLock { $0.stored }, delegate: self)
        configuration.automaticallySync = false
        let engine = CKSyncEngine(configuration)
        state.withLock { $0.current = engine }
        return engine
    }

    /// The program ends, and begins again with the state that it was told last.
    func restart() async {
        // A state is told after each change, by itself: wait for one that holds them all.
        let pending = engine.state.pendingRecordZoneChanges
        try? await engine.fetchChanges()
        make().state.add(pendingRecordZoneChanges: pending)
    }

    func write(_ name: String, _ text: String) {
        state.withLock { $0.texts[name] = text }
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(Self.id(name))])
    }

    func remove(_ name: String) {
        state.withLock { state in
            state.texts[name] = nil
            state.records[name] = nil
        }
        engine.state.add(pendingRecordZoneChanges: [.deleteRecord(Self.id(name))])
    }

    private static func id(_ name: String) -> CKRecord.ID {
        CKRecord.ID(recordName: name, zoneID: zone)
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        state.withLock { $0.note(event, syncEngine) }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        await .init(pendingChanges: syncEngine.state.pendingRecordZoneChanges) { id in
            self.state.withLock { $0.recordToSave(id, syncEngine) }
        }
    }
}

extension NotesDevice.State {
    mutating func note(_ event: CKSyncEngine.Event, _ engine: CKSyncEngine) {
        switch event {
        // Those of an earlier engine belong to a program that has ended.
        case .stateUpdate(let update) where engine === current: stored = update.stateSerialization
        case .fetchedRecordZoneChanges(let changes):
            let waiting = Set(engine.state.pendingRecordZoneChanges)
            for change in changes.modifications {
                let id = change.record.recordID
                records[id.recordName] = change.record
                // An edit of one's own that still waits wins.
                if waiting.contains(.saveRecord(id)) || waiting.contains(.deleteRecord(id)) {
                    continue
                }
                texts[id.recordName] = change.record["text"] as? String
            }
            for deletion in changes.deletions {
                let id = deletion.recordID
                records[id.recordName] = nil
                if !waiting.contains(.saveRecord(id)) { texts[id.recordName] = nil }
            }
        case .sentRecordZoneChanges(let sent):
            for record in sent.savedRecords { records[record.recordID.recordName] = record }
            for failure in sent.failedRecordSaves { retry(failure, engine) }
        default: break
        }
    }

    private mutating func retry(
        _ failure: CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave,
        _ engine: CKSyncEngine
    ) {
        let id = failure.record.recordID
        switch failure.error.code {
        case .serverRecordChanged: records[id.recordName] = failure.error.serverRecord
        case .unknownItem: records[id.recordName] = nil
        case .zoneNotFound:
            engine.state.add(pendingDatabaseChanges: [
                .saveZone(CKRecordZone(zoneID: NotesDevice.zone))
            ])
        default: return
        }
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
    }

    func recordToSave(_ id: CKRecord.ID, _ engine: CKSyncEngine) -> CKRecord? {
        guard let text = texts[id.recordName] else {
            engine.state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
            return nil
        }
        let record =
            records[id.recordName]?.copy() as? CKRecord
            ?? CKRecord(recordType: "Note", recordID: id)
        record["text"] = text
        return record
    }
}
