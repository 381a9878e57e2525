import CloudModel
import IndexedQueries
import SQLite
import Storage
import StoredRows

/// The writing half of the contract: the jobs of groups, one after the other.
///
/// It reads as any snapshot does, on the connection on which it writes: what it has itself written is there.
final class SQLiteTransaction: SQLiteSnapshot, StoreTransaction {
    private(set) var now: Milliseconds = 0
    private var jobSchema: Schema
    /// What the transaction has made of the schema; nil for nothing.
    private(set) var newSchema: TransactionSchema?
    var indexes: IndexCatalog
    /// What has moved beside the zones and owners of `sums`.
    var moved: Set<StorePart> = []
    private(set) var following: Following
    /// Who makes what is noted for followers.
    private(set) var author: ChangeAuthor?
    /// Whether `following` is another than the group's.
    private(set) var isFollowingNew = false
    /// What the entries weigh that it has brought up to date in indexes.
    var indexedWeight = 0
    /// How many changes it has noted for followers.
    var notedChanges = 0
    private(set) var sums = GroupState.Sums()
    unowned let group: GroupState
    private let writes: WriteStatements
    /// The first position that it has taken; nil for none.
    private var firstTaken: Position?
    /// Of the last change that it has written.
    private var lastWritten: Position = 0
    /// Names that it has found to lead nowhere, by their hashes, so that a save need not look again.
    var freeNames: [Int64: FreeName] = [:]

    init(_ connection: Connection, _ shared: SharedFacts, group: GroupState) throws {
        self.group = group
        writes = try connection.prepared()
        jobSchema = group.schema.schema
        indexes = group.indexes
        following = group.following
        try super.init(connection, shared)
    }

    /// Begins a job; of the one before it nothing is left.
    ///
    /// - Parameter author: who makes its changes; nil for the server itself.
    func begin(at now: Milliseconds, by author: ChangeAuthor? = nil) {
        self.now = now
        jobSchema = group.schema.at(now)
        newSchema = nil
        indexes = group.indexes
        moved = []
        following = group.following
        self.author = author
        isFollowingNew = false
        indexedWeight = 0
        notedChanges = 0
        sums = GroupState.Sums()
        firstTaken = nil
        lastWritten = 0
        freeNames = [:]
    }

    /// The reading half, as it is.
    var snapshot: SQLiteSnapshot { self }

    override var schema: Schema { jobSchema }

    override var identity: StoreIdentity {
        get throws { group.positions.identity(following: try super.identity) }
    }

    /// A write goes on behind the page, however long that took.
    override func page(
        of query: StoreQuery, _ visit: (StoredVersion) throws -> Void
    ) throws -> QueryCursor? { try find(query, visit) }

    override func owner(_ key: OwnerKey) throws -> StoredOwner? {
        guard let owner = try storedOwner(key) else { return nil }
        let unwritten = (group.sums.owners[owner.number] ?? 0) + (sums.owners[owner.number] ?? 0)
        return unwritten == 0 ? owner : owner.using(unwritten)
    }

    /// An owner as their row is, to which the group adds what it has written at its end.
    private func storedOwner(_ key: OwnerKey) throws -> StoredOwner? {
        guard case .name(let name) = key else { return try super.owner(key) }
        if let known = group.cache.owners[name] { return known }
        let found = try super.owner(key)
        group.cache.owners[name] = found
        return found
    }

    override func zone(_ key: ZoneKey) throws -> StoredZone? {
        switch key {
        case .number: return try super.zone(key)
        case .name(let name, let owner):
            let known = GroupState.Cache.ZoneKey(owner: owner, name: name)
            if let zone = group.cache.zones[known] { return zone }
            let found = try super.zone(key)
            group.cache.zones[known] = found
            return found
        case .nameOfOwner(let name, let owner):
            guard let owner = try self.owner(named: owner) else { return nil }
            return try zone(.name(name, of: owner.number))
        }
    }

    override func heads(of names: [RecordName], in zone: ZoneNumber) throws -> [StoredHead?] {
        let found = try super.heads(of: names, in: zone)
        noteFree(zip(names, found).lazy.filter { $0.1 == nil }.map(\.0), in: zone)
        return found
    }

    override func current(
        of names: [RecordName], in zone: ZoneNumber, inOrder: Bool,
        _ visit: (_ index: Int, StoredVersion) throws -> Bool
    ) throws {
        var isFree = [Bool](repeating: true, count: names.count)
        var isWhole = true
        try super.current(of: names, in: zone, inOrder: inOrder) {
            isFree[$0] = false
            isWhole = try visit($0, $1)
            return isWhole
        }
        // Where the visits were ended, nobody knows of the rest.
        guard isWhole || names.count == 1 else { return }
        noteFree(names.indices.lazy.filter { isFree[$0] }.map { names[$0] }, in: zone)
    }

    func nameWriter() throws -> NameWriter { try group.names(connection) }

    func shareWrites() throws -> ShareWriteStatements { try connection.prepared() }

    func coverageStatements() throws -> CoverageStatements { try connection.prepared() }

    func coverageInvariants() throws -> CoverageInvariants { try connection.prepared() }

    /// The zone of a share that stands.
    ///
    /// - Throws: `BrokenInvariant` for one that does not.
    func zone(ofActive share: ShareNumber) throws -> ZoneNumber {
        if let known = group.cache.activeShares[share] { return known }
        let zone = try coverageInvariants().zone(of: share)
        group.cache.activeShares[share] = zone
        return zone
    }

    /// Notes that shares have ended.
    func noteEnd(of share: ShareNumber?) {
        if let share {
            group.cache.activeShares[share] = nil
        } else {
            group.cache.activeShares = [:]
        }
    }

    private func versionWriter() throws -> VersionWriter {
        try group.preparedVersionWriter(connection)
    }

    func assetWrites() throws -> AssetWriteStatements { try connection.prepared() }

    func workStatements() throws -> WorkStatements { try connection.prepared() }

    /// Notes what a record's assets add to its zone and its owner.
    func noteAssets(_ bytes: Int64, in zone: StoredZone) {
        guard bytes != 0 else { return }
        sums.zones[zone.number, default: ZoneSum()].assetBytes += bytes
        sums.owners[zone.owner, default: 0] += bytes
    }

    func keepsTrees(_ zone: ZoneNumber) throws -> Bool {
        if group.treeless.contains(zone) { return false }
        let keeps =
            try shares(in: zone, limit: 1).contains { $0.root != nil } || !isWhole(zone)
        if !keeps { group.noteNoTrees(in: zone) }
        return keeps
    }

    /// Notes that a zone gets trees to keep.
    func noteTrees(in zone: ZoneNumber) { group.noteTrees(in: zone) }

    /// Notes a change of a share, for those who have it to be told at the group's end.
    func touch(_ share: ShareNumber, _ position: Position) {
        sums.shares[share] = max(sums.shares[share] ?? 0, position)
    }

    func takePositions(_ count: Int) throws -> Position {
        let first = try group.positions.take(count)
        firstTaken = firstTaken ?? first
        return first
    }

    /// Positions only grow: a change is written at one that this transaction has taken, after the one before.
    private func requireTaken(_ position: Position) throws {
        guard let firstTaken, position >= firstTaken, position > lastWritten,
            position <= group.positions.last
        else {
            throw BrokenInvariant(
                "positions only grow: a change at \(position) after one at \(lastWritten)")
        }
        lastWritten = position
    }

    /// The last position that this write or one before it has taken.
    var reachedPosition: Position { group.positions.reached }

    func followingStatements() throws -> FollowingStatements { try connection.prepared() }

    /// Takes over who follows, as this write has changed it.
    func renewFollowing() throws {
        following = try Following(connection)
        isFollowingNew = true
        moved.insert(.followers)
    }

    /// The owner of that name, who is made where there is none yet.
    func madeOwner(_ name: UserRecordName) throws -> StoredOwner {
        if let owner = try owner(named: name) { return owner }
        group.cache = GroupState.Cache()
        writes.insertOwner.bind(name.text, at: 1)
        try writes.insertOwner.run()
        moved.insert(.person(name))
        return StoredOwner(
            number: OwnerNumber(connection.lastInsertedRowID), recordName: name.text,
            usedBytes: 0, oldestValidPosition: 0)
    }

    func makeZones(
        named names: [ZoneName], ofOwnerNamed ownerName: UserRecordName
    ) throws -> [StoredZone] {
        let owner = try madeOwner(ownerName).number
        return try names.map { try makeZone(named: $0, of: owner) }
    }

    private func makeZone(named name: ZoneName, of owner: OwnerNumber) throws -> StoredZone {
        group.cache = GroupState.Cache()
        let position = try takePosition()
        let changed = name.isDefault ? nil : position
        writes.dropZoneFromFeed.bind(owner.value, at: 1)
        writes.dropZoneFromFeed.bind(name.text, at: 2)
        try writes.dropZoneFromFeed.run()
        writes.insertZone.bind(owner.value, at: 1)
        writes.insertZone.bind(name.text, at: 2)
        writes.insertZone.bind(position, at: 3)
        writes.insertZone.bind(changed ?? .unset, at: 4)
        try writes.insertZone.run()
        let number = ZoneNumber(connection.lastInsertedRowID)
        // Beyond it the keys of its records would be those of another zone.
        guard number.value <= SQLiteSnapshot.zoneNumberMax else { throw StorageFailure.full }
        moved.insert(.owner(owner))
        try note(.zoneMade, of: number, at: position)
        return StoredZone(
            number: number, owner: owner, name: name,
            created: position, changed: changed, oldestValidPosition: position, isDeleted: false)
    }

    func deleteZones(_ zones: [StoredZone]) throws {
        for zone in zones { try deleteZone(zone) }
    }

    private func deleteZone(_ zone: StoredZone) throws {
        group.cache = GroupState.Cache()
        let position = try takePosition()
        writes.zoneBytes.bind(zone.number.value, at: 1)
        guard try writes.zoneBytes.step() else { throw InvalidRow(table: "zones") }
        let stored = writes.zoneBytes.int64(0)
        writes.zoneBytes.reset()
        let pending = [group.sums.zones[zone.number], sums.zones[zone.number]].reduce(0) {
            $0 + ($1.map { $0.bytes + $0.assetBytes } ?? 0)
        }
        sums.owners[zone.owner, default: 0] -= stored + pending
        writes.markZoneDeleted.bind(zone.number.value, at: 1)
        writes.markZoneDeleted.bind(now, at: 2)
        writes.markZoneDeleted.bind(position, at: 3)
        try writes.markZoneDeleted.run()
        try endShares(of: zone.number, at: position)
        moved.formUnion([.zone(zone.number), .owner(zone.owner)])
        try note(.zoneDeleted, of: zone.number, at: position)
    }

    func save(_ versions: [NewVersion]) throws -> [RecordNumber] {
        let records = Result { try write(versions) }
        // Also those of the versions that were written before one failed.
        try group.indexWriter?.values.finish()
        return try records.get()
    }

    private func write(_ versions: [NewVersion]) throws -> [RecordNumber] {
        var records: [RecordNumber] = []
        records.reserveCapacity(versions.count)
        var first = versions.startIndex
        while first < versions.endIndex {
            let zone = versions[first].zone
            var sum = ZoneSum()
            while first < versions.endIndex, versions[first].zone.number == zone.number {
                records.append(try write(versions[first], &sum))
                first += 1
            }
            sums.zones[zone.number, default: ZoneSum()].add(sum)
            sums.owners[zone.owner, default: 0] += sum.bytes
        }
        return records
    }

    /// Writes one version.
    ///
    /// - Parameter sum: gets what it adds to its zone.
    private func write(
        _ version: NewVersion, _ sum: inout ZoneSum
    ) throws -> RecordNumber {
        let zone = version.zone.number
        try requireTaken(version.position)
        let concerned = indexes.ofType(version.type)
        let change = concerned.isEmpty ? nil : try indexChange(version, concerned)
        let kept = following.isOn ? try wantedPrevious(of: version) : nil
        let record = try place(version)
        if following.isOn { try note(version, of: record, previous: kept) }
        let key = SQLiteSnapshot.key(zone, version.position)
        let isTombstone = version.flags.contains(.tombstone)
        let head = VersionRow.Head(
            key: key, record: record, type: version.type, flags: version.flags)
        try version.body.withUnsafeBytes {
            try versionWriter().insert(head, $0, fieldsEnd: version.fieldsEnd)
        }
        if version.previousIsDamaged { try forgetInIndexes(record, in: zone) }
        if let change { try keepUp(concerned, change, version, record) }
        if let links = version.links {
            try replaceLinks(of: record, with: links, isNew: version.previous == nil)
        }
        if let files = version.files {
            try replaceAssets(of: record, in: version.zone, with: files)
        }
        if let shortGUID = version.shortGUID { try keep(shortGUID: shortGUID, of: record) }
        if isTombstone {
            writes.insertTombstone.bind(now, at: 1)
            writes.insertTombstone.bind(key, at: 2)
            try writes.insertTombstone.run()
        }
        sum.changed = max(sum.changed, version.position)
        sum.bytes += Int64((isTombstone ? 0 : version.body.count) - version.previousBytes)
        sum.records += (isTombstone ? 0 : 1) - (version.previousIsAlive ? 1 : 0)
        return record
    }

    /// Points the head at the new version and removes the previous one.
    private func place(_ version: NewVersion) throws -> RecordNumber {
        let zone = version.zone.number
        let hash = names.hash(version.name, in: zone)
        positionCache.note(hash, at: version.position)
        if let previous = version.previous {
            let key = SQLiteSnapshot.key(zone, previous.position)
            let isRemoved =
                try version.previousIsDamaged
                ? versionWriter().remove(at: key) : versionWriter().remove(previous.record, at: key)
            try require(isRemoved, previous, zone)
            writes.moveHead.bind(previous.record.value, at: 1)
            writes.moveHead.bind(version.position, at: 2)
            writes.moveHead.bind(previous.position, at: 3)
            try writes.moveHead.run()
            try require(connection.changeCount == 1, previous, zone)
            return previous.record
        }
        let names = try nameWriter()
        try requireFree(version.name, hash, zone)
        let insert = writes.insertHead
        var name = version.name.text
        try name.withUTF8 { bytes in
            insert.bind(zone.value, at: 1)
            insert.bindBorrowed(text: UnsafeRawBufferPointer(bytes), at: 2)
            insert.bind(version.position, at: 3)
            try insert.run()
        }
        let made = RecordNumber(connection.lastInsertedRowID)
        let (record, isDue) = try names.place(hash, made)
        if isDue { try enqueue(.maintenance(.names)) }
        return record
    }

    /// A head leads to its version: so both were there, once.
    private func require(_ holds: Bool, _ head: StoredHead, _ zone: ZoneNumber) throws {
        guard holds else {
            throw BrokenInvariant(
                "a head leads to its version: record \(head.record.value) in zone \(zone.value) "
                    + "at \(head.position)")
        }
    }

    private func replaceLinks(
        of source: RecordNumber, with links: [Link], isNew: Bool
    ) throws {
        if !isNew {
            writes.deleteLinks.bind(source.value, at: 1)
            try writes.deleteLinks.run()
        }
        for link in links {
            writes.insertLink.bind(link.targetZone.value, at: 1)
            writes.insertLink.bind(link.target.text, at: 2)
            writes.insertLink.bind(link.kind.rawValue, at: 3)
            writes.insertLink.bind(source.value, at: 4)
            try writes.insertLink.run()
        }
    }

    func replaceSchema(by wanted: Schema, who: String, difference: [String]) throws {
        let stored = newSchema ?? group.schema
        if wanted.leaving != stored.schema.leaving {
            try HeldParts(connection).replace(by: wanted.leaving, until: stored.heldUntil)
        }
        var writing = SchemaWriter(connection)
        let made = try writing.replace(
            schema, by: wanted, at: now, who: who, difference: difference)
        try keep(TransactionSchema(schema: made, heldUntil: stored.heldUntil))
        for (type, fields) in writing.lostIndexes {
            try dropIndexes(ofType: type, fields: fields)
        }
    }

    func hold(_ parts: Schema.Parts, until moment: Milliseconds) throws {
        try HeldParts(connection).replace(by: parts, until: moment)
        var made = schema
        made.leaving = parts
        try keep(TransactionSchema(schema: made, heldUntil: moment))
    }

    private func keep(_ made: TransactionSchema) throws {
        newSchema = made
        jobSchema = made.at(now)
        try writes.moveSchema.run()
    }

    func assign(_ roles: Set<Int64>, to user: UserRecordName) throws {
        try connection.prepare("DELETE FROM assigned_roles WHERE user_record_name = ?1")
            .run(user.text)
        let insert = try connection.prepare(
            "INSERT INTO assigned_roles (user_record_name, role) VALUES (?1, ?2)")
        for role in roles.sorted() { try insert.run(user.text, role) }
    }

    func collect(_ garbage: Garbage, limit: Int) throws -> Bool {
        defer { group.cache = GroupState.Cache() }
        switch garbage {
        case .old(let moment): return try collectOld(moment, rowsMax: limit)
        case .zones(let owner): return try collectZones(of: owner, rowsMax: limit)
        case .previousVersions(let position):
            return try collectPrevious(through: position, rowsMax: limit)
        case .leftBehind(let person):
            // NB: of one person that is so little that no step cuts it.
            try collectLeft(by: person)
            return false
        }
    }

    private func collectOld(_ moment: Milliseconds, rowsMax: Int) throws -> Bool {
        let indexes =
            indexes.isEmpty
            ? nil
            : GarbageCollector.Indexes(
                catalog: indexes, writer: try group.preparedIndexWriter(connection),
                enqueue: { try self.enqueue(.maintenance(.lateEntries)) })
        let hasMore = try GarbageCollector(
            connection, versions: versions, rowsMax: rowsMax, now: now,
            indexes: indexes, names: nameWriter()
        )
        .run(olderThan: moment)
        if let indexes { try orderEntries(of: indexes.writer) }
        if !hasMore { try queueSpaceIfWorthIt() }
        return hasMore
    }
}
