#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    /// Rows as they are on the server while a group holds the store's counter: nobody else changes them.
    struct KnownRows {
        /// How many bytes of bodies a group has in memory of what is on the server; the rest is left there (`LeftBodies`).
        static let bodyBytesMax: Int64 = 8_388_608

        /// Nil under a key that leads to nothing.
        private(set) var records: [RecordKey: CurrentRecord?] = [:]
        /// Under which key a version at a position was found; another may stand there by now.
        private(set) var keys: [Position: RecordKey] = [:]
        /// How many bytes more there is room for.
        private(set) var bodyBytesLeft = bodyBytesMax
        var owners: [UserRecordName: StoredOwner?] = [:]
        var zones: [ZoneNameKey: StoredZone?] = [:]
        /// What is shared in zones; or was, where that has ended within the group.
        var sharing: [ZoneNumber: ZoneSharing] = [:]
        var shares = KnownShares()
        /// When rows of owners were written, and whether sums wait for these.
        var countings: [OwnerNumber: RecentSums.Counting] = [:]

        mutating func note(_ record: CurrentRecord?, _ key: RecordKey) {
            bodyBytesLeft += Int64((records[key] ?? nil)?.body.count ?? 0)
            let bytes = Int64(record?.body.count ?? 0)
            let hasRoom = bytes <= bodyBytesLeft
            if hasRoom { bodyBytesLeft -= bytes }
            records.updateValue(hasRoom ? record : record?.withoutBody, forKey: key)
            if let record { keys[record.position] = key }
        }

        /// Takes over what the server has been told.
        mutating func add(_ changes: StoreChanges, _ recent: RecentSums) {
            countings = recent.noted(changes.sums, countings)
            for (key, saved) in changes.saved { note(saved.current, key) }
            owners.merge(changes.ownersByName) { $1 }
            zones.merge(changes.zonesByName) { $1 }
            for zone in changes.trees { sharing[zone, default: .shares].insert(.trees) }
            shares.add(changes)
            for (name, owner) in owners {
                guard let owner, let bytes = changes.sums.owners[owner.number] else { continue }
                owners.updateValue(owner.using(bytes), forKey: name)
            }
            for (key, zone) in zones {
                guard let zone, let added = changes.sums.zones[zone.number] else { continue }
                zones.updateValue(zone.reaching(added.sum.changed), forKey: key)
            }
        }
    }

    /// A zone as requests name it.
    struct OwnedZone: Hashable {
        let owner: UserRecordName
        let zone: ZoneName
    }

    /// The zones that a process knows to have shared trees, so that a group asks for these with its first question.
    ///
    /// Where that is no longer so, a group asks for something in vain; where it is not known yet, once more.
    struct SharedZones {
        /// A process that knows of more begins anew.
        private static let zonesMax = 10_000
        private var zones: Set<OwnedZone> = []

        func contains(_ zone: OwnedZone) -> Bool { zones.contains(zone) }

        mutating func note(_ zone: OwnedZone, isShared: Bool) {
            if isShared {
                if zones.count >= Self.zonesMax { zones = [] }
                zones.insert(zone)
            } else if !zones.isEmpty {
                zones.remove(zone)
            }
        }
    }

    /// What the writes of a group said that they will ask for, as one question of each kind.
    struct ForeseenRows {
        private var zones: [OwnedZone: Set<RecordName>] = [:]
        private var owners: Set<UserRecordName> = []
        private let shares: ForeseenShares

        /// - Parameter shared: the zones that are known to have shared trees.
        init(_ needs: [StoreNeeds], _ shared: SharedZones = SharedZones()) {
            shares = ForeseenShares(needs, shared)
            for need in needs {
                guard let owner = need.owner else { continue }
                owners.insert(owner)
                guard let zone = need.zone else { continue }
                zones[OwnedZone(owner: owner, zone: zone), default: []].formUnion(need.records)
            }
        }

        private static let recordsText = """
            SELECT o.record_name, n.zone, n.name, \(VersionColumns.bounded(bytes: 5))
            FROM unnest($2::bytea[], $3::bytea[], $4::bytea[]) AS n (owner, zone, name)
                JOIN owners o ON o.store = $1 AND o.record_name = n.owner
                JOIN zones z ON z.store = $1 AND z.owner = o.owner AND z.name = n.zone
                    AND z.deleted_at IS NULL
                CROSS JOIN LATERAL (
                    SELECT * FROM records r
                    WHERE r.store = $1 AND r.zone = z.zone AND r.name = n.name OFFSET 0) r
            """

        func queries(_ store: Int64) -> [Query] {
            guard !owners.isEmpty else { return [] }
            let pairs = Array(zones.keys)
            let names = zones.flatMap { pair, names in names.map { (pair, $0) } }
            return [
                Query(
                    """
                    SELECT \(ZoneRows.ownerColumns), o.counted_at, o.sums_waiting
                    FROM current_owners o WHERE o.store = $1 AND o.record_name = ANY ($2)
                    """, .number(store), .texts(owners.map(\.text))),
                Query(
                    """
                    SELECT o.record_name, \(ZoneRows.columns), \(ZoneRows.sharing)
                    FROM unnest($2::bytea[], $3::bytea[]) AS n (owner, zone)
                        JOIN owners o ON o.store = $1 AND o.record_name = n.owner
                        CROSS JOIN LATERAL (
                            SELECT * FROM current_zones z
                            WHERE z.store = $1 AND z.owner = o.owner AND z.name = n.zone
                                AND z.deleted_at IS NULL OFFSET 0) z
                    """, .number(store), .texts(pairs.map(\.owner.text)),
                    .texts(pairs.map(\.zone.text))),
                Query(
                    Self.recordsText, .number(store), .texts(names.map(\.0.owner.text)),
                    .texts(names.map(\.0.zone.text)), .texts(names.map(\.1.text)),
                    .number(KnownRows.bodyBytesMax)),
            ] + shares.queries(store)
        }

        /// What the questions brought; what they asked for in vain is known not to be there.
        ///
        /// - Parameters:
        ///   - firstRecord: the number of the first record that the group makes.
        ///   - shared: takes over which of the zones have shared trees.
        func rows(
            _ answers: [Rows], firstRecord: RecordNumber, _ shared: inout SharedZones
        ) throws -> KnownRows {
            var known = KnownRows()
            known.shares = KnownShares(firstRecord: firstRecord)
            guard answers.count >= 3 else { return known }
            for owner in owners { known.owners.updateValue(nil, forKey: owner) }
            for row in 0..<answers[0].count {
                let owner = ZoneRows.owner(answers[0], row)
                guard let name = StoredOwner.name(owner.recordName) else { continue }
                known.owners.updateValue(owner, forKey: name)
                known.countings[owner.number] = RecentSums.Counting(
                    countedAt: answers[0].number(row, ZoneRows.ownerColumnCount),
                    hasWaiting: answers[0].number(row, ZoneRows.ownerColumnCount + 1) > 0)
            }
            var numbers: [OwnedZone: ZoneNumber] = [:]
            for row in 0..<answers[1].count {
                let zone = try ZoneRows.zone(answers[1], row, from: 1)
                guard let name = StoredOwner.name(answers[1].text(row, 0)) else { continue }
                numbers[OwnedZone(owner: name, zone: zone.name)] = zone.number
                let sharing = ZoneSharing(
                    rawValue: answers[1].number(row, 1 + ZoneRows.columnCount))
                known.sharing[zone.number] = sharing
                shared.note(
                    OwnedZone(owner: name, zone: zone.name), isShared: sharing.contains(.trees))
                known.zones.updateValue(
                    zone, forKey: ZoneNameKey(owner: zone.owner, name: zone.name))
            }
            for (pair, names) in zones {
                guard let owner = known.owners[pair.owner] ?? nil else { continue }
                guard let zone = numbers[pair] else {
                    let key = ZoneNameKey(owner: owner.number, name: pair.zone)
                    known.zones.updateValue(nil, forKey: key)
                    continue
                }
                for name in names { known.note(nil, RecordKey(zone: zone, name: name)) }
            }
            for row in 0..<answers[2].count {
                guard let name = RecordName(answers[2].text(row, 2)) else {
                    throw InvalidRow(table: "records")
                }
                let zone = ZoneNumber(answers[2].number(row, 3 + 5))
                known.note(
                    VersionColumns.copy(answers[2], row, from: 3), RecordKey(zone: zone, name: name)
                )
            }
            shares.add(Array(answers.dropFirst(3)), numbers, to: &known.shares)
            return known
        }
    }

    extension StoredOwner {
        /// The user record name that a row says.
        static func name(_ text: String) -> UserRecordName? {
            text == UserRecordName.publicOwner.text ? .publicOwner : UserRecordName(text)
        }
    }
#endif
