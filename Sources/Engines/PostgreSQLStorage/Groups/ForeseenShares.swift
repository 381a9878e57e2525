#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    /// What the writes of a group will ask of sharing, as one question of each kind.
    ///
    /// It is asked for the zones of participants' writes, and for those that the process knows to have shared trees: a
    /// group without such zones asks nothing of it.
    struct ForeseenShares {
        private struct Sight: Hashable {
            let zone: OwnedZone
            let viewer: UserRecordName
        }

        private let zones: [OwnedZone]
        private let sights: [Sight]
        /// With their zones.
        private let names: [(zone: OwnedZone, name: RecordName)]

        /// - Parameter shared: the zones that are known to have shared trees.
        init(_ needs: [StoreNeeds], _ shared: SharedZones) {
            var zones: [OwnedZone: Set<RecordName>] = [:]
            var sights: Set<Sight> = []
            for need in needs {
                guard let owner = need.owner, let name = need.zone else { continue }
                let zone = OwnedZone(owner: owner, zone: name)
                // Everybody sees the public database without a share.
                let viewer = owner == .publicOwner ? nil : need.viewer
                guard viewer != nil || shared.contains(zone) else { continue }
                zones[zone, default: []].formUnion(need.records)
                if let viewer { sights.insert(Sight(zone: zone, viewer: viewer)) }
            }
            self.zones = Array(zones.keys)
            self.sights = Array(sights)
            names = zones.flatMap { zone, names in names.map { (zone, $0) } }
        }

        private static let zonesText = """
            SELECT n.number, w.since, \(ShareColumns.share)
            FROM unnest($2::bytea[], $3::bytea[]) WITH ORDINALITY AS n (owner, zone, number)
                \(ZoneRows.byNames)
                LEFT JOIN LATERAL (
                    SELECT * FROM shares h
                    WHERE h.store = $1 AND h.zone = z.zone AND h.ended IS NULL LIMIT 1) s ON true
                LEFT JOIN LATERAL (
                    SELECT m.since FROM work t
                        CROSS JOIN LATERAL (
                            SELECT * FROM share_work_marks m
                            WHERE m.store = $1 AND m.record = t.item LIMIT 1) m
                    WHERE t.store = $1 AND t.kind = 1 AND t.subject = z.zone LIMIT 1) w ON true
            """

        private static let viewsText = """
            SELECT \(ShareColumns.view), n.number
            FROM unnest($2::bytea[], $3::bytea[], $4::bytea[])
                    WITH ORDINALITY AS n (owner, zone, viewer, number)
                \(ZoneRows.byNames)
                CROSS JOIN LATERAL (
                    SELECT * FROM views v
                    WHERE v.store = $1 AND v.viewer = n.viewer AND v.zone = z.zone OFFSET 0) v
            """

        /// Of a viewer who has more in a zone, nothing is known.
        private static let grantsMax: Int64 = 64

        private static let grantsText = """
            SELECT \(ShareColumns.grant), n.number, (s.root IS NULL)::int
            FROM unnest($2::bytea[], $3::bytea[], $4::bytea[])
                    WITH ORDINALITY AS n (owner, zone, viewer, number)
                \(ZoneRows.byNames)
                CROSS JOIN LATERAL (
                    SELECT * FROM grants g
                    WHERE g.store = $1 AND g.viewer = n.viewer AND g.zone = z.zone
                        AND g.revoked IS NULL
                    LIMIT $5) g
                CROSS JOIN LATERAL (
                    SELECT * FROM shares h
                    WHERE h.store = $1 AND h.share = g.share OFFSET 0) s
            """

        private static let namesText = SharesOfNames.text(
            from: """
                unnest($2::bytea[], $3::bytea[], $4::bytea[])
                    WITH ORDINALITY AS n (owner, zone, name, number)
                \(ZoneRows.byNames)
                """)

        func queries(_ store: Int64) -> [Query] {
            guard !zones.isEmpty else { return [] }
            var queries = [
                Query(
                    Self.zonesText, .number(store), .texts(zones.map(\.owner.text)),
                    .texts(zones.map(\.zone.text))),
                Query(
                    Self.namesText, .number(store), .texts(names.map(\.zone.owner.text)),
                    .texts(names.map(\.zone.zone.text)), .texts(names.map(\.name.text))),
            ]
            guard !sights.isEmpty else { return queries }
            let values: [Value] = [
                .number(store), .texts(sights.map(\.zone.owner.text)),
                .texts(sights.map(\.zone.zone.text)), .texts(sights.map(\.viewer.text)),
            ]
            queries += [
                Query(Self.viewsText, values),
                Query(Self.grantsText, values + [.number(Self.grantsMax + 1)]),
            ]
            return queries
        }

        /// Adds what the questions brought; what cannot be read stays unknown.
        ///
        /// - Parameter numbers: those of the zones that there are.
        func add(
            _ answers: [Rows], _ numbers: [OwnedZone: ZoneNumber],
            to known: inout KnownShares
        ) {
            guard answers.count >= 2 else { return }
            for row in 0..<answers[0].count {
                guard let zone = numbers[zones[Int(answers[0].number(row, 0)) - 1]] else {
                    continue
                }
                known.note(answers[0].optionalNumber(row, 1), workIn: zone)
                let share = SharesOfNames.readable {
                    try SharesOfNames.share(answers[0], row, from: 2)
                }
                if let share { known.note(share, firstIn: zone) }
            }
            SharesOfNames.add(answers[1], childless: names.map(\.name), to: &known)
            guard answers.count == 4 else { return }
            addSights(answers[2], answers[3], numbers, to: &known)
        }

        private func addSights(
            _ views: Rows, _ grants: Rows, _ numbers: [OwnedZone: ZoneNumber],
            to known: inout KnownShares
        ) {
            var unreadable: Set<Int> = []
            var found = [KnownShares.Sight](repeating: KnownShares.Sight(), count: sights.count)
            for (row, view) in views.all(StoredView.init(row:)).enumerated() {
                found[Int(views.number(row, 5)) - 1].view = view
            }
            for row in 0..<grants.count {
                let index = Int(grants.number(row, 6)) - 1
                let grant = SharesOfNames.readable {
                    try StoredGrant(row: PostgreSQLCatalogRow(rows: grants, row: row))
                }
                guard let grant else {
                    unreadable.insert(index)
                    continue
                }
                found[index].grants[grant.share] = grant
                if grants.number(row, 7) != 0 { found[index].whole.insert(grant.share) }
            }
            for (index, (sight, found)) in zip(sights, found).enumerated() {
                guard let zone = numbers[sight.zone], !unreadable.contains(index),
                    found.grants.count <= Self.grantsMax
                else { continue }
                known.note(found, KnownShares.SightKey(viewer: sight.viewer, zone: zone))
            }
        }
    }
#endif
