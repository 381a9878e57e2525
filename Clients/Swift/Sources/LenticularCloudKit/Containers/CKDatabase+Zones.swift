import CloudKitWire
import Foundation

// Zones.
extension CKDatabase {
    /// All zones of the database, the default zone of one's own among them.
    ///
    /// The zone in which this library keeps the account's key is no app's, and is left out.
    ///
    /// - Throws: `CKError`, `notAuthenticated` when nobody is signed in.
    public func allRecordZones() async throws -> [CKRecordZone] {
        let answer = try await call("zones/list") { _ in }
        let reader = try await reader()
        let zones = (answer["zones"]?.elements).map { $0.compactMap(reader.zone) } ?? []
        return zones.filter { !$0.zoneID.holdsKeys }
    }

    /// - Throws: `CKError`, `zoneNotFound` when there is no such zone.
    public func recordZone(for zoneID: CKRecordZone.ID) async throws -> CKRecordZone {
        guard let result = try await recordZones(for: [zoneID])[zoneID] else {
            throw CKError(.internalError, "the answer lacks the zone")
        }
        return try result.get()
    }

    /// Zones by their IDs.
    ///
    /// - Throws: `CKError` when nothing can be said of any zone.
    public func recordZones(
        for ids: [CKRecordZone.ID]
    ) async throws -> [CKRecordZone.ID: Result<CKRecordZone, any Error>] {
        guard !ids.isEmpty else { return [:] }
        let answer = try await call("zones/lookup") { json in
            json.key("zones")
            json.array { json in for id in ids { json.object { $0.zone(id) } } }
        }
        let reader = try await reader()
        var found: [CKRecordZone.ID: Result<CKRecordZone, any Error>] = [:]
        for (id, item) in zip(ids, answer["zones"]?.elements ?? answer.elements) {
            found[id] = reader.zoneResult(item, as: id)
        }
        return found
    }

    /// Makes a zone; one that is there already counts as made.
    ///
    /// - Throws: `CKError`, `limitExceeded` for more zones than an account may have, `badDatabase` for the public and the shared one.
    @discardableResult
    public func save(_ zone: CKRecordZone) async throws -> CKRecordZone {
        let done = try await modifyRecordZones(saving: [zone], deleting: [])
        guard let result = done.saveResults[zone.zoneID] else {
            throw CKError(.internalError, "the answer lacks the zone")
        }
        return try result.get()
    }

    /// Deletes a zone with all its records; one that is not there counts as deleted.
    ///
    /// - Throws: `CKError`, `permissionFailure`, `badDatabase` for the public database.
    @discardableResult
    public func deleteRecordZone(withID zoneID: CKRecordZone.ID) async throws -> CKRecordZone.ID {
        let done = try await modifyRecordZones(saving: [], deleting: [zoneID])
        try done.deleteResults[zoneID]?.get()
        return zoneID
    }

    /// Makes and deletes zones; one that is there already counts as made, one that is not there as deleted.
    ///
    /// - Throws: `CKError` when nothing can be said of any zone.
    @discardableResult
    public func modifyRecordZones(
        saving zones: [CKRecordZone] = [], deleting ids: [CKRecordZone.ID] = []
    ) async throws -> (
        saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
        deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
    ) {
        guard !zones.isEmpty || !ids.isEmpty else { return ([:], [:]) }
        let answer = try await call("zones/modify") { json in
            json.key("operations")
            json.array { json in
                for zone in zones { json.zoneOperation("create", zone.zoneID) }
                for id in ids { json.zoneOperation("delete", id) }
            }
        }
        let reader = try await reader()
        var items = Array(answer["zones"]?.elements ?? answer.elements)[...]
        var saved: [CKRecordZone.ID: Result<CKRecordZone, any Error>] = [:]
        var deleted: [CKRecordZone.ID: Result<Void, any Error>] = [:]
        for zone in zones {
            guard let item = items.popFirst() else { continue }
            saved[zone.zoneID] = reader.zoneResult(item, as: zone.zoneID)
        }
        for id in ids {
            // As with records, deleting what is not there succeeds: apps clear zones that they may not have made yet.
            let error = items.popFirst().flatMap { WireFault($0) }.map { CKError($0, of: .zone) }
            deleted[id] =
                error.flatMap { $0.code == .zoneNotFound ? nil : .failure($0) } ?? .success(())
        }
        return (saved, deleted)
    }
}

extension JSONText {
    fileprivate mutating func zoneOperation(_ kind: String, _ zone: CKRecordZone.ID) {
        object { json in
            json.member("operationType", kind)
            json.key("zone")
            json.object { $0.zone(zone) }
        }
    }
}

extension AnswerReader {
    func zone(_ view: JSONView) -> CKRecordZone? {
        guard let id = zoneID(view["zoneID"]) else { return nil }
        return CKRecordZone(zoneID: id, share: reference(view["share"], in: id))
    }

    fileprivate func zoneResult(
        _ view: JSONView, as id: CKRecordZone.ID
    ) -> Result<CKRecordZone, any Error> {
        if let fault = WireFault(view) { return .failure(CKError(fault, of: .zone)) }
        return .success(CKRecordZone(zoneID: id, share: reference(view["share"], in: id)))
    }
}
