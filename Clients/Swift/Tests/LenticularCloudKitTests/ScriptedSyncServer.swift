import CloudKitWire
import Foundation
import XCTest

@testable import LenticularCloudKit

/// A server in memory, with faults on demand: one zone's records and their order of change.
final class ScriptedSyncServer: SyncServer {
    typealias Told = AsyncThrowingStream<SyncSign, any Error>

    fileprivate struct State {
        var user: CKRecord.ID? = CKRecord.ID(recordName: "_ann")
        var zones: [CKRecordZone.ID: [String: (position: Int, version: CKRecord?)]] = [:]
        var zoneChanges: [CKRecordZone.ID: (position: Int, isThere: Bool)] = [:]
        var position = 0
        var faults: [CKError] = []
        var itemFaults: [CKError] = []
        var requests: [String] = []
        var pageSize = 3
        var onRequest: @Sendable (String) async -> Void = { _ in }
        var onListen: @Sendable (Told.Continuation) -> Void = { _ in }
    }

    private let state = Locked(State())

    var requests: [String] { state.withLock { $0.requests } }

    /// Records of one page of the feed.
    var pageSize: Int {
        get { state.withLock { $0.pageSize } }
        set { state.withLock { $0.pageSize = newValue } }
    }

    /// Called with each request before it is answered.
    var onRequest: @Sendable (String) async -> Void {
        get { state.withLock { $0.onRequest } }
        set { state.withLock { $0.onRequest = newValue } }
    }

    /// Called when an engine begins to listen, with what tells it.
    var onListen: @Sendable (Told.Continuation) -> Void {
        get { state.withLock { $0.onListen } }
        set { state.withLock { $0.onListen = newValue } }
    }

    var account: CKRecord.ID? {
        get { state.withLock { $0.user } }
        set { state.withLock { $0.user = newValue } }
    }

    /// The next requests fail with these, one each.
    func fail(with errors: CKError...) { state.withLock { $0.faults += errors } }

    /// All that the next requests for changes of records ask for fails with these, one each.
    func failItems(with errors: CKError...) { state.withLock { $0.itemFaults += errors } }

    func recover() {
        state.withLock { state in
            state.faults = []
            state.itemFaults = []
        }
    }

    /// The living records of a zone, by their names, with their texts.
    func texts(in zone: CKRecordZone.ID) -> [String: String] {
        state.withLock {
            ($0.zones[zone] ?? [:]).compactMapValues { $0.version?["text"] as? String }
        }
    }

    func hasZone(_ name: String) -> Bool {
        state.withLock { $0.zones[CKRecordZone.ID(zoneName: name)] != nil }
    }

    /// Somebody else's save.
    func put(_ name: String, _ text: String, in zone: CKRecordZone.ID) {
        state.withLock { state in
            state.position += 1
            let record = CKRecord(
                recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zone))
            record["text"] = text
            record.recordChangeTag = "\(state.position)"
            state.zones[zone, default: [:]][name] = (state.position, record)
            state.zoneChanges[zone] = (state.position, true)
        }
    }

    func account() async throws -> CKRecord.ID? { account }

    func databasePage(since token: CKServerChangeToken?) async throws -> SyncDatabasePage {
        await onRequest("zones")
        let page = try state.withLock { try $0.changedZones(since: token) }
        await onRequest("zones after")
        return page
    }

    func recordPage(
        of zone: CKRecordZone.ID, since token: CKServerChangeToken?
    ) async throws -> CKDatabase.ZonePage {
        await onRequest("records of \(zone.zoneName)")
        return try state.withLock { try $0.recordPage(of: zone, since: token) }
    }

    func change(
        saving saved: [CKRecordZone], deleting ids: [CKRecordZone.ID]
    ) async throws -> (
        saved: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
        deleted: [CKRecordZone.ID: Result<Void, any Error>]
    ) {
        try state.withLock { state in
            try state.begin("change zones")
            for zone in saved where state.zones[zone.zoneID] == nil {
                state.position += 1
                state.zones[zone.zoneID] = [:]
                state.zoneChanges[zone.zoneID] = (state.position, true)
            }
            for id in ids where state.zones[id] != nil {
                state.position += 1
                state.zones[id] = nil
                state.zoneChanges[id] = (state.position, false)
            }
            return (
                Dictionary(saved.map { ($0.zoneID, .success($0)) }) { $1 },
                Dictionary(ids.map { ($0, .success(())) }) { $1 }
            )
        }
    }

    func change(
        _ batch: CKSyncEngine.RecordZoneChangeBatch, as writeID: String
    ) async throws -> (
        saved: [CKRecord.ID: Result<CKRecord, any Error>],
        deleted: [CKRecord.ID: Result<Void, any Error>]
    ) {
        await onRequest("change \(batch.count) records")
        return try state.withLock { state in
            try state.begin("change \(batch.count) records")
            var saved: [CKRecord.ID: Result<CKRecord, any Error>] = [:]
            var deleted: [CKRecord.ID: Result<Void, any Error>] = [:]
            if !state.itemFaults.isEmpty {
                let fault = state.itemFaults.removeFirst()
                for record in batch.recordsToSave { saved[record.recordID] = .failure(fault) }
                for id in batch.recordIDsToDelete { deleted[id] = .failure(fault) }
                return (saved, deleted)
            }
            for record in batch.recordsToSave { saved[record.recordID] = state.save(record) }
            for id in batch.recordIDsToDelete {
                if state.zones[id.zoneID]?[id.recordName]?.version != nil {
                    state.position += 1
                    state.zones[id.zoneID]?[id.recordName] = (state.position, nil)
                    state.zoneChanges[id.zoneID] = (state.position, true)
                }
                deleted[id] = .success(())
            }
            return (saved, deleted)
        }
    }

    func subscribe(as id: CKSubscription.ID?) async throws -> CKSubscription.ID {
        try state.withLock { state in
            try state.begin("subscribe \(id ?? "as it likes")")
            return id ?? "any"
        }
    }

    func signs() -> Told {
        let (stream, continuation) = Told.makeStream()
        onListen(continuation)
        return stream
    }
}

extension ScriptedSyncServer.State {
    mutating func begin(_ request: String) throws {
        requests.append(request)
        if !faults.isEmpty { throw faults.removeFirst() }
    }

    mutating func changedZones(since token: CKServerChangeToken?) throws -> SyncDatabasePage {
        try begin("zones")
        let after = token.flatMap { Int($0.text) } ?? 0
        var page = SyncDatabasePage(token: CKServerChangeToken("\(position)"), moreComing: false)
        for (zone, change) in zoneChanges where change.position > after {
            if change.isThere {
                page.modifications.append(.init(zoneID: zone))
            } else if token != nil {
                // From its beginning a feed tells only what is there.
                page.deletions.append(.init(zoneID: zone, reason: .deleted))
            }
        }
        return page
    }

    mutating func recordPage(
        of zone: CKRecordZone.ID, since token: CKServerChangeToken?
    ) throws -> CKDatabase.ZonePage {
        try begin("records of \(zone.zoneName)")
        guard let records = zones[zone] else {
            throw CKError(.zoneNotFound, "no such zone")
        }
        let after = token.flatMap { Int($0.text) } ?? 0
        let changed = records.filter { $0.value.position > after }
            .sorted { $0.value.position < $1.value.position }
        let shown = changed.prefix(pageSize)
        var page = CKDatabase.ZonePage(
            token: CKServerChangeToken("\(shown.last?.value.position ?? after)"),
            moreComing: shown.count < changed.count)
        for (name, change) in shown {
            if let record = change.version?.copy() as? CKRecord {
                page.records.append(record)
            } else {
                page.deletions.append(
                    .init(
                        recordID: CKRecord.ID(recordName: name, zoneID: zone),
                        recordType: "Note"))
            }
        }
        return page
    }

    mutating func save(_ record: CKRecord) -> Result<CKRecord, any Error> {
        let (zone, name) = (record.recordID.zoneID, record.recordID.recordName)
        guard let records = zones[zone] else {
            return .failure(CKError(.zoneNotFound, "no such zone"))
        }
        let stored = records[name]?.version
        guard stored?.recordChangeTag == record.recordChangeTag else {
            guard let stored = stored?.copy() as? CKRecord else {
                return .failure(CKError(.unknownItem, "no such record"))
            }
            return .failure(
                CKError(
                    .serverRecordChanged, "changed",
                    userInfo: [CKRecordChangedErrorServerRecordKey: stored]))
        }
        position += 1
        record.recordChangeTag = "\(position)"
        record.changed = []
        guard let copy = record.copy() as? CKRecord else {
            return .failure(CKError(.internalError, "no copy"))
        }
        zones[zone]?[name] = (position, copy)
        zoneChanges[zone] = (position, true)
        return .success(record)
    }
}
