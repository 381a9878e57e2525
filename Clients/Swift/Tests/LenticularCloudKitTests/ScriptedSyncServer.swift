import Foundation
import XCTest

@testable import LenticularCloudKit

/// A server in memory, with faults on demand: one zone's records and their order of change.
final class ScriptedSyncServer: SyncServer, @unchecked Sendable {
    // Unchecked: everything is behind the lock.
    private let lock = NSLock()
    private var user: CKRecord.ID? = CKRecord.ID(recordName: "_ann")
    private var zones: [CKRecordZone.ID: [String: (position: Int, version: CKRecord?)]] = [:]
    private var zoneChanges: [CKRecordZone.ID: (position: Int, isThere: Bool)] = [:]
    private var position = 0
    private var faults: [CKError] = []
    private var itemFaults: [CKError] = []
    private(set) var requests: [String] = []
    /// Records of one page of the feed.
    var pageSize = 3
    /// Called with each request before it is answered.
    var onRequest: @Sendable (String) async -> Void = { _ in }

    var account: CKRecord.ID? {
        get { lock.withLock { user } }
        set { lock.withLock { user = newValue } }
    }

    /// The next requests fail with these, one each.
    func fail(with errors: CKError...) { lock.withLock { faults += errors } }

    /// All that the next requests for changes of records ask for fails with these, one each.
    func failItems(with errors: CKError...) { lock.withLock { itemFaults += errors } }

    func recover() {
        lock.withLock {
            faults = []
            itemFaults = []
        }
    }

    /// The living records of a zone, by their names, with their texts.
    func texts(in zone: CKRecordZone.ID) -> [String: String] {
        lock.withLock {
            (zones[zone] ?? [:]).compactMapValues { $0.version?["text"] as? String }
        }
    }

    func hasZone(_ name: String) -> Bool {
        lock.withLock { zones[CKRecordZone.ID(zoneName: name)] != nil }
    }

    /// Somebody else's save.
    func put(_ name: String, _ text: String, in zone: CKRecordZone.ID) {
        lock.withLock {
            position += 1
            let record = CKRecord(
                recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zone))
            record["text"] = text
            record.recordChangeTag = "\(position)"
            zones[zone, default: [:]][name] = (position, record)
            zoneChanges[zone] = (position, true)
        }
    }

    func account() async throws -> CKRecord.ID? { account }

    private func begin(_ request: String) throws {
        requests.append(request)
        if !faults.isEmpty { throw faults.removeFirst() }
    }

    func databasePage(since token: CKServerChangeToken?) async throws -> SyncDatabasePage {
        await onRequest("zones")
        let page = try changedZones(since: token)
        await onRequest("zones after")
        return page
    }

    private func changedZones(since token: CKServerChangeToken?) throws -> SyncDatabasePage {
        try lock.withLock {
            try begin("zones")
            let after = token.flatMap { Int($0.text) } ?? 0
            var page = SyncDatabasePage(
                token: CKServerChangeToken("\(position)"), moreComing: false)
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
    }

    func recordPage(
        of zone: CKRecordZone.ID, since token: CKServerChangeToken?
    ) async throws -> CKDatabase.ZonePage {
        await onRequest("records of \(zone.zoneName)")
        return try lock.withLock {
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
    }

    func change(
        saving saved: [CKRecordZone], deleting ids: [CKRecordZone.ID]
    ) async throws -> (
        saved: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
        deleted: [CKRecordZone.ID: Result<Void, any Error>]
    ) {
        try lock.withLock {
            try begin("change zones")
            for zone in saved where zones[zone.zoneID] == nil {
                position += 1
                zones[zone.zoneID] = [:]
                zoneChanges[zone.zoneID] = (position, true)
            }
            for id in ids where zones[id] != nil {
                position += 1
                zones[id] = nil
                zoneChanges[id] = (position, false)
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
        return try lock.withLock {
            try begin("change \(batch.count) records")
            var saved: [CKRecord.ID: Result<CKRecord, any Error>] = [:]
            var deleted: [CKRecord.ID: Result<Void, any Error>] = [:]
            if !itemFaults.isEmpty {
                let fault = itemFaults.removeFirst()
                for record in batch.recordsToSave { saved[record.recordID] = .failure(fault) }
                for id in batch.recordIDsToDelete { deleted[id] = .failure(fault) }
                return (saved, deleted)
            }
            for record in batch.recordsToSave { saved[record.recordID] = save(record) }
            for id in batch.recordIDsToDelete {
                if zones[id.zoneID]?[id.recordName]?.version != nil {
                    position += 1
                    zones[id.zoneID]?[id.recordName] = (position, nil)
                    zoneChanges[id.zoneID] = (position, true)
                }
                deleted[id] = .success(())
            }
            return (saved, deleted)
        }
    }

    func subscribe(as id: CKSubscription.ID?) async throws -> CKSubscription.ID {
        try lock.withLock {
            try begin("subscribe \(id ?? "as it likes")")
            return id ?? "any"
        }
    }

    typealias Told = AsyncThrowingStream<SyncSign, any Error>

    /// Called when an engine begins to listen, with what tells it.
    var onListen: @Sendable (Told.Continuation) -> Void = { _ in }

    func signs() -> Told {
        let (stream, continuation) = Told.makeStream()
        onListen(continuation)
        return stream
    }

    private func save(_ record: CKRecord) -> Result<CKRecord, any Error> {
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
