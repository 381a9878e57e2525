#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    /// What shares say of records under their names: one question of all that a save in a shared tree asks.
    enum SharesOfNames {
        private static let parent = LinkKind.parent.rawValue

        /// - Parameter source: names as `n`, with their places as `number`, and their zones as `z`.
        static func text(from source: String) -> String {
            """
            SELECT n.number, z.zone, r.record, d.share, c.position, l.target_zone, l.target_name,
                (k.source IS NOT NULL)::int, \(ShareColumns.share)
            FROM \(source)
                LEFT JOIN LATERAL (
                    SELECT * FROM records r
                    WHERE r.store = $1 AND r.zone = z.zone AND r.name = n.name OFFSET 0) r ON true
                LEFT JOIN LATERAL (
                    SELECT * FROM current_memberships m
                    WHERE m.store = $1 AND m.record = r.record OFFSET 0) c ON true
                LEFT JOIN LATERAL (
                    SELECT h.share FROM shares h
                    WHERE h.store = $1 AND h.share = c.share AND h.ended IS NULL OFFSET 0) d ON true
                LEFT JOIN LATERAL (
                    SELECT * FROM links l WHERE l.store = $1 AND l.source = r.record
                        AND l.kind = \(parent) OFFSET 0) l ON true
                LEFT JOIN LATERAL (
                    SELECT * FROM links k WHERE k.store = $1 AND k.target_zone = z.zone
                        AND k.target_name = n.name AND k.kind BETWEEN \(parent) AND \(parent)
                    ORDER BY k.kind LIMIT 1) k ON true
                LEFT JOIN LATERAL (
                    SELECT h.share FROM shares h
                    WHERE h.store = $1 AND h.root = r.record AND h.ended IS NULL OFFSET 0) a ON true
                LEFT JOIN LATERAL (
                    SELECT h.share FROM shares h
                    WHERE h.store = $1 AND h.record = r.record AND h.ended IS NULL OFFSET 0) b
                    ON true
                LEFT JOIN LATERAL (
                    SELECT * FROM shares h WHERE h.store = $1
                        AND h.share = coalesce(a.share, b.share) OFFSET 0) s ON true
            """
        }

        private static let inZone = text(
            from: """
                unnest($3::bytea[]) WITH ORDINALITY AS n (name, number)
                    CROSS JOIN (SELECT $2::bigint AS zone) z
                """)

        static func query(_ names: [RecordName], in zone: ZoneNumber, _ store: Int64) -> Query {
            Query(inZone, .number(store), .number(zone.value), .texts(names.map(\.text)))
        }

        /// Adds what the rows say of records of which the same was not known yet.
        ///
        /// What cannot be read stays unknown: who asks for it is told so, and nobody else of the group.
        ///
        /// - Parameter names: those that were asked for, where it is noted which of them nobody has as a parent.
        static func add(
            _ rows: Rows, childless names: [RecordName] = [], to known: inout KnownShares
        ) {
            var parents: [RecordNumber: [Link]] = [:]
            for row in 0..<rows.count {
                let zone = ZoneNumber(rows.number(row, 1))
                if !names.isEmpty, rows.number(row, 7) == 0 {
                    let name = names[Int(rows.number(row, 0)) - 1]
                    known.note(childless: RecordKey(zone: zone, name: name))
                }
                guard let number = rows.optionalNumber(row, 2) else { continue }
                let record = RecordNumber(number)
                if known.membership(of: record) == nil {
                    known.note(membership(rows, row, in: zone, &known), of: record)
                }
                if known.own(record) == nil, let share = readable({ try share(rows, row, from: 8) })
                {
                    known.note(share, own: record)
                }
                if known.parents(of: record) == nil, let links = readable({ try parent(rows, row) })
                {
                    parents[record, default: []] += links
                }
            }
            for (record, links) in parents { known.note(links, parentsOf: record) }
        }

        /// What is read; nil where it cannot be.
        static func readable<Value>(_ read: () throws -> Value) -> Value? {
            do { return try read() } catch { return nil }
        }

        private static func membership(
            _ rows: Rows, _ row: Int, in zone: ZoneNumber, _ known: inout KnownShares
        ) -> CurrentMembership? {
            guard !rows.isNull(row, 3) else { return nil }
            let share = ShareNumber(rows.number(row, 3))
            known.note(share, in: zone)
            return CurrentMembership(share: share, position: rows.number(row, 4))
        }

        private static func parent(_ rows: Rows, _ row: Int) throws -> [Link] {
            guard !rows.isNull(row, 5) else { return [] }
            guard let name = RecordName(rows.text(row, 6)) else {
                throw InvalidRow(table: "links")
            }
            return [
                Link(targetZone: ZoneNumber(rows.number(row, 5)), target: name, kind: .parent)
            ]
        }

        /// The share whose columns begin at one; nil for none.
        static func share(_ rows: Rows, _ row: Int, from column: Int) throws -> StoredShare? {
            rows.isNull(row, column)
                ? nil
                : try StoredShare(
                    row: PostgreSQLCatalogRow(rows: rows, row: row), from: Int32(column))
        }
    }
#endif
