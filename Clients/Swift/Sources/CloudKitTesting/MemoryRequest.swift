import CloudKitWire
import Foundation

/// One request to a server in memory.
struct MemoryRequest {
    let path: String
    let body: JSONView
    let person: String
    let device: String
    /// What the device calls what it writes.
    let write: String?
    var contents: MemoryState.Contents
    /// What the request has changed, for subscriptions.
    var changes: [MemoryChange] = []

    init(
        path: String, body: JSONView, person: String, device: String, write: String?,
        contents: MemoryState.Contents
    ) {
        self.path = path
        self.body = body
        self.person = person
        self.device = device
        self.write = write
        self.contents = contents
    }

    var scope: String { String(path.prefix { $0 != "/" }) }

    /// The database that the request is about; people have one each.
    var database: MemoryDatabase {
        get { contents.databases[Self.databaseName(scope, person)] ?? MemoryDatabase() }
        set { contents.databases[Self.databaseName(scope, person)] = newValue }
    }

    static func databaseName(_ scope: String, _ person: String) -> String {
        scope == "public" ? "public" : "\(scope) \(person)"
    }

    /// Notes a change of a zone, for subscriptions.
    private mutating func note(changeOf zone: String, at position: Int64) {
        changes.append(
            MemoryChange(
                scope: scope, person: person, device: device, position: position, zone: zone))
    }

    /// - Throws: `MemoryFault`.
    mutating func answer() throws -> [UInt8] {
        switch path.drop(while: { $0 != "/" }).dropFirst() {
        case "users/caller", "users/current":
            return Self.object { $0.member("userRecordName", "_\(person)") }
        case "zones/list": return listZones()
        case "zones/lookup": return lookUpZones()
        case "zones/modify": return modifyZones()
        case "records/modify": return try modifyRecords()
        case "records/lookup": return try lookUpRecords()
        case "records/query": return try query()
        case "changes/database": return try databaseChanges()
        case "changes/zone": return zoneChanges()
        case "assets/upload": return uploadAddresses()
        case "subscriptions/list": return listSubscriptions()
        case "subscriptions/lookup": return lookUpSubscriptions()
        case "subscriptions/modify": return modifySubscriptions()
        default: throw MemoryFault(code: "NOT_FOUND", reason: "no such endpoint: \(path)")
        }
    }

    static func object(_ body: (inout JSONText) -> Void) -> [UInt8] {
        var json = JSONText()
        json.object(body)
        return json.bytes
    }

    static func list(_ key: String, _ items: [[UInt8]]) -> [UInt8] {
        object { json in
            json.key(key)
            json.array { json in for item in items { json.raw(item) } }
        }
    }

    static func fault(_ fault: MemoryFault, _ name: (inout JSONText) -> Void) -> [UInt8] {
        object { json in
            name(&json)
            fault.write(&json)
        }
    }

    func items(_ key: String) -> [JSONView] { body[key].map { Array($0.elements) } ?? [] }

    /// The name of the zone that something is about; the default zone when it says nothing.
    static func zoneName(_ view: JSONView) -> String {
        view["zoneID"]?["zoneName"]?.string ?? MemoryDatabase.defaultZone
    }

    func zone(_ name: String) throws(MemoryFault) -> MemoryDatabase.Zone {
        guard let zone = database.zones[name] else { throw Self.noZone(name) }
        return zone
    }

    static func noZone(_ name: String) -> MemoryFault {
        MemoryFault(code: "ZONE_NOT_FOUND", reason: "Zone does not exist: \(name)")
    }

    static func write(zone name: String, to json: inout JSONText) {
        json.key("zoneID")
        json.object { $0.member("zoneName", name) }
    }

    // MARK: - Zones

    private static func zoneObject(_ name: String) -> [UInt8] {
        object { json in
            write(zone: name, to: &json)
            json.key("atomic")
            json.bool(name != MemoryDatabase.defaultZone)
        }
    }

    private func listZones() -> [UInt8] {
        let names = scope == "shared" ? [] : database.zones.keys.sorted()
        return Self.list("zones", names.map(Self.zoneObject))
    }

    private func lookUpZones() -> [UInt8] {
        Self.list(
            "zones",
            items("zones").map { view in
                let name = Self.zoneName(view)
                if database.zones[name] != nil { return Self.zoneObject(name) }
                return Self.fault(Self.noZone(name)) { Self.write(zone: name, to: &$0) }
            })
    }

    private mutating func modifyZones() -> [UInt8] {
        var answers: [[UInt8]] = []
        for operation in items("operations") {
            let name = operation["zone"].map(Self.zoneName) ?? MemoryDatabase.defaultZone
            if operation["operationType"]?.string == "create" {
                if database.zones[name] == nil {
                    let position = contents.nextPosition()
                    database.zones[name] = .init(generation: position, position: position)
                    database.deletedZones[name] = nil
                    note(changeOf: name, at: position)
                }
                answers.append(Self.zoneObject(name))
            } else if database.zones.removeValue(forKey: name) != nil {
                let position = contents.nextPosition()
                database.deletedZones[name] = position
                note(changeOf: name, at: position)
                answers.append(Self.object { Self.write(zone: name, to: &$0) })
            } else {
                answers.append(Self.fault(Self.noZone(name)) { Self.write(zone: name, to: &$0) })
            }
        }
        return Self.list("zones", answers)
    }

    // MARK: - Assets

    private func uploadAddresses() -> [UInt8] {
        Self.list(
            "tokens",
            items("tokens").map { _ in
                Self.object { $0.member("url", "\(MemoryServer.address)/upload") }
            })
    }
}
