import CloudModel
import Storage

/// What decides a batch: the request, its caller, and the stored data.
///
/// Nothing of it changes meanwhile.
///
/// It keeps what it has read. So nothing is read twice, however often an operation is decided.
final class BatchContext {
    let database: Database
    let zone: StoredZone
    /// The owner of the zone, who may be another user than the caller.
    let owner: UserRecordName
    /// What the caller sees of another user's zone; nil in their own databases.
    let access: ZoneAccess?
    let operations: [DecodedOperation]
    let isAtomic: Bool
    private(set) var basis: DecisionBasis
    /// The stored schema.
    let schema: Schema
    /// What the schema's grants allow the caller.
    let rights: RecordAccess
    /// Whether one operation's outcome may matter to another operation; in most batches it cannot.
    let actsOnOthers: Bool
    /// The records of operations that a participant cannot see: to them, these records do not exist.
    var unseen: Set<RecordKey> = []
    /// For records of operations: why nobody can tell whether a participant sees them.
    var faultsOfSight: [RecordKey: Fault] = [:]
    var previousRecords: [RecordKey: CurrentRecord] = [:]
    private var time: DecisionTime?
    private var stepsLeft: Int
    var sourcesLeft: Int
    private var bodyBytesRead = 0
    private var previousBodies: [RecordKey: RecordBody.Previous] = [:]
    private var parents: [RecordNumber: RecordName?] = [:]
    private var links: [RecordNumber: Set<Link>] = [:]
    var creators: [RecordKey: String?] = [:]
    private var assetBytes: [RecordNumber: Int] = [:]
    private var storedReceipts: [[UInt8]: StoredReceipt?] = [:]
    /// The rights of users, as far as they were asked for.
    private(set) var accesses: [UserRecordName: RecordAccess] = [:]
    /// The owner's zones that references lead to, by name; nil for a zone that does not exist.
    private(set) var zonesByName: [ZoneName: ZoneNumber?] = [:]
    /// The receipts of assets that were sent.
    private(set) var receipts: Set<[UInt8]> = []
    /// The roles of users, as far as they were asked for and as the batch leaves them.
    var rolesOfUsers: [UserRecordName: Set<Int64>] = [:]
    var sourceRuns = SourceRuns()
    /// What was looked at of trees, besides.
    var lookedAtBelow = LookedAtBelow()
    private var hasReadTargets = false
    private var hasReadBodies = false
    private var parentsLookedAt = 0
    /// How many records are read with one that is asked for.
    private static let othersMax = 400
    var sharesRead = SharesRead()
    private(set) lazy var indexes: [RecordKey: Int] = Self.indexes(of: operations, key)

    init(
        _ operations: [DecodedOperation], in zone: StoredZone, owner: UserRecordName,
        access: ZoneAccess?, of database: Database, isAtomic: Bool, on basis: DecisionBasis
    ) throws {
        self.operations = operations
        self.zone = zone
        self.owner = owner
        self.access = access
        self.database = database
        self.isAtomic = isAtomic
        self.basis = basis
        self.time = basis.time
        self.schema = basis.schema
        self.rights = try RecordAccess(database, basis.stored)
        self.stepsLeft = database.limits.decisionStepsMax
        self.sourcesLeft = database.limits.sourcesReadMax
        self.actsOnOthers = operations.contains(where: Self.mayActOnOthers)
        try readPrevious()
        if access != nil { try overlookUnseen() }
    }

    var limits: ServiceLimits { database.limits }

    var stored: any StoreSnapshot { basis.stored }

    /// How many bytes the owner's records may take; 0 for any number.
    var quotaBytes: Int64 {
        database.scope == .public ? limits.publicQuotaBytes : limits.userQuotaBytes
    }

    /// Goes on in the writing transaction, in which nothing has changed that was read before.
    func goOn(on basis: DecisionBasis) {
        self.basis = basis
        rolesOfUsers = [:]
        time = nil
    }

    /// Whether an operation may delete other records with its own, or may need other records or be needed by
    /// them.
    private static func mayActOnOthers(_ decoded: DecodedOperation) -> Bool {
        guard case .operation(let operation) = decoded else { return false }
        if operation.kind.deletes || operation.kind.merges || operation.parent != .absent
            || operation.concernsShare
        {
            return true
        }
        return operation.fields.fields.contains { !$0.references.isEmpty }
    }

    func operation(_ index: Int) -> RecordOperation? {
        guard case .operation(let operation) = operations[index] else { return nil }
        return operation
    }

    func key(_ name: RecordName) -> RecordKey { RecordKey(zone: zone.number, name: name) }

    private static func indexes(
        of operations: [DecodedOperation], _ key: (RecordName) -> RecordKey
    ) -> [RecordKey: Int] {
        var indexes: [RecordKey: Int] = [:]
        for (index, operation) in operations.enumerated() {
            if let name = RecordName(operation.recordName) { indexes[key(name)] = index }
        }
        return indexes
    }

    // MARK: - What deciding costs

    /// Counts a step of deciding.
    ///
    /// A step is an operation that is decided or checked, a record on the way up a tree, or a reference that
    /// is looked at.
    ///
    /// - Throws: `RefusedBatch` when the batch has taken as many steps as it may.
    func takeStep() throws {
        if stepsLeft & 63 == 0 { try checkTime() }
        stepsLeft -= 1
        guard stepsLeft >= 0 else {
            throw RefusedBatch(
                fault: .limitExceeded(
                    "operations: it takes more than \(limits.decisionStepsMax) steps to find out "
                        + "what they do to each other; send fewer at once"))
        }
    }

    /// - Throws: `DecisionTakesLong` when the decision has taken as long as it may here; `WorkStopped` when
    ///   nobody waits for it any more.
    func checkTime() throws {
        try time?.check()
        try basis.stop?.check()
    }

    // MARK: - What is stored

    /// Reads at once what is stored under the names of all operations, and under those that they refer to.
    private func readPrevious() throws {
        previousRecords.reserveCapacity(operations.count)
        guard operations.count > 1 else { return }
        var keepsBody: [Bool] = []
        keepsBody.reserveCapacity(operations.count)
        for case .operation(let operation) in operations {
            keepsBody.append(!operation.kind.deletes)
        }
        // What a participant refers to is looked for where it is first asked for: they may not see it.
        let names = Self.names(of: operations, in: zone.name, withTargets: access == nil)
        hasReadTargets = access == nil
        keepsBody += repeatElement(false, count: names.count - keepsBody.count)
        var isThere = [Bool](repeating: false, count: names.count)
        // If the caller may not see a record, no more of it is read than they may know.
        let mayReadBodies = access == nil && !rights.holdsBack
        var isOverLimit = false
        var damaged: [RecordName] = []
        try stored.current(of: names, in: zone.number, inOrder: false) { index, version in
            isThere[index] = true
            if version.isDamaged { damaged.append(names[index]) }
            let size = version.flags.contains(.tombstone) ? 0 : version.body.count
            let wantsBody = size > 0 && keepsBody[index]
            if wantsBody, bodyBytesRead + size > limits.batchBytesMax { isOverLimit = true }
            let readsBodies = mayReadBodies && !isOverLimit
            if wantsBody, readsBodies { bodyBytesRead += size }
            previousRecords[key(names[index])] = CurrentRecord(
                version, withBody: wantsBody && readsBodies)
            return true
        }
        for (index, name) in names.enumerated() where !isThere[index] {
            previousRecords[key(name)] = .missing
        }
        try markShares(amongDamaged: damaged, in: zone.number)
        if isOverLimit { forgetBodies() }
    }

    /// The names of operations, and then those of the zone that they refer to as parents and by references that act.
    static func names(
        of operations: [DecodedOperation], in zone: ZoneName, withTargets: Bool
    ) -> [RecordName] {
        var names: [RecordName] = []
        names.reserveCapacity(operations.count)
        for case .operation(let operation) in operations { names.append(operation.name) }
        guard withTargets, operations.contains(where: mayActOnOthers) else { return names }
        var seen = Set(names)
        let most = 2 * operations.count
        func add(_ name: RecordName) {
            if names.count < most, seen.insert(name).inserted { names.append(name) }
        }
        for case .operation(let operation) in operations where !operation.kind.deletes {
            if case .set(let parent) = operation.parent { add(parent) }
            for field in operation.fields.fields {
                for reference in field.references
                where reference.action != .none && reference.zone?.name ?? zone == zone {
                    add(reference.name)
                }
            }
        }
        return names
    }

    /// The order of operations says which of them are within the limit of bytes, not the order of storage.
    private func forgetBodies() {
        for key in previousRecords.keys { previousRecords[key]?.body = nil }
        bodyBytesRead = 0
    }

    /// What is stored under a name before the batch.
    ///
    /// - Throws: `Fault` BAD_REQUEST when the bodies that the batch reads take too many bytes.
    func previous(_ key: RecordKey, withBody: Bool = false) throws -> CurrentRecord {
        if let known = previousRecords[key],
            !withBody || known.body != nil || !known.isAlive || known.isDamaged
        {
            return known
        }
        try readOthers(with: key)
        if !withBody, let known = previousRecords[key] { return known }
        let read = try CurrentRecord(key, withBody: withBody, in: stored)
        bodyBytesRead += read.body?.count ?? 0
        guard bodyBytesRead <= limits.batchBytesMax else {
            throw Fault.limitExceeded(
                "the stored records that the operations change take over "
                    + "\(limits.batchBytesMax) bytes together; send fewer at once")
        }
        previousRecords[key] = read
        if read.isDamaged { try markShares(amongDamaged: [key.name], in: key.zone) }
        return previousRecords[key] ?? read
    }

    /// Reads at once, with a record that is not known yet, those of which the same will be asked: what a participant
    /// refers to, what refers to others, and the parents of records.
    private func readOthers(with key: RecordKey) throws {
        guard previousRecords[key] == nil, operations.count > 1, key.zone == zone.number else {
            return
        }
        var names: Set<RecordName> = [key.name]
        func add(_ name: RecordName) {
            guard names.count < Self.othersMax, previousRecords[self.key(name)] == nil else {
                return
            }
            names.insert(name)
        }
        if !hasReadTargets {
            hasReadTargets = true
            Self.names(of: operations, in: zone.name, withTargets: true).forEach(add)
        }
        if parents.count != parentsLookedAt {
            parentsLookedAt = parents.count
            for case let parent? in parents.values { add(parent) }
        }
        for source in sourceRuns.takeNewSources() where source.zone == zone.number {
            add(source.name)
        }
        guard names.count > 1 else { return }
        let asked = Array(names)
        for name in asked { previousRecords[self.key(name)] = .missing }
        var damaged: [RecordName] = []
        try stored.current(of: asked, in: zone.number, inOrder: false) { index, version in
            previousRecords[self.key(asked[index])] = CurrentRecord(version, withBody: false)
            if version.isDamaged { damaged.append(asked[index]) }
            return true
        }
        try markShares(amongDamaged: damaged, in: zone.number)
    }

    /// Reads at once the bodies of records that saves change, where the caller may not change all records.
    ///
    /// Of a record that they may not change, no more is read than they may know.
    private func readBodies() throws {
        guard !hasReadBodies else { return }
        hasReadBodies = true
        var names: [RecordName] = []
        var bytes = 0
        for case .operation(let operation) in operations where !operation.kind.deletes {
            let key = key(operation.name)
            guard let known = previousRecords[key], known.isAlive, !known.isDamaged,
                known.body == nil, let record = known.head?.record, faultsOfSight[key] == nil,
                try access.map({ try $0.permission(on: record) == .readWrite }) ?? true,
                try RightRule(self).allows(.write, key)
            else { continue }
            names.append(operation.name)
            bytes += known.bodyBytes
        }
        // Else their order says which of them are within the limit.
        guard names.count > 1, bodyBytesRead + bytes <= limits.batchBytesMax else { return }
        bodyBytesRead += bytes
        try stored.current(of: names, in: zone.number, inOrder: false) { index, version in
            previousRecords[key(names[index])] = CurrentRecord(version, withBody: true)
            return true
        }
    }

    /// What a save keeps of a living record.
    ///
    /// - Throws: `Fault` INTERNAL_ERROR for a record that is not what was written.
    func previousBody(_ key: RecordKey) throws -> RecordBody.Previous {
        if let known = previousBodies[key] { return known }
        if access != nil || rights.holdsBack { try readBodies() }
        let previous = try previous(key, withBody: true)
        guard !previous.isDamaged else { throw Fault.recordUnreadable }
        let read = RecordBody.Previous(try StoredBody(previous.body ?? [], fields: previous.fields))
        previousBodies[key] = read
        return read
    }

    /// Whether a stored record has this link.
    func hasLink(_ link: Link, from record: RecordNumber) throws -> Bool {
        if let known = links[record] { return known.contains(link) }
        let records = together(with: record, isFirst: links.isEmpty) {
            $0.flags.contains(.hasLinks)
        }
        for (record, found) in zip(records, try stored.links(of: records, kinds: LinkKind.all)) {
            links[record] = Set(found)
        }
        return links[record]?.contains(link) ?? false
    }

    /// How many bytes the files of a stored record take.
    func assetBytes(of record: RecordNumber) throws -> Int {
        if let known = assetBytes[record] { return known }
        let records = together(with: record, isFirst: assetBytes.isEmpty) {
            $0.flags.contains(.hasAssets)
        }
        for (record, bytes) in zip(records, try stored.assetBytes(of: records)) {
            assetBytes[record] = bytes
        }
        return assetBytes[record] ?? 0
    }

    /// A record, and at first with it the stored records of operations of which the same will be asked.
    func together(
        with record: RecordNumber, isFirst: Bool, _ isAsked: (CurrentRecord) -> Bool
    ) -> [RecordNumber] {
        var found: Set<RecordNumber> = [record]
        guard isFirst else { return Array(found) }
        for case .operation(let operation) in operations {
            guard let previous = previousRecords[key(operation.name)], let head = previous.head,
                isAsked(previous)
            else { continue }
            found.insert(head.record)
        }
        return Array(found)
    }

    /// The parent that a stored record gives.
    func parent(of record: RecordNumber) throws -> RecordName? {
        if let known = parents[record] { return known }
        // The checks ask this of every record that gets a parent: so of all of them at once.
        // On the way up a tree, it is asked of ancestors: of all that are known.
        var asked = parents.isEmpty ? recordsGivenParents : knownRecords { parents[$0] == nil }
        asked.insert(record)
        let records = Array(asked)
        for (record, parent) in zip(records, try stored.parents(of: records)) {
            parents[record] = .some(parent)
        }
        return parents[record] ?? nil
    }

    /// The records that are known by now, of which something else is not.
    func knownRecords(where isWanted: (RecordNumber) -> Bool) -> Set<RecordNumber> {
        Set(previousRecords.values.lazy.compactMap { $0.head?.record }.filter(isWanted))
    }

    /// The stored records of operations that name a parent.
    private var recordsGivenParents: Set<RecordNumber> {
        var found: Set<RecordNumber> = []
        for case .operation(let operation) in operations {
            guard case .set = operation.parent,
                let head = previousRecords[key(operation.name)]?.head
            else {
                continue
            }
            found.insert(head.record)
        }
        return found
    }

    /// A zone of the same owner.
    func zone(named name: ZoneName) throws -> ZoneNumber? {
        if let known = zonesByName[name] { return known }
        // The first time, all zones that references name are asked for.
        var names: Set<ZoneName> = [name]
        if zonesByName.isEmpty {
            for case .operation(let operation) in operations {
                for field in operation.fields.fields {
                    names.formUnion(field.references.lazy.compactMap { $0.zone?.name })
                }
            }
        }
        let asked = Array(names)
        let read = try stored.zones(asked.map { .name($0, of: zone.owner) })
        for (name, zone) in zip(asked, read) { zonesByName[name] = .some(zone?.number) }
        return zonesByName[name] ?? nil
    }

    func receipt(_ id: [UInt8]) throws -> StoredReceipt? {
        receipts.insert(id)
        if let known = storedReceipts[id] { return known }
        var asked: Set<[UInt8]> = [id]
        if storedReceipts.isEmpty {
            // Each asset that was sent is asked for: so all of them at once.
            for case .operation(let operation) in operations {
                for field in operation.fields.fields {
                    asked.formUnion(field.assets.compactMap { $0.receipt?.id })
                }
            }
        }
        let ids = Array(asked)
        for (id, receipt) in zip(ids, try stored.assetReceipts(ids)) {
            storedReceipts[id] = .some(receipt)
        }
        return storedReceipts[id] ?? nil
    }

    /// What any user may do with public records.
    func access(of user: UserRecordName) throws -> RecordAccess {
        if let known = accesses[user] { return known }
        // Whose records were looked at are mostly asked for, too.
        let makers = creators.values.compactMap { $0.flatMap { UserRecordName($0) } }
        let users = Set(makers).union([user]).subtracting(accesses.keys)
        try accesses.merge(RecordAccess.all(of: users, stored)) { known, _ in known }
        return try accesses[user] ?? RecordAccess(of: user, stored)
    }
}

extension RecordOperation {
    /// Whether the operation says itself that it is on a share.
    var concernsShare: Bool { type == .share || share != nil }
}
