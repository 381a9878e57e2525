/// What `records/modify` does, by the rulings.
struct ModelBatch {
    enum Outcome {
        case saved
        case deleted
        case failed(String)
    }

    let operations: [ModelOperation]
    let zone: String
    let isAtomic: Bool
    let user: String
    let now: Int64
    /// Operations that fail by what is there after all of them, with their codes.
    private var refused: [Int: String] = [:]
    /// The records that a batch has deleted, with those who had made them.
    private(set) var buried: [ModelDatabase.RecordID: String] = [:]

    init(
        _ operations: [ModelOperation], zone: String, atomic: Bool?, user: String, now: Int64
    ) {
        self.operations = operations
        self.zone = zone
        self.isAtomic = zone != "_defaultZone" && atomic ?? true
        self.user = user
        self.now = now
    }

    /// Applies the batch; the database is left as it was when an atomic one fails.
    mutating func run(on database: inout ModelDatabase) -> [Outcome] {
        while true {
            var copy = database
            var outcomes: [Outcome] = []
            var gone: [Int: Set<ModelDatabase.RecordID>] = [:]
            for (index, operation) in operations.enumerated() {
                outcomes.append(apply(index, operation, to: &copy, gone: &gone))
            }
            let failed = outcomes.contains { $0.code != nil }
            if failed, isAtomic {
                return outcomes.map { $0.code == nil ? .failed("ATOMIC_ERROR") : $0 }
            }
            var broken = broken(outcomes, gone, before: database, in: copy).map {
                ($0, "VALIDATING_REFERENCE_ERROR")
            }
            if broken.isEmpty {
                broken = circular(outcomes, before: database, after: copy)
                    .map { ($0, "BAD_REQUEST") }
            }
            if broken.isEmpty {
                for id in gone.values.flatMap(\.self) {
                    buried[id] = database.record(id)?.creator ?? user
                }
                database = copy
                return outcomes
            }
            for (index, code) in broken { refused[index] = code }
        }
    }

    private func apply(
        _ index: Int, _ operation: ModelOperation, to database: inout ModelDatabase,
        gone: inout [Int: Set<ModelDatabase.RecordID>]
    ) -> Outcome {
        guard let generation = database.zones[zone]?.generation else {
            return .failed("ZONE_NOT_FOUND")
        }
        if operation.isIllFormed, !operation.deletes { return .failed("BAD_REQUEST") }
        if let code = refused[index] { return .failed(code) }
        let id = ModelDatabase.RecordID(zone: generation, name: operation.name)
        let previous = database.record(id)
        if let previous {
            if operation.kind == "create" { return .failed("CONFLICT") }
            if database.isPublic, previous.creator != user { return .failed("ACCESS_DENIED") }
            if operation.compares, let tag = operation.tag, tag != previous.tag {
                return .failed("CONFLICT")
            }
        } else {
            if operation.compares { return .failed("NOT_FOUND") }
            if operation.deletes { return .deleted }
        }
        if operation.deletes {
            let victims = database.cascade(from: id)
            database.counter += 1
            for victim in victims { database.writeTombstone(victim, at: now) }
            gone[index] = victims
            return .deleted
        }
        return save(operation, over: previous, at: id, in: &database)
    }

    private func save(
        _ operation: ModelOperation, over previous: ModelDatabase.Record?,
        at id: ModelDatabase.RecordID, in database: inout ModelDatabase
    ) -> Outcome {
        guard let type = operation.type ?? previous?.type else { return .failed("BAD_REQUEST") }
        if let previous, previous.type != type { return .failed("BAD_REQUEST") }
        var record = ModelDatabase.Record(
            type: type, creator: previous?.creator ?? user, changed: 0)
        if operation.merges, let previous {
            record.fields = previous.fields
            record.parent = previous.parent
        }
        for (name, field) in operation.fields { record.fields[name] = field }
        var known = database.schema[type] ?? [:]
        for case (let name, let field?) in operation.fields {
            if known[name, default: field.type] != field.type { return .failed("BAD_REQUEST") }
            known[name] = field.type
        }
        switch operation.parent {
        case .absent: break
        case .cleared: record.parent = nil
        case .set(let name): record.parent = name
        }
        if let parent = record.parent {
            if parent == operation.name { return .failed("BAD_REQUEST") }
            record.links.append(.init(zone: id.zone, name: parent, isNeeded: true))
        }
        for reference in record.fields.values.flatMap(\.references)
        where reference.action != "NONE" {
            let isNeeded = reference.action == "VALIDATE"
            guard let zone = database.zones[reference.zone ?? zone] else {
                if isNeeded { return .failed("VALIDATING_REFERENCE_ERROR") }
                continue
            }
            record.links.append(
                .init(zone: zone.generation, name: reference.name, isNeeded: isNeeded))
        }
        database.schema[type] = known
        database.counter += 1
        record.changed = database.counter
        database.put(record, at: id)
        return .saved
    }

    /// Which operations must fail for what is there, or is not, after all of them.
    private func broken(
        _ outcomes: [Outcome], _ gone: [Int: Set<ModelDatabase.RecordID>],
        before: ModelDatabase, in database: ModelDatabase
    ) -> Set<Int> {
        guard let generation = database.zones[zone]?.generation else { return [] }
        let failing = Set(
            zip(operations, outcomes).filter { $0.1.code != nil }.map { $0.0.name })
        var found: Set<Int> = []
        for (index, operation) in operations.enumerated() {
            if case .saved = outcomes[index] {
                let id = ModelDatabase.RecordID(zone: generation, name: operation.name)
                for link in database.record(id)?.links ?? [] {
                    let target = ModelDatabase.RecordID(zone: link.zone, name: link.name)
                    guard database.record(target) == nil else { continue }
                    let hasFailed = link.zone == generation && failing.contains(link.name)
                    if link.isNeeded || hasFailed { found.insert(index) }
                }
            }
            for id in gone[index] ?? [] where database.record(id) == nil {
                let creator = before.record(id)?.creator ?? user
                let holders = database.actingSources(of: id, madeBy: creator, needing: true)
                if !holders.isEmpty { found.insert(index) }
            }
        }
        return found
    }

    /// Which operations give a record a parent that lies below it.
    private func circular(
        _ outcomes: [Outcome], before: ModelDatabase, after: ModelDatabase
    ) -> [Int] {
        guard let generation = after.zones[zone]?.generation else { return [] }
        return operations.indices.filter { index in
            guard case .saved = outcomes[index] else { return false }
            let id = ModelDatabase.RecordID(zone: generation, name: operations[index].name)
            let parent = after.record(id)?.parent
            guard let parent, parent != before.record(id)?.parent else { return false }
            var seen: Set<String> = []
            var next: String? = parent
            while let name = next, seen.insert(name).inserted {
                if name == id.name { return true }
                next = after.record(.init(zone: generation, name: name))?.parent
            }
            return false
        }
    }
}

extension ModelBatch.Outcome {
    var code: String? {
        if case .failed(let code) = self { return code }
        return nil
    }
}
