import CloudKitWire
import Foundation

// Records by their names, and the feeds.
extension MemoryRequest {
    static func write(
        _ stored: MemoryDatabase.Stored, named name: String, in zone: String,
        to json: inout JSONText
    ) {
        json.member("recordName", name)
        json.member("recordType", stored.type)
        json.key("fields")
        json.object { json in
            for (key, value) in stored.fields.sorted(by: { $0.key < $1.key }) {
                json.key(key)
                json.raw(value)
            }
        }
        json.member("recordChangeTag", stored.tag)
        for (key, stamp) in [("created", stored.created), ("modified", stored.modified)] {
            json.key(key)
            json.object { json in
                json.key("timestamp")
                json.int64(stamp.milliseconds)
                json.member("userRecordName", stamp.person)
                json.member("deviceID", stamp.device)
            }
        }
        if let parent = stored.parent {
            json.key("parent")
            json.object { $0.member("recordName", parent) }
        }
        write(zone: zone, to: &json)
    }

    static func record(
        _ stored: MemoryDatabase.Stored, named name: String, in zone: String
    ) -> [UInt8] {
        object { write(stored, named: name, in: zone, to: &$0) }
    }

    func lookUpRecords() throws -> [UInt8] {
        let zoneName = Self.zoneName(body)
        let zone = try zone(zoneName)
        return Self.list(
            "records",
            items("records").map { view in
                let name = view["recordName"]?.string ?? ""
                guard let stored = zone.records[name], !stored.isDeleted else {
                    return Self.fault(MemoryFault(code: "NOT_FOUND", reason: "Record not found")) {
                        $0.member("recordName", name)
                    }
                }
                return Self.record(stored, named: name, in: zoneName)
            })
    }

    // MARK: - Saving

    mutating func modifyRecords() throws -> [UInt8] {
        let zoneName = Self.zoneName(body)
        var zone = try zone(zoneName)
        let before = contents
        var outcomes: [(name: String, result: Result<[UInt8], MemoryFault>)] = []
        for operation in items("operations") {
            guard let record = operation["record"] else { continue }
            let name = record["recordName"]?.string ?? UUID().uuidString
            do {
                let answer = try apply(
                    operation["operationType"]?.string ?? "", record, name, &zone, zoneName)
                outcomes.append((name, .success(answer)))
            } catch let fault as MemoryFault {
                outcomes.append((name, .failure(fault)))
            }
        }
        let hasFailed = outcomes.contains { if case .failure = $0.result { true } else { false } }
        if hasFailed, body["atomic"]?.bool == true {
            contents = before
            changes = []
            let atomic = MemoryFault(code: "ATOMIC_ERROR", reason: "another operation failed")
            outcomes = outcomes.map { outcome in
                guard case .success = outcome.result else { return outcome }
                return (outcome.name, .failure(atomic))
            }
        } else {
            database.zones[zoneName] = zone
        }
        return Self.list(
            "records",
            outcomes.map { name, result in
                switch result {
                case .success(let answer): answer
                case .failure(let fault): Self.fault(fault) { $0.member("recordName", name) }
                }
            })
    }

    private mutating func apply(
        _ kind: String, _ record: JSONView, _ name: String, _ zone: inout MemoryDatabase.Zone,
        _ zoneName: String
    ) throws -> [UInt8] {
        let previous = zone.records[name].flatMap { $0.isDeleted ? nil : $0 }
        if kind == "forceDelete" || kind == "delete" {
            if var previous {
                let living = previous
                previous.isDeleted = true
                previous.position = contents.nextPosition()
                zone.records[name] = previous
                zone.position = previous.position
                note(name, from: living, to: nil, in: zoneName, at: previous.position)
            }
            return Self.object { $0.member("recordName", name) }
        }
        try check(kind, record, previous, name, zoneName)
        let stamp = MemoryDatabase.Stamp(
            milliseconds: Int64(Date().timeIntervalSince1970 * 1000), person: "_\(person)",
            device: write.map { "\(device)/\($0)" } ?? device)
        var stored =
            previous
            ?? MemoryDatabase.Stored(
                type: record["recordType"]?.string ?? "", fields: [:], position: 0,
                created: stamp, modified: stamp)
        stored.position = contents.nextPosition()
        stored.modified = stamp
        for member in record["fields"].map({ Array($0.members) }) ?? [] {
            stored.fields[member.name.string ?? ""] = Self.kept(member.value)
        }
        if let parent = record["parent"] { stored.parent = parent["recordName"]?.string }
        zone.records[name] = stored
        zone.position = stored.position
        note(name, from: previous, to: stored, in: zoneName, at: stored.position)
        return Self.record(stored, named: name, in: zoneName)
    }

    /// Notes a change of a record, for subscriptions.
    private mutating func note(
        _ name: String, from previous: MemoryDatabase.Stored?, to now: MemoryDatabase.Stored?,
        in zone: String, at position: Int64
    ) {
        changes.append(
            MemoryChange(
                scope: scope, person: person, device: device, position: position, zone: zone,
                recordName: name, recordType: (now ?? previous)?.type, previous: previous, now: now)
        )
    }

    private func check(
        _ kind: String, _ record: JSONView, _ previous: MemoryDatabase.Stored?, _ name: String,
        _ zoneName: String
    ) throws {
        switch (kind, previous) {
        case ("create", let previous?):
            throw MemoryFault(
                code: "CONFLICT", reason: "record to insert already exists",
                serverRecord: Self.record(previous, named: name, in: zoneName))
        case ("update", let previous?) where record["recordChangeTag"]?.string != previous.tag:
            throw MemoryFault(
                code: "CONFLICT", reason: "client oplock error updating record",
                serverRecord: Self.record(previous, named: name, in: zoneName))
        case ("update", nil): throw MemoryFault(code: "NOT_FOUND", reason: "Record not found")
        default: break
        }
    }

    /// A field as it is stored; nil for one that is cleared.
    ///
    /// Assets get the address of their bytes.
    private static func kept(_ field: JSONView) -> [UInt8]? {
        guard let value = field["value"], !value.isNull else { return nil }
        guard field["type"]?.string?.hasPrefix("ASSETID") == true else { return Array(field.text) }
        return object { json in
            json.member("type", field["type"]?.string ?? "")
            json.key("value")
            if value.isArray {
                json.array { json in for asset in value.elements { write(asset: asset, &json) } }
            } else {
                write(asset: value, &json)
            }
        }
    }

    private static func write(asset: JSONView, _ json: inout JSONText) {
        let checksum = asset["fileChecksum"]?.string ?? ""
        json.object { json in
            json.member("fileChecksum", checksum)
            json.key("size")
            json.int64(asset["size"]?.int64 ?? 0)
            json.member("downloadURL", "\(MemoryServer.address)/assets/\(checksum)")
        }
    }

    // MARK: - Feeds

    private static let pageSize: Int64 = 200

    /// The place of a token; nil for one of another kind.
    private static func place(_ token: String?, of generation: Int64) -> Int64? {
        guard let token else { return 0 }
        let parts = token.split(separator: "-").compactMap { Int64($0) }
        return parts.count == 2 && parts[0] == generation ? parts[1] : nil
    }

    private static let expired = MemoryFault(
        code: "BAD_REQUEST", reason: "change token expired", isTokenExpired: true)

    func databaseChanges() throws -> [UInt8] {
        guard let after = Self.place(body["syncToken"]?.string, of: 0) else { throw Self.expired }
        let changed = database.zones.filter {
            $0.value.position > after && $0.key != MemoryDatabase.defaultZone
        }
        let gone = database.deletedZones.filter { $0.value > after }
        return Self.object { json in
            json.key("zones")
            json.array { json in
                for (name, _) in changed.sorted(by: { $0.value.position < $1.value.position }) {
                    json.object { Self.write(zone: name, to: &$0) }
                }
                for (name, _) in gone.sorted(by: { $0.value < $1.value }) {
                    json.object { json in
                        Self.write(zone: name, to: &json)
                        json.key("deleted")
                        json.bool(true)
                    }
                }
            }
            json.member("syncToken", "0-\(contents.position)")
            json.key("moreComing")
            json.bool(false)
        }
    }

    func zoneChanges() -> [UInt8] {
        Self.list(
            "zones",
            items("zones").map { view in
                let name = Self.zoneName(view)
                let fail = { (fault: MemoryFault) in
                    Self.fault(fault) { Self.write(zone: name, to: &$0) }
                }
                guard let zone = database.zones[name] else { return fail(Self.noZone(name)) }
                guard let after = Self.place(view["syncToken"]?.string, of: zone.generation)
                else { return fail(Self.expired) }
                return Self.page(
                    of: zone, named: name, after: after, limit: view["resultsLimit"]?.int64,
                    isFirst: view["syncToken"]?.string == nil)
            })
    }

    private static func page(
        of zone: MemoryDatabase.Zone, named name: String, after: Int64, limit: Int64?,
        isFirst: Bool
    ) -> [UInt8] {
        let changed = zone.records
            .filter { $0.value.position > after && !(isFirst && $0.value.isDeleted) }
            .sorted { $0.value.position < $1.value.position }
        let shown = changed.prefix(Int(min(limit ?? pageSize, pageSize)))
        return object { json in
            write(zone: name, to: &json)
            json.key("records")
            json.array { json in
                for (recordName, stored) in shown {
                    json.object { json in
                        guard stored.isDeleted else {
                            write(stored, named: recordName, in: name, to: &json)
                            return
                        }
                        json.member("recordName", recordName)
                        json.member("deletedRecordType", stored.type)
                        json.key("deleted")
                        json.bool(true)
                    }
                }
            }
            let last = shown.last?.value.position ?? max(after, zone.position)
            json.member("syncToken", "\(zone.generation)-\(last)")
            json.key("moreComing")
            json.bool(shown.count < changed.count)
        }
    }
}
