import CloudModel
import SQLite
import Storage

/// The writing half of the contract: one job of a group.
final class SQLiteTransaction: StoreTransaction {
    let now: Milliseconds
    private(set) var schema: Schema
    /// What the transaction has made of the schema; nil for nothing.
    private(set) var newSchema: TransactionSchema?
    var indexes: IndexCatalog
    /// Whether the store's worker is to be woken.
    var hasQueuedWork = false
    /// What has moved beside the zones and owners of `sums`.
    var moved: Set<StorePlace> = []
    private(set) var following: Following
    /// Who makes what is noted for followers.
    private(set) var author: ChangeAuthor?
    /// Whether `following` is another than the group's.
    private(set) var isFollowingNew = false
    /// Bytes of bodies whose entries in indexes it has brought up to date.
    var indexedBytes = 0
    /// How many changes it has noted for followers.
    var notedChanges = 0
    private(set) var sums = GroupState.Sums()
    let group: GroupState
    let snapshot: SQLiteSnapshot
    private let statements: WriteStatements
    /// The first position that it has taken; nil for none.
    private var firstTaken: Position?
    /// Of the last change that it has written.
    private var lastWritten: Position = 0
    /// Names that it has found to lead nowhere, by their hashes, so that a save need not look again.
    var freeNames: [Int64: FreeName] = [:]

    init(_ connection: Connection, group: GroupState, now: Milliseconds) throws {
        (snapshot, statements) = try group.prepared(connection)
        self.group = group
        self.schema = group.schema.at(now)
        self.indexes = group.indexes
        self.following = group.following
        self.now = now
    }

    func names() throws -> NameWriter { try group.names(snapshot.connection) }

    func shareStatements() throws -> ShareWriteStatements {
        try group.shareStatements(snapshot.connection)
    }

    func coverageStatements() throws -> CoverageStatements {
        try group.coverageStatements(snapshot.connection)
    }

    func coverageInvariants() throws -> CoverageInvariants {
        try group.coverageInvariants(snapshot.connection)
    }

    /// The zone of a share that stands.
    ///
    /// - Throws: `BrokenInvariant` for one that does not.
    func zone(ofStanding share: ShareNumber) throws -> ZoneNumber {
        if let known = group.places.standing[share] { return known }
        let zone = try coverageInvariants().zone(of: share)
        group.places.standing[share] = zone
        return zone
    }

    /// Notes that shares have ended.
    func noteEnd(of share: ShareNumber?) {
        if let share { group.places.standing[share] = nil } else { group.places.standing = [:] }
    }

    private func versions() throws -> VersionWriter {
        try group.preparedVersionWriter(snapshot.connection)
    }

    func assetStatements() throws -> AssetWriteStatements {
        try group.assetStatements(snapshot.connection)
    }

    func workStatements() throws -> WorkStatements {
        try group.workStatements(snapshot.connection)
    }

    /// Notes what a record's assets add to its zone and its owner.
    func noteAssets(_ bytes: Int64, in zone: StoredZone) {
        guard bytes != 0 else { return }
        sums.zones[zone.number, default: GroupState.Sums.Zone()].assetBytes += bytes
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

    var identity: StoreIdentity {
        get throws { group.positions.identity(following: try snapshot.identity) }
    }

    /// The last position that this write or one before it has taken.
    var reachedPosition: Position { group.positions.reached }

    func followingStatements() throws -> FollowingStatements {
        try group.followingStatements(snapshot.connection)
    }

    /// Takes over who follows, as this write has changed it.
    func renewFollowing() throws {
        following = try Following(snapshot.connection)
        isFollowingNew = true
        moved.insert(.followers)
    }

    func act(as author: ChangeAuthor) { self.author = author }

    func makeOwner(_ name: UserRecordName) throws -> StoredOwner {
        group.places = GroupState.Places()
        statements.insertOwner.bind(name.text, at: 1)
        try statements.insertOwner.run()
        moved.insert(.person(name))
        return StoredOwner(
            number: OwnerNumber(snapshot.connection.lastInsertedRowID), recordName: name.text,
            usedBytes: 0, oldestValidPosition: 0)
    }

    func makeZone(named name: ZoneName, of owner: OwnerNumber) throws -> StoredZone {
        group.places = GroupState.Places()
        let position = try takePosition()
        let changed = name.isDefault ? 0 : position
        statements.dropZoneFromFeed.bind(owner.value, at: 1)
        statements.dropZoneFromFeed.bind(name.text, at: 2)
        try statements.dropZoneFromFeed.run()
        statements.insertZone.bind(owner.value, at: 1)
        statements.insertZone.bind(name.text, at: 2)
        statements.insertZone.bind(position, at: 3)
        statements.insertZone.bind(changed, at: 4)
        try statements.insertZone.run()
        let number = ZoneNumber(snapshot.connection.lastInsertedRowID)
        // Beyond it the keys of its records would be those of another zone.
        guard number.value <= SQLiteSnapshot.zoneNumberMax else { throw StorageFailure.full }
        moved.insert(.owner(owner))
        try note(.zoneMade, of: number, at: position)
        return StoredZone(
            number: number, owner: owner, name: name,
            created: position, changed: changed, oldestValidPosition: position, isDeleted: false)
    }

    func deleteZone(_ zone: StoredZone) throws {
        group.places = GroupState.Places()
        let position = try takePosition()
        statements.zoneBytes.bind(zone.number.value, at: 1)
        guard try statements.zoneBytes.step() else { throw InvalidRow(table: "zones") }
        let stored = statements.zoneBytes.int64(0)
        statements.zoneBytes.reset()
        let pending = [group.sums.zones[zone.number], sums.zones[zone.number]].reduce(0) {
            $0 + ($1.map { $0.bytes + $0.assetBytes } ?? 0)
        }
        sums.owners[zone.owner, default: 0] -= stored + pending
        statements.markZoneDeleted.bind(zone.number.value, at: 1)
        statements.markZoneDeleted.bind(now, at: 2)
        statements.markZoneDeleted.bind(position, at: 3)
        try statements.markZoneDeleted.run()
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
            var sum = GroupState.Sums.Zone()
            while first < versions.endIndex, versions[first].zone.number == zone.number {
                records.append(try write(versions[first], &sum))
                first += 1
            }
            sums.zones[zone.number, default: GroupState.Sums.Zone()].add(sum)
            sums.owners[zone.owner, default: 0] += sum.bytes
        }
        return records
    }

    /// Writes one version.
    ///
    /// - Parameter sum: gets what it adds to its zone.
    private func write(
        _ version: NewVersion, _ sum: inout GroupState.Sums.Zone
    ) throws -> RecordNumber {
        let zone = version.zone.number
        try requireTaken(version.position)
        let concerned = indexes.ofType(version.type)
        let change = concerned.isEmpty ? nil : try indexChange(version, concerned)
        let kept = following.isOn ? try wantedFormer(of: version) : nil
        let record = try place(version)
        if following.isOn { try note(version, of: record, former: kept) }
        let key = SQLiteSnapshot.key(zone, version.position)
        let isTombstone = version.flags.contains(.tombstone)
        let head = VersionRow.Head(
            key: key, record: record, type: version.type, flags: version.flags)
        try version.body.withUnsafeBytes {
            try versions().insert(head, $0, fieldsEnd: version.fieldsEnd)
        }
        if version.formerIsDamaged { try forgetInIndexes(record, in: zone) }
        if let change { try keepUp(concerned, change, version, record) }
        if let links = version.links {
            try replaceLinks(of: record, with: links, isNew: version.former == nil)
        }
        if let files = version.files {
            try replaceAssets(of: record, in: version.zone, with: files)
        }
        if isTombstone {
            statements.insertTombstone.bind(now, at: 1)
            statements.insertTombstone.bind(key, at: 2)
            try statements.insertTombstone.run()
        }
        sum.changed = max(sum.changed, version.position)
        sum.bytes += Int64((isTombstone ? 0 : version.body.count) - version.formerBytes)
        sum.records += (isTombstone ? 0 : 1) - (version.formerIsAlive ? 1 : 0)
        return record
    }

    /// Points the head at the new version and removes the former one.
    private func place(_ version: NewVersion) throws -> RecordNumber {
        let zone = version.zone.number
        let hash = snapshot.names.hash(version.name, in: zone)
        snapshot.knownPlaces.note(hash, at: version.position)
        if let former = version.former {
            let key = SQLiteSnapshot.key(zone, former.position)
            let isRemoved =
                try version.formerIsDamaged
                ? versions().remove(at: key) : versions().remove(former.record, at: key)
            try require(isRemoved, former, zone)
            statements.moveHead.bind(former.record.value, at: 1)
            statements.moveHead.bind(version.position, at: 2)
            statements.moveHead.bind(former.position, at: 3)
            try statements.moveHead.run()
            try require(snapshot.connection.changeCount == 1, former, zone)
            return former.record
        }
        let names = try names()
        try requireFree(version.name, hash, zone)
        let insert = statements.insertHead
        var name = version.name.text
        try name.withUTF8 { bytes in
            insert.bind(zone.value, at: 1)
            insert.bindBorrowed(text: UnsafeRawBufferPointer(bytes), at: 2)
            insert.bind(version.position, at: 3)
            try insert.run()
        }
        let made = RecordNumber(snapshot.connection.lastInsertedRowID)
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
            statements.deleteLinks.bind(source.value, at: 1)
            try statements.deleteLinks.run()
        }
        for link in links {
            statements.insertLink.bind(link.targetZone.value, at: 1)
            statements.insertLink.bind(link.target.text, at: 2)
            statements.insertLink.bind(link.kind.rawValue, at: 3)
            statements.insertLink.bind(source.value, at: 4)
            try statements.insertLink.run()
        }
    }

    func replaceSchema(by wanted: Schema, who: String, difference: [String]) throws {
        let stored = newSchema ?? group.schema
        if wanted.leaving != stored.schema.leaving {
            try HeldParts(snapshot.connection).replace(by: wanted.leaving, until: stored.heldUntil)
        }
        var writing = SchemaWriter(snapshot.connection)
        let made = try writing.replace(
            schema, by: wanted, at: now, who: who, difference: difference)
        try keep(TransactionSchema(schema: made, heldUntil: stored.heldUntil))
        for (type, fields) in writing.lostIndexes {
            try dropIndexes(ofType: type, fields: fields)
        }
    }

    func hold(_ parts: Schema.Parts, until moment: Milliseconds) throws {
        try HeldParts(snapshot.connection).replace(by: parts, until: moment)
        var made = schema
        made.leaving = parts
        try keep(TransactionSchema(schema: made, heldUntil: moment))
    }

    private func keep(_ made: TransactionSchema) throws {
        newSchema = made
        schema = made.at(now)
        try statements.moveSchema.run()
    }

    func assign(_ roles: Set<Int64>, to user: UserRecordName) throws {
        let delete = try snapshot.connection.prepare(
            "DELETE FROM assigned_roles WHERE user_record_name = ?1")
        delete.bind(user.text, at: 1)
        try delete.run()
        let insert = try snapshot.connection.prepare(
            "INSERT INTO assigned_roles (user_record_name, role) VALUES (?1, ?2)")
        for role in roles.sorted() {
            insert.bind(user.text, at: 1)
            insert.bind(role, at: 2)
            try insert.run()
        }
    }

    func usedBytes(of owner: OwnerNumber) throws -> Int64 {
        try storedBytes(of: owner) + (group.sums.owners[owner] ?? 0) + (sums.owners[owner] ?? 0)
    }

    private func storedBytes(of owner: OwnerNumber) throws -> Int64 {
        if let known = group.places.usedBytes[owner] { return known }
        statements.usedBytes.bind(owner.value, at: 1)
        defer { statements.usedBytes.reset() }
        let stored = try statements.usedBytes.step() ? statements.usedBytes.int64(0) : 0
        group.places.usedBytes[owner] = stored
        return stored
    }

    func collect(olderThan moment: Milliseconds, rowsMax: Int) throws -> Bool {
        defer { group.places = GroupState.Places() }
        let indexes =
            indexes.isEmpty
            ? nil
            : GarbageCollector.Indexes(
                catalog: indexes, writer: try group.preparedIndexWriter(snapshot.connection),
                enqueue: { try self.enqueue(.maintenance(.lateEntries)) })
        let hasMore = try GarbageCollector(
            snapshot.connection, versions: snapshot.versions, rowsMax: rowsMax, now: now,
            indexes: indexes, names: names()
        )
        .run(olderThan: moment)
        if let indexes { try orderEntries(of: indexes.writer) }
        return hasMore
    }
}

// What a write reads, it reads on its own connection: what it has itself written is there.
extension SQLiteTransaction {
    func page(
        of query: StoreQuery, _ visit: (StoredVersion) throws -> Void
    ) throws -> QueryCursor? { try snapshot.find(query, visit) }

    func words(in text: String) throws -> [[UInt8]] { try snapshot.words(in: text) }

    func owner(named name: UserRecordName) throws -> StoredOwner? {
        if let known = group.places.owners[name] { return known }
        let found = try snapshot.owner(named: name)
        group.places.owners[name] = found
        return found
    }

    func zone(_ number: ZoneNumber) throws -> StoredZone? { try snapshot.zone(number) }

    func zone(named name: ZoneName, of owner: OwnerNumber) throws -> StoredZone? {
        let key = GroupState.Places.ZoneKey(owner: owner, name: name)
        if let known = group.places.zones[key] { return known }
        let found = try snapshot.zone(named: name, of: owner)
        group.places.zones[key] = found
        return found
    }

    func zone(named name: ZoneName, ofOwnerNamed owner: UserRecordName) throws -> StoredZone? {
        guard let owner = try self.owner(named: owner) else { return nil }
        return try zone(named: name, of: owner.number)
    }

    func zones(of owner: OwnerNumber) throws -> [StoredZone] { try snapshot.zones(of: owner) }

    func zones(of owner: OwnerNumber, changedAfter: Position, limit: Int) throws -> [StoredZone] {
        try snapshot.zones(of: owner, changedAfter: changedAfter, limit: limit)
    }

    func lastChange(of owner: OwnerNumber) throws -> Position {
        try snapshot.lastChange(of: owner)
    }

    func version<Value>(
        at position: Position, in zone: ZoneNumber, _ visit: (StoredVersion) throws -> Value
    ) throws -> Value? {
        try snapshot.version(at: position, in: zone, visit)
    }

    func versions(
        in zone: ZoneNumber, after: Position, through: Position, newestFirst: Bool,
        _ visit: (StoredVersion) throws -> Bool
    ) throws {
        try snapshot.versions(
            in: zone, after: after, through: through, newestFirst: newestFirst, visit)
    }

    func recordTypes() throws -> [String: Int64] { try snapshot.recordTypes() }

    func versions(
        after place: SurveyPlace, limit: Int, _ visit: (ZoneNumber, StoredVersion) throws -> Bool
    ) throws -> SurveyPlace? {
        try snapshot.versions(after: place, limit: limit, visit)
    }

    func schemaHistory(limit: Int) throws -> [StoredSchemaChange] {
        try snapshot.schemaHistory(limit: limit)
    }

    func sources(
        of target: RecordName, in zone: ZoneNumber, kinds: ClosedRange<LinkKind>, limit: Int
    ) throws -> [LinkSource] {
        try snapshot.sources(of: target, in: zone, kinds: kinds, limit: limit)
    }

    func sources(
        of target: RecordName, in zone: ZoneNumber, kind: LinkKind, after: RecordNumber, limit: Int
    ) throws -> [LinkSource] {
        try snapshot.sources(of: target, in: zone, kind: kind, after: after, limit: limit)
    }

    func recordCount(of owner: OwnerNumber) throws -> Int {
        try snapshot.recordCount(of: owner)
    }

    func zoneCount(of owner: OwnerNumber, limit: Int) throws -> Int {
        try snapshot.zoneCount(of: owner, limit: limit)
    }

    func assignedRoles(of user: UserRecordName) throws -> Set<Int64> {
        try snapshot.assignedRoles(of: user)
    }
}
