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

        override var identity: StoreIdentity { get throws { try group.identity(lives) } }

        /// A write goes on behind the page, however long that took.
        override func page(
            of query: StoreQuery, _ visit: (StoredVersion) throws -> Void
        ) throws -> QueryCursor? { try find(query, indexes(), visit) }

        // MARK: - Owners and zones

        override func owners(_ keys: [OwnerKey]) throws -> [StoredOwner?] {
            let areNumbers = keys.allSatisfy { if case .number = $0 { true } else { false } }
            return areNumbers ? try super.owners(keys) : try keys.map { try owner($0) }
        }

        private func owner(_ key: OwnerKey) throws -> StoredOwner? {
            guard case .name(let name) = key else { return try super.owners([key]).first ?? nil }
            let stored: StoredOwner?
            if let known = job.ownersByName[name] ?? group.changes.ownersByName[name]
                ?? group.known.owners[name]
            {
                stored = known
            } else {
                stored = try super.owners([key]).first ?? nil
                group.known.owners.updateValue(stored, forKey: name)
            }
            guard let stored else { return nil }
            let unwritten = [group.changes, job].reduce(0) {
                $0 + ($1.owners[stored.number] ?? 0)
            }
            return unwritten == 0 ? stored : stored.using(unwritten)
        }

        override func zones(_ keys: [ZoneKey]) throws -> [StoredZone?] {
            let areNumbers = keys.allSatisfy { if case .number = $0 { true } else { false } }
            return areNumbers ? try super.zones(keys) : try keys.map { try zone($0) }
        }

        private func zone(_ key: ZoneKey) throws -> StoredZone? {
            switch key {
            case .number: return try super.zones([key]).first ?? nil
            case .name(let name, let owner):
                let named = ZoneNameKey(owner: owner, name: name)
                if let known = job.zonesByName[named] ?? group.changes.zonesByName[named]
                    ?? group.known.zones[named]
                {
                    return known
                }
                let stored = try super.zones([key]).first ?? nil
                group.known.zones.updateValue(stored, forKey: named)
                return stored
            case .nameOfOwner(let name, let owner):
                guard let owner = try self.owner(named: owner) else { return nil }
                return try zone(.name(name, of: owner.number))
            }
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

        func makeZone(
            named name: ZoneName, ofOwnerNamed ownerName: UserRecordName
        ) throws -> StoredZone {
            let owner = try madeOwner(ownerName).number
            let position = try takePosition()
            let zone = StoredZone(
                number: ZoneNumber(try group.take(\.zone)), owner: owner, name: name,
                created: position, changed: name.isDefault ? 0 : position,
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
                    .text(name.text), .number(position), .number(zone.changed)),
            ]
            job.zonesByName.updateValue(zone, forKey: ZoneNameKey(owner: owner, name: name))
            job.moved.insert(.owner(owner))
            try note(.zoneMade, of: zone.number, at: position)
            return zone
        }

        func deleteZone(_ zone: StoredZone) throws {
            let position = try takePosition()
            // Behind what was saved in the zone, of which it tells how much that is.
            let rows = try ask(
                "SELECT body_bytes + asset_bytes FROM zones WHERE store = $1 AND zone = $2",
                .number(store), .number(zone.number.value))
            guard rows.count == 1 else { throw InvalidRow(table: "zones") }
            job.statements.append(
                .requiring(
                    1,
                    """
                    UPDATE zones SET deleted_at = $3,
                        changed = CASE WHEN changed > 0 THEN $4 ELSE changed END
                    WHERE store = $1 AND zone = $2
                    """, .number(store), .number(zone.number.value), .number(now),
                    .number(position)))
            job.owners[zone.owner, default: 0] -= rows.number(0, 0)
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
            for (index, name) in names.enumerated() {
                guard let record = record(name, in: zone) else { continue }
                guard try record.visit({ try visit(index, $0) }) else { return }
            }
        }

        override func versions(
            in zone: ZoneNumber, after: Position, through: Position, newestFirst: Bool,
            expected: Int?, _ visit: (StoredVersion) throws -> Bool
        ) throws {
            guard through - after == 1, let known = record(at: through, in: zone) else {
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
