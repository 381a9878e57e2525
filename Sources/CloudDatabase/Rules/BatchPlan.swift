import CloudModel
import JSON
import Storage

/// Decides a whole batch before anything of it is written (rulings.md 10, 12, 18).
///
/// Operations are decided in their order, against what those before them will have done; references
/// are checked after all. An operation that fails by a reference is taken out and the rest decided
/// anew, so that nothing rests on what will not happen. Nothing here writes.
final class BatchPlan {
    /// What an operation will do.
    enum Step {
        case fault(Fault)
        case save(PlannedSave)
        /// The records that go with the deleted one.
        case delete([RecordKey])
        /// A participant leaves the share whose record he deletes.
        case leave(StoredShare)
        /// There is nothing to delete.
        case nothing
    }

    /// What a record will be after the steps decided so far.
    enum State {
        case saved([Link])
        case deleted
    }

    let database: Database
    let zone: StoredZone
    /// The zone's owner, who need not be the caller.
    let owner: UserRecordName
    /// What the caller is shown of another user's zone; nil in his own databases.
    let access: ZoneAccess?
    let operations: [DecodedOperation]
    let isAtomic: Bool
    let transaction: any StoreTransaction
    /// What the caller may do by the grants of the schema.
    let rights: RecordAccess
    private(set) var steps: [Step] = []
    /// The schema with what the steps bring.
    private(set) var schema: Schema
    private(set) var formers: [RecordKey: FormerRecord] = [:]
    private var bodyBytesRead = 0
    /// The former records that were read whole: a batch may be decided several times.
    private var keptRecords: [RecordKey: RecordBody.Kept] = [:]
    private(set) var states: [RecordKey: State] = [:]
    /// Which records will refer to a name by links that the stored ones do not show.
    private(set) var sourcesPlanned: [RecordKey: Set<RecordKey>] = [:]
    /// Records that the deletions decided so far take along.
    private(set) var cascadedCount = 0
    private var referenceFaults: [Int: Fault] = [:]
    /// The records of operations that a participant cannot see: they are judged as if they were not
    /// there.
    private(set) var unseen: Set<RecordKey> = []
    private var bytesLeft = Int64.max
    private var schemaCheck: SchemaCheck
    /// Whether `schema` has more than the store's.
    var bringsSchema: Bool { schemaCheck.hasGrown }
    /// Whether what a step does may matter to another one: in most batches it cannot.
    private let actsOnOthers: Bool

    init(
        _ operations: [DecodedOperation], in zone: StoredZone, owner: UserRecordName,
        access: ZoneAccess?, of database: Database, isAtomic: Bool,
        transaction: any StoreTransaction
    ) throws {
        self.operations = operations
        self.zone = zone
        self.owner = owner
        self.access = access
        self.database = database
        self.isAtomic = isAtomic
        self.transaction = transaction
        self.rights = try RecordAccess(database, transaction.schema, transaction)
        self.schema = transaction.schema
        self.schemaCheck = database.schemaCheck
        self.actsOnOthers = operations.contains(where: Self.mayActOnOthers)
        formers.reserveCapacity(operations.count)
        steps.reserveCapacity(operations.count)
    }

    /// Whether an operation may take other records along, or need or be needed by them.
    private static func mayActOnOthers(_ decoded: DecodedOperation) -> Bool {
        guard case .operation(let operation) = decoded else { return false }
        if operation.kind.deletes || operation.kind.merges || operation.parent != .absent
            || concernsShare(operation)
        {
            return true
        }
        return operation.fields.fields.contains { !$0.references.isEmpty }
    }

    /// Decides every operation.
    ///
    /// - Returns: whether every one of them will be done.
    /// - Throws: failures of the machinery only.
    func decide() throws -> Bool {
        while true {
            try decideInOrder()
            if isAtomic, hasFault { return false }
            guard actsOnOthers || !unseen.isEmpty else { return !hasFault }
            var found = try brokenReferences().merging(misplacedRecords()) { first, _ in first }
            if found.isEmpty { found = try brokenShares() }
            if found.isEmpty { found = savesOfUnseen() }
            if found.isEmpty { return !hasFault }
            referenceFaults.merge(found) { first, _ in first }
        }
    }

    private var hasFault: Bool {
        steps.contains { if case .fault = $0 { true } else { false } }
    }

    private func decideInOrder() throws {
        steps.removeAll(keepingCapacity: true)
        states.removeAll(keepingCapacity: true)
        sourcesPlanned.removeAll(keepingCapacity: true)
        cascadedCount = 0
        schema = transaction.schema
        schemaCheck = database.schemaCheck
        bytesLeft = try allowance()
        for (index, decoded) in operations.enumerated() {
            steps.append(try step(index, decoded))
        }
    }

    private func step(_ index: Int, _ decoded: DecodedOperation) throws -> Step {
        guard case .operation(let operation) = decoded else {
            guard case .fault(_, let fault) = decoded else { return .nothing }
            return .fault(fault)
        }
        if let fault = referenceFaults[index] { return .fault(fault) }
        let before = (schema, schemaCheck)
        do {
            let step = try decide(operation)
            note(step, key(operation.name))
            return step
        } catch let fault as Fault {
            // What fails brings no types and no fields.
            (schema, schemaCheck) = before
            return .fault(fault)
        }
    }

    /// Keeps in mind what a step will do, for those after it.
    private func note(_ step: Step, _ key: RecordKey) {
        guard actsOnOthers else { return }
        switch step {
        case .save(let save):
            states[key] = .saved(save.links)
            for link in save.links {
                let target = RecordKey(zone: link.targetZone, name: link.target)
                sourcesPlanned[target, default: []].insert(key)
            }
        case .delete(let others):
            states[key] = .deleted
            for other in others { states[other] = .deleted }
            cascadedCount += others.count
        case .fault, .nothing, .leave: break
        }
    }

    private func decide(_ operation: RecordOperation) throws -> Step {
        let key = key(operation.name)
        if operation.kind == .create || operation.kind.deletes {
            try checkRight(toMakeOrDelete: operation)
        }
        try overlookUnseen(key, operation)
        if operation.kind.deletes, let step = try leavingUnseen(former(key)) { return step }
        // Of a record that may be kept from the caller no more is read than he may know.
        let isOpen = access == nil && !rights.holdsBack
        var former = try former(key, withBody: isOpen && !operation.kind.deletes)
        var isAlive = former.isAlive
        if case .deleted = states[key] { isAlive = false }
        if isAlive {
            try checkRight(operation, on: former)
            if operation.kind == .create {
                throw try conflict("record to insert already exists", key)
            }
            guard try allows(.write, key) else { throw RecordAccess.writeRefused }
            if !operation.kind.deletes { former = try self.former(key, withBody: true) }
            try compareTag(operation, former)
        } else {
            switch operation.kind {
            case .update, .replace, .delete, .forceDelete:
                let isUser = UserRecord.user(operation.name, in: zone.name) != nil
                guard !rights.conceals(.write, type: isUser ? .users : operation.type) else {
                    throw RecordAccess.writeRefused
                }
                guard operation.kind == .forceDelete else { throw Fault.recordNotFound }
                return .nothing
            case .create: break
            case .forceUpdate, .forceReplace: try checkRight(toMakeOrDelete: operation)
            }
        }
        if operation.kind.deletes { return try deletion(key, former) }
        return .save(try save(operation, over: isAlive ? former : nil))
    }

    private func save(
        _ operation: RecordOperation, over former: FormerRecord?
    ) throws
        -> PlannedSave
    {
        let key = key(operation.name)
        let kept: RecordBody.Kept? = former == nil ? nil : try kept(key)
        if former == nil, operation.type == .share { try checkPlaceOfNewShare() }
        // What the caller may not read, an answer to his save does not tell him either.
        let isShown = try former == nil || allows(.read, key)
        guard let type = operation.type ?? kept.flatMap({ RecordTypeName($0.type) }) else {
            throw Fault.badRequest("recordType: expected the record's type, as it is to be made")
        }
        if let kept, kept.type != type.text {
            throw Fault.badRequest(
                "recordType '\(type.text)' differs from the stored record's"
                    + (isShown ? ", '\(kept.type)'" : ""))
        }
        // Nor may he find out by a checksum which files the record has.
        let admitted = try admitAssets(
            schemaCheck.admit(operation.fields, of: type, to: &schema), over: isShown ? kept : nil)
        let (sent, roles) = try rolesApart(admitted, of: type, operation.name)
        let merge =
            if let former, let kept, operation.kind.merges {
                try FieldMerge(sent, over: kept, hasLinks: former.flags.contains(.hasLinks))
            } else {
                FieldMerge(only: sent)
            }
        guard merge.bytes.count <= database.limits.recordBytesMax else {
            throw RefusedBatch(
                fault: .limitExceeded(
                    "the fields of record '\(operation.name.text)' take "
                        + (isShown ? "\(merge.bytes.count)" : "too many")
                        + " bytes; the limit is \(database.limits.recordBytesMax) (limits.recordBytesMax)"
                ))
        }
        let wanted: RecordName? =
            switch operation.parent {
            case .set(let name): name
            case .cleared: nil
            case .absent: operation.kind.merges ? kept?.parent : nil
            }
        let parent = try participantParent(
            wanted, of: operation, over: former, kept: kept?.parent)
        var save = PlannedSave(
            type: type, fields: merge.bytes, created: kept?.created, parent: parent,
            links: try links(merge.references, parent: parent, of: operation.name, former),
            refers: merge.references.contains { $0.action != .none },
            shown: isShown ? nil : PlannedSave.Shown(sent.bytes, operation.parent), roles: roles)
        try addSharing(to: &save, operation, over: former, kept: kept)
        save.assets = try assets(of: save, sent, over: former)
        try charge(
            save.growth(over: kept, as: operation.name, in: zone.name) - heldAssetBytes(of: former))
        return save
    }

    /// What the batch saves under a name.
    func plannedSave(of key: RecordKey) -> PlannedSave? {
        guard case .saved? = states[key] else { return nil }
        for (step, operation) in zip(steps, operations) {
            if case .save(let save) = step, operation.recordName == key.name.text { return save }
        }
        return nil
    }

    func key(_ name: RecordName) -> RecordKey { RecordKey(zone: zone.number, name: name) }

    func former(_ key: RecordKey, withBody: Bool = false) throws -> FormerRecord {
        if let known = formers[key], !withBody || known.body != nil || !known.isAlive {
            return known
        }
        let read = try FormerRecord(key, withBody: withBody, in: transaction)
        bodyBytesRead += read.body?.count ?? 0
        guard bodyBytesRead <= database.limits.batchBytesMax else {
            throw Fault.limitExceeded(
                "the stored records that the operations change take over "
                    + "\(database.limits.batchBytesMax) bytes together; send fewer at once "
                    + "(limits.batchBytesMax)")
        }
        formers[key] = read
        return read
    }

    func kept(_ key: RecordKey) throws -> RecordBody.Kept {
        if let known = keptRecords[key] { return known }
        let body = try former(key, withBody: true).body ?? []
        let read = try body.withUnsafeBytes { try RecordBody.read($0) }
        keptRecords[key] = read
        return read
    }

    /// A fault that shows what is stored.
    func conflict(_ reason: String, _ key: RecordKey) throws -> Fault {
        var fault = Fault(.conflict, reason)
        guard try allows(.read, key) else { return fault }
        let former = try former(key, withBody: true)
        guard let head = former.head, let body = former.body else { return fault }
        let answered = try asAnswered(body, key, head.record, former.flags)
        fault.serverRecord =
            former.flags.contains(.hasAssets) ? try RenderedAsset.withoutLinks(answered) : answered
        return fault
    }

    /// Refuses a save or deletion that starts from another version; a share is never saved unseen.
    private func compareTag(_ operation: RecordOperation, _ former: FormerRecord) throws {
        let compares =
            operation.kind.comparesTag && operation.changeTag != nil
            || former.flags.contains(.share) && !operation.kind.deletes
        if compares, operation.changeTag != former.changeTag {
            throw try conflict("client oplock error updating record", key(operation.name))
        }
    }

    /// What the deletion of a living record does.
    private func deletion(_ key: RecordKey, _ former: FormerRecord) throws -> Step {
        if database.scope == .shared, former.flags.contains(.share) {
            return try leaving(former).map { .leave($0) } ?? .nothing
        }
        var others = try cascade(from: key)
        for share in try shares(endingWith: [key] + others) {
            let along = try cascade(from: share).filter { $0 != key && !others.contains($0) }
            others += [share] + along
        }
        return .delete(others)
    }

    // MARK: - What the caller cannot see

    /// Takes a record that the caller cannot see for one that is not there: whatever is wrong with the
    /// operation is told as if it were so.
    private func overlookUnseen(_ key: RecordKey, _ operation: RecordOperation) throws {
        guard access != nil, !unseen.contains(key),
            try isOutOfSight(former(key), operation)
        else { return }
        unseen.insert(key)
        formers[key] = .missing
    }

    /// The saves that nothing is wrong with but that they would write over what the caller cannot see.
    private func savesOfUnseen() -> [Int: Fault] {
        var found: [Int: Fault] = [:]
        for (index, step) in steps.enumerated() {
            guard case .save = step, case .operation(let operation) = operations[index],
                unseen.contains(key(operation.name))
            else { continue }
            found[index] = .recordNotFound
        }
        return found
    }

    // MARK: - Quota

    private func allowance() throws -> Int64 {
        let quota =
            database.scope == .public
            ? database.limits.publicQuotaBytes : database.limits.userQuotaBytes
        guard quota > 0 else { return .max }
        return quota - (try transaction.usedBytes(of: zone.owner))
    }

    private func charge(_ bytes: Int64) throws {
        guard bytesLeft != .max else { return }
        guard bytes <= 0 || bytes <= bytesLeft else {
            throw Fault(.quotaExceeded, "the quota of this database is used up")
        }
        bytesLeft -= bytes
    }
}

/// What is wrong with one record so that none of the batch is tried (rulings.md 13).
struct RefusedBatch: Error {
    let fault: Fault
}
