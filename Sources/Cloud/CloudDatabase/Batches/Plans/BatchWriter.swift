import CloudModel
import Storage

/// The outcome of one operation.
package enum RecordOutcome: Sendable {
    /// The stored body, and the version's flags.
    case saved([UInt8], VersionFlags)
    case deleted(RecordName)
    case failed(name: String, Fault)
}

/// Carries out a plan: changes take their positions in the order of the operations.
struct BatchWriter {
    let plan: BatchPlan
    let context: BatchContext
    let transaction: any StoreTransaction
    private let bodies: RecordBody.Batch
    private let owner: UserRecordName
    private var previousRecords: [RecordKey: CurrentRecord]
    /// What records will say about the shares that the batch begins.
    let marks: [RecordKey: RecordBody.Sharing]
    private var typeNames: [Int64: RecordTypeName] = [:]
    private var typeNumber: (name: RecordTypeName, number: Int64)?
    /// The batch's zone as its records show it.
    private let zoneJSON: [UInt8]
    /// Other zones than the batch's.
    private var zones: [ZoneNumber: (zone: StoredZone, json: [UInt8])] = [:]
    /// Public records that were deleted and that other people's records may still refer to.
    private var buried: [(key: RecordKey, position: Position)] = []
    private var coverages: [ZoneNumber: Coverage] = [:]

    /// A deletion that has no position yet.
    private struct WaitingDeletion {
        let key: RecordKey
        let previous: CurrentRecord
        let head: StoredHead
        let zone: StoredZone
        /// The tombstone's.
        let body: [UInt8]
    }

    /// Saves that have their positions, one after the other, and are still to be written.
    private var waiting = WaitingSaves()
    /// Deletions that are still to be written, together.
    private var deletions: [WaitingDeletion] = []

    init(
        _ plan: BatchPlan, stamp: RecordBody.Stamp, in transaction: any StoreTransaction
    ) throws {
        self.plan = plan
        self.marks = try Self.marks(plan)
        self.context = plan.context
        self.transaction = transaction
        self.owner = context.owner
        self.previousRecords = context.previousRecords
        zoneJSON = ZoneJSON.identifier(context.zone.name, owner: owner)
        bodies = RecordBody.Batch(stamp, zone: zoneJSON)
    }

    /// Writes every step that is not a fault.
    ///
    /// - Returns: the outcomes, in the order of the operations.
    mutating func write() throws -> [RecordOutcome] {
        if let schema = plan.schema {
            try transaction.replaceSchema(
                by: schema, who: context.database.caller.inHistory,
                difference: SchemaDifference(from: try transaction.schema, to: schema).lines)
        }
        var outcomes: [RecordOutcome] = []
        let steps = plan.steps
        outcomes.reserveCapacity(steps.count)
        waiting.reserveCapacity(steps.count)
        for (decoded, step) in zip(context.operations, steps) {
            switch (decoded, step) {
            case (.fault(let name, let fault), _):
                outcomes.append(.failed(name: name, fault))
            case (.operation(let operation), .fault(let fault)):
                outcomes.append(.failed(name: operation.name.text, fault))
            case (.operation(let operation), .nothing):
                outcomes.append(.deleted(operation.name))
            case (.operation(let operation), .save(let save)):
                try writeDeletions()
                try prepare(save, under: operation.name, for: outcomes.count)
                // A placeholder until the record is written.
                outcomes.append(.deleted(operation.name))
            case (.operation(let operation), .delete(let others)):
                try writeWaiting(&outcomes)
                try delete(context.key(operation.name))
                for other in others { try delete(other) }
                outcomes.append(.deleted(operation.name))
            case (.operation(let operation), .leave(let share)):
                try writeWaiting(&outcomes)
                try writeDeletions()
                try leave(share, context.key(operation.name))
                outcomes.append(.deleted(operation.name))
            }
        }
        try writeWaiting(&outcomes)
        try writeDeletions()
        var shared: [(index: Int, name: RecordName)] = []
        for (index, step) in steps.enumerated() {
            guard case .save(let save) = step, let share = save.share,
                let operation = context.operation(index)
            else { continue }
            try write(share, of: context.key(operation.name))
            shared.append((index, operation.name))
        }
        try show(shared, in: &outcomes)
        try queueSources()
        return outcomes
    }

    /// Makes the body of a save, which is written later together with others.
    private mutating func prepare(
        _ save: PlannedSave, under name: RecordName, for index: Int
    ) throws {
        let key = context.key(name)
        let previous = try previous(key)
        if waiting.needsPositions {
            let count = savesInARow(from: index)
            waiting.take(try transaction.takePositions(count), count)
        }
        let position = waiting.nextPosition()
        let sharing = sharing(save, key)
        let body = bodies.body(
            name: name, type: save.type, fields: save.fields, position: position,
            created: save.created, parent: save.parent, sharing: sharing)
        var flags = VersionFlags()
        if !save.links.isEmpty || save.refers { flags.insert(.hasLinks) }
        if !save.assets.isEmpty { flags.insert(.hasAssets) }
        if save.share != nil { flags.insert(.share) }
        if sharing.share != nil { flags.insert(.root) }
        var version = NewVersion(
            zone: context.zone, name: name, position: position, previous: previous.head,
            previousBytes: previous.bodyBytes, previousIsAlive: previous.isAlive,
            previousIsDamaged: previous.isDamaged,
            type: try typeNumber(save.type), flags: flags, body: body.bytes,
            fieldsEnd: body.fieldsEnd)
        version.isFoundAtOnce = context.database.scope == .public
        if !save.links.isEmpty || previous.flags.contains(.hasLinks) { version.links = save.links }
        if !save.assets.isEmpty || previous.flags.contains(.hasAssets) {
            version.files = Set(save.assets.map(\.digest))
        }
        // The identifier of a shared tree is that of its root.
        if let shortGUID = sharing.shortGUID, save.share == nil || name == .zoneShare {
            version.shortGUID = shortGUID.text
        }
        waiting.versions.append(version)
        waiting.saves.append(WaitingSaves.Save(index: index, save: save))
    }

    /// How many saves are written together, from a step on.
    private func savesInARow(from index: Int) -> Int {
        var count = 0
        for step in plan.steps[index...] {
            switch step {
            case .save: count += 1
            case .fault, .nothing: break
            case .delete, .leave: return count
            }
        }
        return count
    }

    /// Writes the waiting saves in one call, and then all that goes with each of them.
    private mutating func writeWaiting(_ outcomes: inout [RecordOutcome]) throws {
        guard !waiting.versions.isEmpty else { return }
        let (versions, saves) = (waiting.versions, waiting.saves)
        waiting.empty()
        let records = try transaction.save(versions)
        try coverage(of: context.zone.number) {
            try $0.expect(records, below: Set(saves.lazy.compactMap(\.save.parent)))
        }
        for (index, record) in records.enumerated() {
            let outcome = try finish(saves[index], versions[index], record)
            outcomes[saves[index].index] = outcome
        }
        try coverage(of: context.zone.number) { $0.settle() }
    }

    /// Writes all that goes with a saved record.
    private mutating func finish(
        _ waited: WaitingSaves.Save, _ version: NewVersion, _ record: RecordNumber
    ) throws -> RecordOutcome {
        let (save, name, flags) = (waited.save, version.name, version.flags)
        try coverage(of: context.zone.number) {
            try $0.saved(
                Coverage.Saved(
                    record: record, name: name, position: version.position, type: version.type,
                    parent: save.parent))
        }
        // A later deletion in the batch may delete this record too.
        if context.actsOnOthers {
            previousRecords[context.key(name)] = .saved(
                StoredHead(record: record, position: version.position),
                bodyBytes: version.body.count, type: version.type, flags: flags)
        }
        if let roles = save.roles, let user = UserRecordName(name.text) {
            try transaction.assign(roles, to: user)
            context.rolesOfUsers[user] = roles
        }
        if let shown = save.shown {
            let answer = bodies.body(
                name: name, type: save.type, fields: shown.fields, position: version.position,
                created: save.created, parent: shown.parent)
            return .saved(answer.bytes, flags)
        }
        if let user = UserRecord.user(name, in: context.zone.name) {
            return .saved(try RightRule(context).answered(version.body, of: user), flags)
        }
        guard context.access != nil, flags.contains(.root) else {
            return .saved(version.body, flags)
        }
        return .saved(
            try version.body.withUnsafeBytes { try RecordBody.withoutParent($0) }, flags)
    }

    /// Updates which records shares cover after a change.
    mutating func coverage(
        of zone: ZoneNumber, _ change: (inout Coverage) throws -> Void
    ) throws {
        try change(
            &coverages[
                zone,
                default: Coverage(
                    transaction, zone: zone,
                    recordsMax: context.database.limits.shareStepRecordsMax)])
    }

    /// Deletes a record, together with those that are deleted next; a share's record by itself.
    private mutating func delete(_ key: RecordKey) throws {
        let previous = try previous(key)
        guard previous.isAlive, let head = previous.head,
            let (zone, json) = try zoneAndJSON(key.zone)
        else {
            return
        }
        let body = RecordBody.tombstone(
            name: key.name, type: try typeName(previous.type), zone: json)
        let deletion = WaitingDeletion(
            key: key, previous: previous, head: head, zone: zone, body: body)
        previousRecords[key] = .deleted(head.record, at: head.position)
        // A damaged one does not say whether it is a share's.
        guard previous.flags.contains(.share) || previous.isDamaged else {
            return deletions.append(deletion)
        }
        try writeDeletions()
        let root = try end(head.record)
        deletions.append(deletion)
        try writeDeletions()
        if let root { try rewrite(root) { $0.share = nil } }
    }

    /// Writes the waiting deletions in one call, at positions in their order.
    private mutating func writeDeletions() throws {
        guard !deletions.isEmpty else { return }
        let written = deletions
        deletions = []
        let first = try transaction.takePositions(written.count)
        var gone: [ZoneNumber: [(record: RecordNumber, position: Position)]] = [:]
        var versions: [NewVersion] = []
        versions.reserveCapacity(written.count)
        for (position, deletion) in zip(first..., written) {
            let (key, record) = (deletion.key, deletion.head.record)
            versions.append(
                .tombstone(
                    of: deletion.previous, deletion.head, name: key.name, in: deletion.zone,
                    at: position, deletion.body))
            gone[key.zone, default: []].append((record, position))
            previousRecords[key] = .deleted(record, at: position)
            if context.database.scope == .public { buried.append((key, position)) }
        }
        _ = try transaction.save(versions)
        for (zone, gone) in gone { try coverage(of: zone) { try $0.deleted(gone) } }
    }

    /// Queues the deletion of other people's records that referred to deleted public records (rulings.md 45).
    private func queueSources() throws {
        // All public records lie in one zone.
        guard !buried.isEmpty else { return }
        let left = try transaction.sources(
            of: buried.map(\.key.name), in: context.zone.number, kinds: .deleteSelf ... .deleteSelf,
            after: RecordNumber(0), limit: 1)
        for ((key, position), sources) in zip(buried, left) where !sources.isEmpty {
            try transaction.enqueue(
                .deleteSources(of: key.name, in: key.zone, deletedAt: position))
        }
    }

    /// Remembers what was written apart from the operations.
    mutating func noteWritten(_ record: CurrentRecord, _ key: RecordKey) {
        previousRecords[key] = record
    }

    /// What is stored under a name at this point of the writing.
    func previous(_ key: RecordKey) throws -> CurrentRecord {
        if let known = previousRecords[key] { return known }
        return try CurrentRecord(key, withBody: false, in: transaction)
    }

    mutating func zoneAndJSON(_ number: ZoneNumber) throws -> (StoredZone, [UInt8])? {
        if number == context.zone.number { return (context.zone, zoneJSON) }
        if let known = zones[number] { return known }
        guard let zone = try transaction.zone(number), !zone.isDeleted else { return nil }
        let both = (zone, ZoneJSON.identifier(zone.name, owner: owner))
        zones[number] = both
        return both
    }

    /// The number of a type; mostly the same as for the record before.
    private mutating func typeNumber(_ name: RecordTypeName) throws -> Int64 {
        if let typeNumber, typeNumber.name == name { return typeNumber.number }
        let number = try transaction.schema.types[name]?.number ?? 0
        typeNumber = (name, number)
        return number
    }

    private mutating func typeName(_ number: Int64) throws -> String {
        if typeNames.isEmpty {
            for (name, type) in try transaction.schema.types { typeNames[type.number] = name }
        }
        return typeNames[number]?.text ?? ""
    }
}

/// Saves that have their positions, one after the other, each with its version.
private struct WaitingSaves {
    struct Save {
        /// Of the operation.
        let index: Int
        let save: PlannedSave
    }

    var versions: [NewVersion] = []
    var saves: [Save] = []
    /// Positions that were taken for the saves that follow each other.
    private var positions: Range<Position> = 0..<0

    var needsPositions: Bool { positions.isEmpty }

    mutating func take(_ first: Position, _ count: Int) {
        positions = first..<first + Position(count)
    }

    mutating func nextPosition() -> Position {
        defer { positions = positions.dropFirst() }
        return positions.lowerBound
    }

    /// Lets go what was written.
    mutating func empty() {
        versions.removeAll()
        saves.removeAll()
    }

    mutating func reserveCapacity(_ count: Int) {
        versions.reserveCapacity(count)
        saves.reserveCapacity(count)
    }
}

extension Caller {
    /// How the schema's history names the person who added a type or a field.
    fileprivate var inHistory: String {
        let user = userRecordName?.text ?? "nobody"
        return keyID.map { "\(user) by server key \($0)" } ?? user
    }
}
