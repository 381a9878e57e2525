import CloudModel
import Storage

/// What became of one operation.
package enum RecordOutcome: Sendable {
    /// The body as stored, and the version's flags.
    case saved([UInt8], VersionFlags)
    case deleted(RecordName)
    case failed(name: String, Fault)
}

/// Carries out a plan: every change takes its position in the order of the operations.
struct BatchWriter {
    let plan: BatchPlan
    let transaction: any StoreTransaction
    private let bodies: RecordBody.Batch
    private let owner: UserRecordName
    private var formers: [RecordKey: FormerRecord]
    /// What records will say about the shares that the batch begins.
    let marks: [RecordKey: RecordBody.Sharing]
    private var typeNames: [Int64: RecordTypeName] = [:]
    private var zones: [ZoneNumber: (zone: StoredZone, json: [UInt8])] = [:]
    private var coverages: [ZoneNumber: Coverage] = [:]

    init(_ plan: BatchPlan, stamp: RecordBody.Stamp) throws {
        self.plan = plan
        self.marks = try Self.marks(plan)
        self.transaction = plan.transaction
        self.owner = plan.owner
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
                outcomes.append(try write(save, under: operation.name))
            case (.operation(let operation), .delete(let others)):
                try bury(plan.key(operation.name))
                for other in others { try bury(other) }
                outcomes.append(.deleted(operation.name))
            case (.operation(let operation), .leave(let share)):
                try leave(share, plan.key(operation.name))
                outcomes.append(.deleted(operation.name))
            }
        }
        for (index, step) in plan.steps.enumerated() {
            guard case .save(let save) = step, let share = save.share,
                case .operation(let operation) = plan.operations[index]
            else { continue }
            outcomes[index] = try write(share, of: plan.key(operation.name))
        }
        return outcomes
    }

    private mutating func write(
        _ save: PlannedSave, under name: RecordName
    ) throws -> RecordOutcome {
        let key = plan.key(name)
        let former = try former(key)
        let position = try transaction.takePosition()
        let sharing = sharing(save, key)
        let body = bodies.body(
            name: name, type: save.type, fields: save.fields, position: position,
            created: save.created, parent: save.parent, sharing: sharing)
        let type = transaction.schema.types[save.type]?.number ?? 0
        var flags = VersionFlags()
        if !save.links.isEmpty || save.refers { flags.insert(.hasLinks) }
        if !save.assets.isEmpty { flags.insert(.hasAssets) }
        if save.share != nil { flags.insert(.share) }
        if sharing.share != nil { flags.insert(.root) }
        let record = try transaction.save(
            NewVersion(
                zone: plan.zone, name: name, position: position, former: former.head,
                formerBytes: former.bodyBytes, formerIsAlive: former.isAlive, type: type,
                flags: flags, body: body))
        if !save.links.isEmpty || former.flags.contains(.hasLinks) {
            try transaction.replaceLinks(of: record, with: save.links)
        }
        if !save.assets.isEmpty || former.flags.contains(.hasAssets) {
            try transaction.replaceAssets(
                of: record, in: plan.zone, with: Set(save.assets.map(\.digest)))
        }
        try coverage(of: plan.zone.number) {
            try $0.saved(
                Coverage.Saved(
                    record: record, name: name, position: position, type: type,
                    parent: save.parent))
        }
        // The identifier of a tree's share is its root's.
        if let shortGUID = sharing.shortGUID, save.share == nil || name == .zoneShare {
            try ShareWriter(transaction: transaction).keep(shortGUID, of: record)
        }
        // A later deletion of the batch may take the record along.
        formers[key] = .saved(
            StoredHead(record: record, position: position), bodyBytes: body.count, type: type,
            flags: flags)
        if let roles = save.roles, let user = UserRecordName(name.text) {
            try transaction.assign(roles, to: user)
        }
        if let shown = save.shown {
            let answer = bodies.body(
                name: name, type: save.type, fields: shown.fields, position: position,
                created: save.created, parent: shown.parent)
            return .saved(answer, flags)
        }
        if let user = UserRecord.user(name, in: plan.zone.name) {
            return .saved(try plan.answered(body, of: user), flags)
        }
        guard plan.access != nil, flags.contains(.root) else { return .saved(body, flags) }
        return .saved(try body.withUnsafeBytes { try RecordBody.withoutParent($0) }, flags)
    }

    /// Lets what shares cover follow a change.
    mutating func coverage(
        of zone: ZoneNumber, _ change: (inout Coverage) throws -> Void
    ) throws {
        try change(
            &coverages[
                zone,
                default: Coverage(
                    transaction, zone: zone,
                    recordsMax: plan.database.limits.shareStepRecordsMax)])
    }

    private mutating func bury(_ key: RecordKey) throws {
        let former = try former(key)
        guard former.isAlive, let head = former.head, let (zone, json) = try place(key.zone) else {
            return
        }
        let root = former.flags.contains(.share) ? try end(head.record) : nil
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
        if former.flags.contains(.hasAssets) {
            try transaction.replaceAssets(of: head.record, in: zone, with: [])
        }
        try coverage(of: key.zone) { try $0.deleted(head.record, at: position) }
        formers[key] = .deleted(head.record, at: position)
        if let root { try rewrite(root) { $0.share = nil } }
    }

    /// Keeps in mind what was written beside the operations.
    mutating func noteWritten(_ record: FormerRecord, _ key: RecordKey) { formers[key] = record }

    /// What stands under a name at this point of the writing.
    func former(_ key: RecordKey) throws -> FormerRecord {
        if let known = formers[key] { return known }
        return try FormerRecord(key, withBody: false, in: transaction)
    }

    mutating func place(_ number: ZoneNumber) throws -> (StoredZone, [UInt8])? {
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
