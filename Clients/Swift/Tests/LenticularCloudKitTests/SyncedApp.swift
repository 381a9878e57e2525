import CloudKitWire
import Foundation

@testable import LenticularCloudKit

/// An app with notes of one zone and a sync engine, which writes down every event as a line.
final class SyncedApp: CKSyncEngineDelegate {
    static let zone = CKRecordZone.ID(zoneName: "Notes")

    fileprivate struct State {
        var lines: [String] = []
        var texts: [String: String] = [:]
        var records: [String: CKRecord] = [:]
        var stored: CKSyncEngine.State.Serialization?
        /// The last engine, whose states are kept: those before it belong to processes that have ended.
        weak var current: CKSyncEngine?
        var onEvent: @Sendable (CKSyncEngine.Event, CKSyncEngine) async -> Void = { _, _ in }
        var onBatch: (@Sendable (CKSyncEngine) async -> CKSyncEngine.RecordZoneChangeBatch?)?
        var onOptions:
            @Sendable (CKSyncEngine.FetchChangesContext) -> CKSyncEngine.FetchChangesOptions =
                { $0.options }
        var resolves = true
    }

    private let state = Locked(State())

    /// Called for each event, after it was dealt with.
    var onEvent: @Sendable (CKSyncEngine.Event, CKSyncEngine) async -> Void {
        get { state.withLock { $0.onEvent } }
        set { state.withLock { $0.onEvent = newValue } }
    }

    /// What is asked instead of the app when there is something to send.
    var onBatch: (@Sendable (CKSyncEngine) async -> CKSyncEngine.RecordZoneChangeBatch?)? {
        get { state.withLock { $0.onBatch } }
        set { state.withLock { $0.onBatch = newValue } }
    }

    /// What is asked instead of the app when there is something to fetch.
    var onOptions: @Sendable (CKSyncEngine.FetchChangesContext) -> CKSyncEngine.FetchChangesOptions
    {
        get { state.withLock { $0.onOptions } }
        set { state.withLock { $0.onOptions = newValue } }
    }

    /// Whether the app saves again what was refused because of another version.
    var resolves: Bool {
        get { state.withLock { $0.resolves } }
        set { state.withLock { $0.resolves = newValue } }
    }

    /// The events since the last call, without the states.
    func takeLog() -> [String] {
        state.withLock { state in
            defer { state.lines = [] }
            return state.lines
        }
    }

    var notes: [String: String] { state.withLock { $0.texts } }

    /// Notes whose text is not the one that was last saved or fetched.
    var unsavedNotes: Set<String> {
        state.withLock { state in
            Set(
                state.texts.keys.filter {
                    state.texts[$0] != state.records[$0]?["text"] as? String
                })
        }
    }

    var lastState: CKSyncEngine.State.Serialization? { state.withLock { $0.stored } }

    /// An engine that has made its zone; the log begins after that.
    func readyEngine(_ server: any SyncServer) async throws -> CKSyncEngine {
        let engine = engine(server)
        engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: Self.zone))])
        try await engine.sendChanges()
        _ = takeLog()
        return engine
    }

    func engine(
        _ server: any SyncServer, automatic: Bool = false,
        from state: CKSyncEngine.State.Serialization? = nil,
        subscription: CKSubscription.ID? = nil, delegate: (any CKSyncEngineDelegate)? = nil,
        sleep: @escaping @Sendable (Double) async throws -> Void = { _ in }
    ) -> CKSyncEngine {
        let container = CKContainer(
            identifier: "iCloud.test",
            service: CKServerAccess(url: URL(fileURLWithPath: "/")))
        var configuration = CKSyncEngine.Configuration(
            database: container.privateCloudDatabase, stateSerialization: state,
            delegate: delegate ?? self)
        configuration.automaticallySync = automatic
        configuration.subscriptionID = subscription
        let engine = CKSyncEngine(
            configuration, server: server,
            schedule: SyncSchedule(isOn: automatic, timing: SyncTiming(), sleep: sleep))
        self.state.withLock { $0.current = engine }
        return engine
    }

    static func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zone) }

    /// An edit by the person who uses the app.
    func write(_ name: String, _ text: String, _ engine: CKSyncEngine) {
        state.withLock { $0.texts[name] = text }
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(Self.id(name))])
    }

    func remove(_ name: String, _ engine: CKSyncEngine) {
        state.withLock { state in
            state.texts[name] = nil
            state.records[name] = nil
        }
        engine.state.add(pendingRecordZoneChanges: [.deleteRecord(Self.id(name))])
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        state.withLock { $0.note(event, syncEngine) }
        await onEvent(event, syncEngine)
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        if let onBatch { return await onBatch(syncEngine) }
        let changes = syncEngine.state.pendingRecordZoneChanges.filter {
            context.options.scope.contains($0)
        }
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
            self.state.withLock { $0.recordToSave(id, syncEngine) }
        }
    }

    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        onOptions(context)
    }
}

extension SyncedApp.State {
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

    mutating func note(_ event: CKSyncEngine.Event, _ engine: CKSyncEngine) {
        switch event {
        case .stateUpdate(let update):
            if engine === current { stored = update.stateSerialization }
        case .accountChange(let change): lines.append("account \(change.changeType)")
        case .fetchedDatabaseChanges(let changes):
            lines.append(
                "zones +\(changes.modifications.map(\.zoneID.zoneName)) "
                    + "-\(changes.deletions.map(\.zoneID.zoneName))")
        case .fetchedRecordZoneChanges(let changes): note(changes)
        case .sentDatabaseChanges(let sent):
            lines.append("sent zones \(sent.savedZones.map(\.zoneID.zoneName))")
        case .sentRecordZoneChanges(let sent): note(sent, engine)
        case .willFetchChanges: lines.append("will fetch")
        case .willFetchRecordZoneChanges(let zone):
            lines.append("will fetch \(zone.zoneID.zoneName)")
        case .didFetchRecordZoneChanges(let zone):
            lines.append(
                "did fetch \(zone.zoneID.zoneName)" + (zone.error.map { " \($0.code)" } ?? ""))
        case .didFetchChanges: lines.append("did fetch")
        case .willSendChanges: lines.append("will send")
        case .didSendChanges: lines.append("did send")
        }
    }

    private mutating func note(_ changes: CKSyncEngine.Event.FetchedRecordZoneChanges) {
        for change in changes.modifications {
            let name = change.record.recordID.recordName
            records[name] = change.record
            texts[name] = change.record["text"] as? String
        }
        for deletion in changes.deletions {
            records[deletion.recordID.recordName] = nil
            texts[deletion.recordID.recordName] = nil
        }
        lines.append(
            "fetched \(changes.modifications.map(\.record.recordID.recordName)) "
                + "-\(changes.deletions.map(\.recordID.recordName))")
    }

    private mutating func note(
        _ sent: CKSyncEngine.Event.SentRecordZoneChanges, _ engine: CKSyncEngine
    ) {
        for record in sent.savedRecords { records[record.recordID.recordName] = record }
        for failure in sent.failedRecordSaves {
            let name = failure.record.recordID.recordName
            if let server = failure.error.serverRecord { records[name] = server }
            if failure.error.code == .unknownItem { records[name] = nil }
            guard resolves else { continue }
            if failure.error.code == .zoneNotFound {
                engine.state.add(
                    pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: SyncedApp.zone))])
            }
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(failure.record.recordID)])
        }
        for id in sent.failedRecordDeletes.keys where resolves && texts[id.recordName] == nil {
            engine.state.add(pendingRecordZoneChanges: [.deleteRecord(id)])
        }
        let failures = sent.failedRecordSaves.map {
            "\($0.record.recordID.recordName) \($0.error.code)"
        }
        lines.append(
            "sent \(sent.savedRecords.map(\.recordID.recordName)) "
                + "-\(sent.deletedRecordIDs.map(\.recordName))"
                + (failures.isEmpty ? "" : " failed \(failures)"))
    }
}

/// The `CKError` that something fails with; nil when it succeeds.
func failure(_ body: () async throws -> Void) async -> CKError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? CKError
    }
}
