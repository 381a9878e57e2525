import CloudModel
import Storage

/// What became of one operation.
package enum RecordOutcome: Sendable {
    /// The body as stored.
    case saved([UInt8])
    case deleted(RecordName)
    case failed(name: String, Fault)
}

/// Carries out a plan: every change takes its position in the order of the operations.
struct BatchWriter {
    private let plan: BatchPlan
    private let transaction: any StoreTransaction
    private let bodies: RecordBody.Batch
    private let owner: UserRecordName
    private var formers: [RecordKey: FormerRecord]
    private var typeNames: [Int64: RecordTypeName] = [:]
    private var zones: [ZoneNumber: (zone: StoredZone, json: [UInt8])] = [:]

    init(_ plan: BatchPlan, stamp: RecordBody.Stamp) {
        self.plan = plan
        self.transaction = plan.transaction
        self.owner = plan.database.ownerRecordName
        self.formers = plan.formers
        let zoneJSON = ZoneJSON.identifier(plan.zone.name, owner: owner)
        bodies = RecordBody.Batch(stamp, zone: zoneJSON)
        zones[plan.zone.number] = (plan.zone, zoneJSON)
    }

    /// Writes every step that is no fault.
    ///
    /// - Returns: the outcomes, in the order of the operations.
    mutating func write() throws -> [RecordOutcome] {
        if plan.bringsSchema {
            try transaction.replaceSchema(
                by: plan.schema, who: plan.database.caller.inHistory,
                difference: SchemaDifference(from: transaction.schema, to: plan.schema).lines)
        }
        var outcomes: [RecordOutcome] = []
        outcomes.reserveCapacity(plan.steps.count)
        for (decoded, step) in zip(plan.operations, plan.steps) {
            switch (decoded, step) {
            case (.fault(let name, let fault), _):
                outcomes.append(.failed(name: name, fault))
            case (.operation(let operation), .fault(let fault)):
                outcomes.append(.failed(name: operation.name.text, fault))
            case (.operation(let operation), .nothing):
                outcomes.append(.deleted(operation.name))
            case (.operation(let operation), .save(let save)):
                outcomes.append(.saved(try write(save, under: operation.name)))
            case (.operation(let operation), .delete(let others)):
                try bury(plan.key(operation.name))
                for other in others { try bury(other) }
                outcomes.append(.deleted(operation.name))
            }
        }
        return outcomes
    }

    private mutating func write(_ save: PlannedSave, under name: RecordName) throws -> [UInt8] {
        let key = plan.key(name)
        let former = try former(key)
        let position = try transaction.takePosition()
        let body = bodies.body(
            name: name, type: save.type, fields: save.fields, position: position,
            created: save.created, parent: save.parent)
        let type = transaction.schema.types[save.type]?.number ?? 0
        let flags: VersionFlags = save.links.isEmpty && !save.refers ? [] : .hasLinks
        let record = try transaction.save(
            NewVersion(
                zone: plan.zone, name: name, position: position, former: former.head,
                formerBytes: former.bodyBytes, formerIsAlive: former.isAlive, type: type,
                flags: flags, body: body))
        if !save.links.isEmpty || former.flags.contains(.hasLinks) {
            try transaction.replaceLinks(of: record, with: save.links)
        }
        // A later deletion of the batch may take the record along.
        formers[key] = .saved(
            StoredHead(record: record, position: position), bodyBytes: body.count, type: type,
            flags: flags)
        return body
    }

    private mutating func bury(_ key: RecordKey) throws {
        let former = try former(key)
        guard former.isAlive, let head = former.head, let (zone, json) = try place(key.zone) else {
            return
        }
        let position = try transaction.takePosition()
        let type = typeName(former.type)
        _ = try transaction.save(
            NewVersion(
                zone: zone, name: key.name, position: position, former: head,
                formerBytes: former.bodyBytes, formerIsAlive: true, type: former.type,
                flags: .tombstone,
                body: RecordBody.tombstone(name: key.name, type: type, zone: json)))
        if former.flags.contains(.hasLinks) {
            try transaction.replaceLinks(of: head.record, with: [])
        }
        formers[key] = .deleted(head.record, at: position)
    }

    /// What stands under a name at this point of the writing.
    private func former(_ key: RecordKey) throws -> FormerRecord {
        if let known = formers[key] { return known }
        return try FormerRecord(key, withBody: false, in: transaction)
    }

    private mutating func place(_ number: ZoneNumber) throws -> (StoredZone, [UInt8])? {
        if let known = zones[number] { return known }
        guard let zone = try transaction.zone(number), !zone.isDeleted else { return nil }
        let place = (zone, ZoneJSON.identifier(zone.name, owner: owner))
        zones[number] = place
        return place
    }

    private mutating func typeName(_ number: Int64) -> String {
        if typeNames.isEmpty {
            for (name, type) in transaction.schema.types { typeNames[type.number] = name }
        }
        return typeNames[number]?.text ?? ""
    }
}

extension Caller {
    /// Who brought a type or a field, in the schema's history.
    fileprivate var inHistory: String {
        let user = userRecordName?.text ?? "nobody"
        return keyID.map { "\(user) by server key \($0)" } ?? user
    }
}
