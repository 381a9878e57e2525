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
    private(set) var unseen: Set<RecordKey> = []
    /// For records of operations: why nobody can tell whether a participant sees them.
    private var faultsOfSight: [RecordKey: Fault] = [:]
    private(set) var previousRecords: [RecordKey: CurrentRecord] = [:]
    private var time: DecisionTime?
    private var stepsLeft: Int
    private var sourcesLeft: Int
    private var bodyBytesRead = 0
    private var previousBodies: [RecordKey: RecordBody.Previous] = [:]
    private var parents: [RecordNumber: RecordName?] = [:]
    private var links: [RecordNumber: Set<Link>] = [:]
    private var creators: [RecordKey: String?] = [:]
    /// The rights of users, as far as they were asked for.
    private(set) var accesses: [UserRecordName: RecordAccess] = [:]
    /// The owner's zones that references lead to, by name; nil for a zone that does not exist.
    private(set) var zonesByName: [ZoneName: ZoneNumber?] = [:]
    /// The receipts of assets that were sent.
    private(set) var receipts: Set<[UInt8]> = []
    private var knownShares: [StoredShare]?
    private var zonesWithShares: [ZoneNumber: Bool] = [:]
    private var sourceRuns: [SourceRun.Key: SourceRun] = [:]
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
        try readFormers()
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
    private func readFormers() throws {
        previousRecords.reserveCapacity(operations.count)
        guard operations.count > 1 else { return }
        var keepsBody: [Bool] = []
        keepsBody.reserveCapacity(operations.count)
        for case .operation(let operation) in operations {
            keepsBody.append(!operation.kind.deletes)
        }
        // What a participant refers to is looked for where it is asked for: they may not see it.
        let names = Self.names(of: operations, in: zone.name, withTargets: access == nil)
        keepsBody += repeatElement(false, count: names.count - keepsBody.count)
        var isThere = [Bool](repeating: false, count: names.count)
        // If the caller may not see a record, no more of it is read than they may know.
        let mayReadBodies = access == nil && !rights.holdsBack
        var isOverLimit = false
        try stored.current(of: names, in: zone.number, inOrder: false) { index, version in
            isThere[index] = true
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
        let read = try CurrentRecord(key, withBody: withBody, in: stored)
        bodyBytesRead += read.body?.count ?? 0
        guard bodyBytesRead <= limits.batchBytesMax else {
            throw Fault.limitExceeded(
                "the stored records that the operations change take over "
                    + "\(limits.batchBytesMax) bytes together; send fewer at once")
        }
        previousRecords[key] = read
        return read
    }

    /// What a save keeps of a living record.
    ///
    /// - Throws: `Fault` INTERNAL_ERROR for a record that is not what was written.
    func previousBody(_ key: RecordKey) throws -> RecordBody.Previous {
        if let known = previousBodies[key] { return known }
        let previous = try previous(key, withBody: true)
        guard !previous.isDamaged else { throw Fault.recordUnreadable }
        let read = RecordBody.Previous(try StoredBody(previous.body ?? [], fields: previous.fields))
        previousBodies[key] = read
        return read
    }

    /// Whether a stored record has this link.
    func hasLink(_ link: Link, from record: RecordNumber) throws -> Bool {
        if let known = links[record] { return known.contains(link) }
        let found = Set(try stored.links(of: record))
        links[record] = found
        return found.contains(link)
    }

    /// The parent that a stored record gives.
    func parent(of record: RecordNumber) throws -> RecordName? {
        if let known = parents[record] { return known }
        // The checks ask this of every record that gets a parent: so of all of them at once.
        var asked = parents.isEmpty ? recordsGivenParents : []
        asked.insert(record)
        let records = Array(asked)
        for (record, parent) in zip(records, try stored.parents(of: records)) {
            parents[record] = .some(parent)
        }
        return parents[record] ?? nil
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

    /// Who made a stored record; nil when nobody is named.
    func creator(of key: RecordKey) throws -> String? {
        if let known = creators[key] { return known }
        let previous = try previous(key)
        let read =
            try previous.isDamaged
            ? nil
            : previous.head.flatMap { head in
                try stored.version(at: head.position, in: key.zone) {
                    try RecordBody.creator(of: $0)
                } ?? nil
            }
        creators[key] = .some(read)
        return read
    }

    /// A zone of the same owner.
    func zone(named name: ZoneName) throws -> ZoneNumber? {
        if let known = zonesByName[name] { return known }
        let read = try stored.zone(named: name, of: zone.owner)?.number
        zonesByName[name] = .some(read)
        return read
    }

    func receipt(_ id: [UInt8]) throws -> StoredReceipt? {
        receipts.insert(id)
        return try stored.assetReceipt(id)
    }

    /// What any user may do with public records.
    func access(of user: UserRecordName) throws -> RecordAccess {
        if let known = accesses[user] { return known }
        let access = try RecordAccess(of: user, stored)
        accesses[user] = access
        return access
    }

    /// The standing shares of the zone.
    var shares: [StoredShare] {
        get throws {
            if let knownShares { return knownShares }
            let read = try stored.shares(in: zone.number, limit: .max)
            knownShares = read
            return read
        }
    }

    /// Whether anything in a zone is shared.
    func hasShares(_ zone: ZoneNumber) throws -> Bool {
        if let known = zonesWithShares[zone] { return known }
        let read = try !stored.shares(in: zone, limit: 1).isEmpty
        zonesWithShares[zone] = read
        return read
    }

    /// Visits the stored records that refer to a target, until the closure returns false.
    func visitSources(
        of target: RecordKey, kinds: ClosedRange<LinkKind>,
        _ visit: (RecordKey, LinkKind) throws -> Bool
    ) throws {
        let runKey = SourceRun.Key(target: target, kinds: kinds)
        var run = sourceRuns[runKey] ?? SourceRun()
        defer { sourceRuns[runKey] = run }
        var next = 0
        while true {
            while next < run.sources.count {
                try takeStep()
                let (source, kind) = run.sources[next]
                guard try visit(source, kind) else { return }
                next += 1
            }
            let known = run.sources.count
            guard try run.grow(runKey, stored, upTo: sourcesLeft) else { return }
            sourcesLeft -= run.sources.count - known
            guard sourcesLeft >= 0 else { throw tooManySources }
        }
    }

    /// The targets whose sources were looked at.
    var targets: Set<RecordKey> { Set(sourceRuns.keys.map(\.target)) }

    /// The sources that were looked at.
    var sources: Set<RecordKey> {
        Set(sourceRuns.values.lazy.flatMap { $0.sources.lazy.map(\.0) })
    }

    private var tooManySources: RefusedBatch {
        RefusedBatch(
            fault: .limitExceeded(
                "operations: more than \(limits.sourcesReadMax) references lead to the records that "
                    + "they concern; send fewer at once"))
    }

    /// How many stored records refer to a target, counted up to a limit.
    func countSources(
        of target: RecordKey, kinds: ClosedRange<LinkKind>, upTo limit: Int
    ) throws -> Int {
        var count = 0
        try visitSources(of: target, kinds: kinds) { _, _ in
            count += 1
            return count < limit
        }
        return count
    }

    // MARK: - What the caller cannot see

    /// Notes the records of operations that the caller cannot see.
    ///
    /// The batch treats them as if they did not exist, also in the faults that it reports.
    private func overlookUnseen() throws {
        try access?.prepare(previousRecords.values.compactMap { $0.head?.record })
        for case .operation(let operation) in operations {
            try checkTime()
            let key = key(operation.name)
            do {
                if operation.kind == .create || operation.kind.deletes {
                    try RightRule(self).check(toMakeOrDelete: operation)
                }
                guard try ParticipantRule(self).isOutOfSight(previous(key), operation) else {
                    continue
                }
                unseen.insert(key)
            } catch let fault as Fault {
                faultsOfSight[key] = fault
            }
        }
        for key in unseen { previousRecords[key] = .missing }
    }

    /// - Throws: `Fault` when nobody can tell whether the caller sees the operation's record.
    func checkSight(of key: RecordKey) throws {
        if let fault = faultsOfSight[key] { throw fault }
    }
}

/// The stored records that refer to a name, as far as they were read.
private struct SourceRun {
    struct Key: Hashable {
        let target: RecordKey
        let kinds: ClosedRange<LinkKind>
    }

    private(set) var sources: [(RecordKey, LinkKind)] = []
    private var isWhole = false
    private var limit = 8

    /// Reads more of them.
    ///
    /// - Parameter most: reads at most this many, and one more to tell whether there are more.
    /// - Returns: whether there were more.
    mutating func grow(
        _ key: Key, _ stored: any StoreSnapshot, upTo most: Int
    ) throws -> Bool {
        guard !isWhole else { return false }
        limit = min(limit * 4, sources.count + most + 1)
        let read = try stored.sources(
            of: key.target.name, in: key.target.zone, kinds: key.kinds, limit: limit)
        isWhole = read.count < limit
        let known = sources.count
        sources += read.dropFirst(known).map {
            (RecordKey(zone: $0.zone, name: $0.name), $0.kind)
        }
        return sources.count > known
    }
}

extension RecordOperation {
    /// Whether the operation says itself that it is on a share.
    var concernsShare: Bool { type == .share || share != nil }
}
