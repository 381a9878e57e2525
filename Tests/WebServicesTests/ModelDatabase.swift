/// What the rulings say of one database, kept in the plainest way: whole copies and long searches.
///
/// Knows nothing of how the server does it. Changes are numbered by a counter of the model's own; what
/// one operation takes along with its target shares the operation's number.
struct ModelDatabase {
    struct Record {
        var type: String
        /// Values as answered, by field.
        var fields: [String: ModelField] = [:]
        var parent: String?
        var creator: String
        var links: [Link] = []
        var changed: Int
        /// Learnt from the answer.
        var tag = ""
        var raw = ""
    }

    /// What a record needs, or goes with.
    struct Link: Hashable {
        let zone: Int
        let name: String
        let isNeeded: Bool
    }

    struct Tombstone {
        let type: String
        let changed: Int
        let at: Int64
    }

    struct Zone {
        let name: String
        /// Tells zones of one name apart.
        let generation: Int
        var changed: Int
        var records: [String: Record] = [:]
        var tombstones: [String: Tombstone] = [:]
        /// The last change that collection has forgotten.
        var forgotten = 0
    }

    struct Grave {
        let name: String
        let changed: Int
        let at: Int64
    }

    struct RecordID: Hashable {
        let zone: Int
        let name: String
    }

    let isPublic: Bool
    /// Living zones by name.
    var zones: [String: Zone] = [:]
    /// Deleted zones whose name is free.
    var graves: [String: Grave] = [:]
    var forgotten = 0
    var counter = 0
    /// The types of fields by record type; shared by all databases, and handed in with each batch.
    var schema: [String: [String: String]] = [:]

    init(isPublic: Bool) {
        self.isPublic = isPublic
        zones["_defaultZone"] = Zone(name: "_defaultZone", generation: 0, changed: 0)
    }

    func record(_ id: RecordID) -> Record? {
        zones.values.first { $0.generation == id.zone }?.records[id.name]
    }

    /// Every living record.
    var recordIDs: [RecordID] {
        zones.values.flatMap { zone in
            zone.records.keys.map { RecordID(zone: zone.generation, name: $0) }
        }
    }

    // MARK: - Zones

    mutating func make(_ name: String) {
        guard zones[name] == nil else { return }
        counter += 1
        zones[name] = Zone(name: name, generation: counter, changed: counter)
        graves[name] = nil
    }

    /// - Returns: whether there was one.
    mutating func remove(_ name: String, at now: Int64) -> Bool {
        guard zones.removeValue(forKey: name) != nil else { return false }
        counter += 1
        graves[name] = Grave(name: name, changed: counter, at: now)
        return true
    }

    mutating func collect(olderThan moment: Int64) {
        for (name, zone) in zones {
            for (record, tombstone) in zone.tombstones where tombstone.at < moment {
                zones[name]?.tombstones[record] = nil
                let forgotten = max(zones[name]?.forgotten ?? 0, tombstone.changed)
                zones[name]?.forgotten = forgotten
            }
        }
        for (name, grave) in graves where grave.at < moment {
            graves[name] = nil
            forgotten = max(forgotten, grave.changed)
        }
    }

    // MARK: - Single changes

    mutating func put(_ record: Record, at id: RecordID) {
        guard let zone = zones.values.first(where: { $0.generation == id.zone })?.name else {
            return
        }
        zones[zone]?.records[id.name] = record
        zones[zone]?.tombstones[id.name] = nil
        zones[zone]?.changed = counter
    }

    mutating func writeTombstone(_ id: RecordID, at now: Int64) {
        guard let zone = zones.values.first(where: { $0.generation == id.zone })?.name,
            let record = zones[zone]?.records.removeValue(forKey: id.name)
        else { return }
        zones[zone]?.tombstones[id.name] = Tombstone(
            type: record.type, changed: counter, at: now)
        zones[zone]?.changed = counter
    }

    /// The places of records that a link leads from.
    func sources(of target: RecordID, needing: Bool) -> [RecordID] {
        recordIDs.filter { id in
            record(id)?.links.contains(
                Link(zone: target.zone, name: target.name, isNeeded: needing)) == true
        }
    }

    /// The places of records whose links act on a target that somebody has made: in the public database
    /// those of others do not.
    func actingSources(of target: RecordID, madeBy creator: String?, needing: Bool) -> [RecordID] {
        sources(of: target, needing: needing).filter {
            !isPublic || record($0)?.creator == creator
        }
    }

    /// What goes with a record, itself included.
    func cascade(from root: RecordID) -> Set<RecordID> {
        var reached: Set<RecordID> = [root]
        var next = [root]
        while let target = next.popLast() {
            let creator = record(target)?.creator
            for source in actingSources(of: target, madeBy: creator, needing: false)
            where reached.insert(source).inserted {
                next.append(source)
            }
        }
        return reached
    }

    /// Deletes what others let go with records that are gone, as it is done after the batch.
    ///
    /// Whatever somebody's own record holds stays. Which of two that hold each other goes first is not said.
    ///
    /// - Parameter isGone: whether the server has deleted a record.
    /// - Returns: records that should have gone, or stayed, and have not.
    mutating func deleteSources(
        of gone: [RecordID: String], at now: Int64, _ isGone: (String) throws -> Bool
    ) rethrows -> [String] {
        let before = self
        var kept: Set<RecordID> = []
        var buried: [RecordID: String] = [:]
        var next = gone
        while let (target, creator) = next.popFirst() {
            for source in sources(of: target, needing: false) {
                guard let record = record(source) else { continue }
                // Of their own, whoever deletes takes along what goes; what they save after it stays.
                if gone[target] != nil, record.creator == creator { continue }
                guard try isGone(source.name) else {
                    kept.insert(source)
                    continue
                }
                counter += 1
                writeTombstone(source, at: now)
                buried[source] = record.creator
                next[source] = record.creator
            }
        }
        let wronglyKept = kept.filter {
            let creator = before.record($0)?.creator
            return before.actingSources(of: $0, madeBy: creator, needing: true).isEmpty
        }
        let wronglyGone = buried.filter {
            !actingSources(of: $0.key, madeBy: $0.value, needing: true).isEmpty
        }
        return wronglyKept.map(\.name) + wronglyGone.map(\.key.name)
    }
}

/// A field's value.
struct ModelField: Equatable {
    struct Reference: Equatable {
        let name: String
        let zone: String?
        let action: String

        var json: String {
            let id = zone.map { ",\"zoneID\":{\"zoneName\":\"\($0)\"}" } ?? ""
            return "{\"recordName\":\"\(name)\"\(id),\"action\":\"\(action)\"}"
        }
    }

    let value: String
    let type: String
    var references: [Reference] = []

    var json: String { "{\"value\":\(value),\"type\":\"\(type)\"}" }
}

/// One operation, for the model and for the wire.
struct ModelOperation {
    enum Parent {
        case absent, cleared
        case set(String)
    }

    var kind: String
    var name: String
    var type: String?
    var tag: String?
    /// Nil clears.
    var fields: [String: ModelField?] = [:]
    var parent = Parent.absent
    /// Whether a field holds what no field can.
    var isIllFormed = false

    var deletes: Bool { kind == "delete" || kind == "forceDelete" }
    var merges: Bool { kind == "update" || kind == "forceUpdate" }
    var compares: Bool { kind == "update" || kind == "replace" || kind == "delete" }

    var json: String {
        var members = fields.sorted { $0.key < $1.key }.map { name, field in
            "\"\(name)\":\(field?.json ?? "null")"
        }
        if isIllFormed { members.append("\"odd\":{\"value\":true}") }
        var more: String?
        switch parent {
        case .absent: break
        case .cleared: more = "\"parent\":null"
        case .set(let name): more = "\"parent\":{\"recordName\":\"\(name)\"}"
        }
        return operation(
            kind, name, type: type, fields: "{\(members.joined(separator: ","))}", tag: tag,
            more: more)
    }
}
