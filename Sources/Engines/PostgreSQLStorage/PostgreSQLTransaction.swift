#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    /// The writing half of the contract: the jobs of groups, one after the other.
    ///
    /// What lies under keys and was foreseen, or was asked for before in the group, costs nothing more: nobody else
    /// changes it meanwhile. Any other question goes to the server behind what the group has changed so far, so that it
    /// sees that.
    final class PostgreSQLTransaction: PostgreSQLSnapshot, StoreTransaction {
        private(set) var now: Milliseconds = 0
        /// Who makes its changes; nil for the server itself.
        private(set) var author: ChangeAuthor?
        unowned let group: StoreGroups
        /// What the job has changed that the server has not been told.
        var job = StoreChanges()
        /// What it has moved that the server has been told of.
        private(set) var told: Set<StorePart> = []
        /// Whether the server has been told of something that the job has changed.
        private(set) var hasFlushed = false
        /// The files that the versions hold that are being saved.
        var files = KnownFiles()
        /// The first position that it has taken; nil for none.
        private var firstTaken: Position?
        /// Of the last change that it has written.
        private var lastWritten: Position = 0

        init(_ connection: Connection, _ group: StoreGroups) {
            self.group = group
            super.init(connection, group.store, group.facts, stop: nil)
        }

        /// Begins a job; of the one before it nothing is left.
        func begin(at now: Milliseconds, by author: ChangeAuthor?) {
            self.now = now
            self.author = author
            job = StoreChanges()
            told = []
            hasFlushed = false
            firstTaken = nil
            lastWritten = 0
        }

        // MARK: - Questions

        override func progress() throws -> Progress {
            guard let progress = group.progress else { throw InvalidRow(table: "progress") }
            return progress
        }

        override func ask(_ queries: [Query]) throws -> [Rows] {
            let changes = job
            job = StoreChanges()
            told.formUnion(changes.movedParts)
            if !changes.isEmpty { hasFlushed = true }
            return try group.flush(changes, asking: queries)
        }

        override func askByKey(_ queries: [Query]) throws -> [Rows] {
            try connection.run(queries)
        }

        /// A write is never left halfway, so nothing stops it.
        override func checkStop() {}

        override var schema: Schema { get throws { try wholeSchema().at(now) } }

        /// With what is held and free again.
        func wholeSchema() throws -> StoreFacts.KnownSchema {
            try job.schema
                ?? group.schema { revision in
                    try SchemaRows.read(revision, try askByKey(SchemaRows.queries(store)))
                }
        }

        override var identity: StoreIdentity { get throws { try group.identity(lives(of:)) } }

        /// A write goes on behind the page, however long that took.
        override func page(
            of query: StoreQuery, _ visit: (StoredVersion) throws -> Void
        ) throws -> QueryCursor? { try find(query, indexes(), visit) }

        // MARK: - Owners and zones

        override func owners(_ keys: [OwnerKey]) throws -> [StoredOwner?] {
            let names = Set(keys.compactMap { if case .name(let name) = $0 { name } else { nil } })
            let unknown = names.filter { known($0) == nil }
            for (name, owner) in zip(unknown, try super.owners(unknown.map { .name($0) })) {
                group.known.owners.updateValue(owner, forKey: name)
            }
            let numbered = keys.filter { if case .number = $0 { true } else { false } }
            var others = try super.owners(numbered).makeIterator()
            return keys.map { key in
                guard case .name(let name) = key else { return others.next() ?? nil }
                guard let stored = known(name) ?? nil else { return nil }
                let unwritten = [group.changes, job].reduce(0) {
                    $0 + ($1.sums.owners[stored.number] ?? 0)
                }
                return unwritten == 0 ? stored : stored.using(unwritten)
            }
        }

        /// The owner of a name, nil for none; nothing where that is not known.
        private func known(_ name: UserRecordName) -> StoredOwner?? {
            job.ownersByName[name] ?? group.changes.ownersByName[name] ?? group.known.owners[name]
        }

        override func zones(_ keys: [ZoneKey]) throws -> [StoredZone?] {
            let names = Array(
                Set(
                    keys.compactMap { if case .nameOfOwner(_, let name) = $0 { name } else { nil } }
                ))
            let owners = Dictionary(
                uniqueKeysWithValues: zip(names, try owners(names.map { .name($0) })))
            let named = keys.map { key -> ZoneNameKey? in
                switch key {
                case .number: nil
                case .name(let name, let owner): ZoneNameKey(owner: owner, name: name)
                case .nameOfOwner(let name, let owner):
                    (owners[owner] ?? nil).map { ZoneNameKey(owner: $0.number, name: name) }
                }
            }
            let unknown = Set(named.compactMap { $0 }).filter { known($0) == nil }
            let found = try super.zones(unknown.map { .name($0.name, of: $0.owner) })
            for (key, zone) in zip(unknown, found) {
                group.known.zones.updateValue(zone, forKey: key)
            }
            let numbered = keys.filter { if case .number = $0 { true } else { false } }
            var others = try super.zones(numbered).makeIterator()
            return zip(keys, named).map { key, named in
                if case .number = key { return others.next() ?? nil }
                return named.flatMap { known($0) ?? nil }
            }
        }

        /// The living zone of a name, nil for none; nothing where that is not known.
        private func known(_ key: ZoneNameKey) -> StoredZone?? {
            job.zonesByName[key] ?? group.changes.zonesByName[key] ?? group.known.zones[key]
        }

        /// The owner of that name, who is made where there is none yet.
        func madeOwner(_ name: UserRecordName) throws -> StoredOwner {
            if let owner = try owner(named: name) { return owner }
            let owner = StoredOwner(
                number: OwnerNumber(try group.take(\.owner)), recordName: name.text, usedBytes: 0,
                oldestValidPosition: 0)
            job.statements.append(
                Query(
                    "INSERT INTO owners (store, owner, record_name) VALUES ($1, $2, $3)",
                    .number(store), .number(owner.number.value), .text(name.text)))
            job.ownersByName.updateValue(owner, forKey: name)
            job.moved.insert(.person(name))
            return owner
        }

        func makeZones(
            named names: [ZoneName], ofOwnerNamed ownerName: UserRecordName
        ) throws -> [StoredZone] {
            let owner = try madeOwner(ownerName).number
            return try names.map { try makeZone(named: $0, of: owner) }
        }

        private func makeZone(named name: ZoneName, of owner: OwnerNumber) throws -> StoredZone {
            let position = try takePosition()
            let zone = StoredZone(
                number: ZoneNumber(try group.take(\.zone)), owner: owner, name: name,
                created: position, changed: name.isDefault ? nil : position,
                oldestValidPosition: position, isDeleted: false)
            job.statements += [
                Query(
                    """
                    UPDATE zones SET changed = -1 WHERE store = $1 AND owner = $2 AND name = $3
                        AND deleted_at IS NOT NULL AND changed >= 0
                    """, .number(store), .number(owner.value), .text(name.text)),
                Query(
                    """
                    INSERT INTO zones (store, zone, owner, name, created, changed, whole_after)
                    VALUES ($1, $2, $3, $4, $5, $6, $5)
                    """, .number(store), .number(zone.number.value), .number(owner.value),
                    .text(name.text), .number(position),
                    .number(zone.changed ?? .unset)),
            ]
            job.zonesByName.updateValue(zone, forKey: ZoneNameKey(owner: owner, name: name))
            job.moved.insert(.owner(owner))
            try note(.zoneMade, of: zone.number, at: position)
            return zone
        }

        func deleteZones(_ zones: [StoredZone]) throws {
            guard !zones.isEmpty else { return }
            // Behind what was saved in the zones, of which it tells how much that is.
            let rows = try ask(
                """
                SELECT zone, body_bytes + asset_bytes FROM current_zones
                WHERE store = $1 AND zone = ANY ($2)
                """,
                .number(store), .numbers(zones.map(\.number.value)))
            let bytes = Dictionary(
                uniqueKeysWithValues: (0..<rows.count).map {
                    (ZoneNumber(rows.number($0, 0)), rows.number($0, 1))
                })
            for zone in zones {
                guard let bytes = bytes[zone.number] else { throw InvalidRow(table: "zones") }
                try deleteZone(zone, bytes: bytes)
            }
        }

        private func deleteZone(_ zone: StoredZone, bytes: Int64) throws {
            let position = try takePosition()
            job.statements.append(
                .requiring(
                    1,
                    """
                    UPDATE zones SET deleted_at = $3,
                        changed = CASE WHEN changed > 0 THEN $4 ELSE changed END
                    WHERE store = $1 AND zone = $2
                    """, .number(store), .number(zone.number.value), .number(now),
                    .number(position)))
            job.sums.add(-bytes, to: zone.owner)
            endShares(of: zone.number, at: position)
            job.zonesByName.updateValue(
                nil, forKey: ZoneNameKey(owner: zone.owner, name: zone.name))
            job.moved.formUnion([.zone(zone.number), .owner(zone.owner)])
            try note(.zoneDeleted, of: zone.number, at: position)
        }

        func setClientToken(_ data: [UInt8], _ key: ClientTokenKey, devicesMax: Int) throws {
            let names: [Value] = [
                .number(store), .number(key.zone.value), .text(key.user.text), .text(key.device),
            ]
            guard !data.isEmpty else {
                job.statements.append(
                    Query(
                        """
                        DELETE FROM client_tokens
                        WHERE store = $1 AND zone = $2 AND user_record_name = $3 AND device = $4
                        """, names))
                return
            }
            job.statements += [
                Query(
                    """
                    INSERT INTO client_tokens (store, zone, user_record_name, device, data, set_at)
                    VALUES ($1, $2, $3, $4, $5, $6)
                    ON CONFLICT (store, zone, user_record_name, device)
                        DO UPDATE SET data = excluded.data, set_at = excluded.set_at
                    """, names + [.bytes(data), .number(now)]),
                Query(
                    """
                    DELETE FROM client_tokens
                    WHERE store = $1 AND zone = $2 AND user_record_name = $3 AND device IN (
                        SELECT device FROM client_tokens
                        WHERE store = $1 AND zone = $2 AND user_record_name = $3 AND device <> $4
                        ORDER BY set_at DESC OFFSET $5)
                    """, names + [.number(Int64(max(0, devicesMax - 1)))]),
            ]
        }

        // MARK: - What shares say

        override func shares(_ keys: ShareKeys) throws -> [StoredShare?] {
            try knownShares(keys) ?? learnShares(keys)
        }

        override func grants(_ keys: [GrantKey]) throws -> [[StoredGrant]] {
            try knownGrants(keys) ?? readGrants(keys)
        }

        override func views(
            of viewer: UserRecordName, _ selection: ViewSelection
        ) throws -> [StoredView] {
            try knownViews(of: viewer, selection) ?? readViews(of: viewer, selection)
        }

        override func currentMemberships(
            of records: [RecordNumber]
        ) throws -> [CurrentMembership?] {
            try learnMemberships(of: records)
            return records.map { group.known.shares.membership(of: $0) ?? nil }
        }

        override func coverageWork(_ keys: [CoverageWorkKey]) throws -> [Position?] {
            try knownWork(keys) ?? learnWork(keys)
        }

        override func links(
            of records: [RecordNumber], kinds: ClosedRange<LinkKind>
        ) throws -> [[Link]] {
            try knownParents(of: records, kinds) ?? readLinks(of: records, kinds: kinds)
        }

        override func sources(
            of targets: [RecordName], in zone: ZoneNumber, kinds: ClosedRange<LinkKind>,
            after: RecordNumber, limit: Int
        ) throws -> [[LinkSource]] {
            let isOfParents = kinds == .parent ... .parent
            guard !isOfParents || !areChildless(targets, in: zone) else {
                return targets.map { _ in [] }
            }
            return try readSources(of: targets, in: zone, kinds: kinds, after: after, limit: limit)
        }

        // MARK: - Records under their names

        override func heads(of names: [RecordName], in zone: ZoneNumber) throws -> [StoredHead?] {
            try learn(names, in: zone)
            return names.map { record($0, in: zone)?.head }
        }

        override func current(
            _ keys: CurrentKeys, inOrder: Bool,
            _ visit: (_ index: Int, StoredVersion) throws -> Bool
        ) throws {
            guard case .names(let names, let zone) = keys else {
                return try super.current(keys, inOrder: inOrder, visit)
            }
            try learn(names, in: zone)
            var left = LeftBodies(sendingChanges: false)
            for (index, name) in names.enumerated() {
                guard var record = record(name, in: zone) else { continue }
                if !record.hasBody {
                    record = try left.whole(record, names[index...], in: zone, self)
                }
                guard try record.visit({ try visit(index, $0) }) else { return }
            }
        }

        override func versions(
            in zone: ZoneNumber, after: Position, through: Position, newestFirst: Bool,
            expected: Int?, _ visit: (StoredVersion) throws -> Bool
        ) throws {
            guard through - after == 1, let known = record(at: through, in: zone), known.hasBody
            else {
                return try scan(
                    zone, after: after, through: through, newestFirst: newestFirst,
                    expected: expected, visit)
            }
            guard !known.isDamaged else { throw DamagedVersion(zone: zone, position: through) }
            _ = try known.visit(visit)
        }

        // MARK: - Positions

        func takePositions(_ count: Int) throws -> Position {
            let first = try group.takePositions(count)
            firstTaken = firstTaken ?? first
            return first
        }

        /// Positions only grow: a change is written at one that this transaction has taken, after the one before.
        func requireTaken(_ position: Position) throws {
            guard let firstTaken, position >= firstTaken, position > lastWritten,
                position < group.next
            else {
                throw BrokenInvariant(
                    "positions only grow: a change at \(position) after one at \(lastWritten)")
            }
            lastWritten = position
        }
    }
#endif
