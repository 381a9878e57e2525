#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    // Pages of versions: each is read as a whole, and ends at so many rows or bytes.
    extension PostgreSQLSnapshot {
        private static let pageRowsMax = 1_000
        /// What is fetched first for a caller who cannot tell how many rows they visit.
        private static let expectedRows = 128

        /// The rows of an ordered selection up to the bytes of a page.
        ///
        /// - Parameters:
        ///   - order: what the rows are ordered by; a key among them.
        ///   - bytes, limit: the numbers of the parameters.
        static func page(
            _ columns: String, from source: String, order: String, bytes: Int, limit: Int
        ) -> String {
            """
            SELECT * FROM (
                SELECT \(columns), sum(octet_length(r.body)) OVER (
                    ORDER BY \(order) ROWS UNBOUNDED PRECEDING) - octet_length(r.body) AS before
                FROM \(source) ORDER BY \(order) LIMIT $\(limit)) AS page
            WHERE before < $\(bytes)
            """
        }

        private static func feed(newestFirst: Bool) -> String {
            page(
                VersionColumns.text,
                from: """
                    records r WHERE r.store = $1 AND r.zone = $2 AND r.position > $3
                        AND r.position <= $4
                    """, order: newestFirst ? "r.position DESC" : "r.position", bytes: 5, limit: 6)
        }

        private static let oldestFirst = feed(newestFirst: false)
        private static let newestFirst = feed(newestFirst: true)

        /// Visits the versions of a zone between two positions.
        func scan(
            _ zone: ZoneNumber, after: Position, through: Position, newestFirst: Bool,
            expected: Int?, _ visit: (StoredVersion) throws -> Bool
        ) throws {
            var (after, through) = (after, through)
            var limit = min(max(expected ?? Self.expectedRows, 1), Self.pageRowsMax)
            while after < through {
                try checkStop()
                let rows = try ask(
                    newestFirst ? Self.newestFirst : Self.oldestFirst, .number(store),
                    .number(zone.value), .number(after), .number(through),
                    .number(VersionColumns.pageBytesMax), .number(Int64(limit)))
                let goesOn = try visiting {
                    try Self.visit(rows) { try visit($1) }
                }
                guard goesOn, rows.count > 0 else { return }
                let last = rows.number(rows.count - 1, 1)
                if newestFirst { through = last - 1 } else { after = last }
                limit = Self.pageRowsMax
            }
        }

        /// Visits the versions of a page.
        ///
        /// - Returns: false when the visits were ended.
        private static func visit(
            _ rows: Rows, _ visit: (ZoneNumber, StoredVersion) throws -> Bool
        ) throws -> Bool {
            for row in 0..<rows.count {
                let goesOn = try VersionColumns.visit(rows, row) { zone, version in
                    guard !version.isDamaged else {
                        throw DamagedVersion(zone: zone, position: version.position)
                    }
                    return try visit(zone, version)
                }
                guard goesOn else { return false }
            }
            return true
        }

        private static let survey = page(
            VersionColumns.text,
            from: "records r WHERE r.store = $1 AND (r.zone, r.position) > ($2, $3)",
            order: "r.zone, r.position", bytes: 4, limit: 5)

        func versions(
            after cursor: SurveyCursor, limit: Int,
            _ visit: (ZoneNumber, StoredVersion) throws -> Bool
        ) throws -> SurveyCursor? {
            var last = cursor
            var left = limit
            while left > 0 {
                try checkStop()
                let rows = try ask(
                    Self.survey, .number(store), .number(last.zone.value), .number(last.position),
                    .number(VersionColumns.pageBytesMax),
                    .number(Int64(min(left, Self.pageRowsMax))))
                guard rows.count > 0 else { return nil }
                let goesOn = try visiting {
                    try Self.visit(rows) { zone, version in
                        last = SurveyCursor(zone: zone, position: version.position)
                        left -= 1
                        return try visit(zone, version)
                    }
                }
                guard goesOn else { return last }
            }
            return last
        }

        private static let named = page(
            "n.number, \(VersionColumns.text)",
            from: VersionColumns.byNames, order: "n.number", bytes: 4, limit: 5)

        /// What asks for the current versions of names, in their order, up to the bytes of a page.
        static func namedPage(
            _ names: ArraySlice<RecordName>, in zone: ZoneNumber, of store: Int64
        ) -> Query {
            Query(
                named, .number(store), .number(zone.value), .texts(names.map(\.text)),
                .number(VersionColumns.pageBytesMax), .number(Int64(names.count)))
        }

        private static let numbered = page(
            "n.number, \(VersionColumns.text)",
            from: """
                unnest($2::bigint[]) WITH ORDINALITY AS n (record, number)
                    CROSS JOIN LATERAL (
                        SELECT * FROM records r
                        WHERE r.store = $1 AND r.record = n.record OFFSET 0) r
                """, order: "n.number", bytes: 3, limit: 4)

        /// A page of the keys from one on, and how many they are.
        private func page(of keys: CurrentKeys, from first: Int) throws -> (rows: Rows?, Int) {
            switch keys {
            case .names(let names, let zone):
                let page = names.dropFirst(first).prefix(Self.pageRowsMax)
                let rows = try askByKey([Self.namedPage(page, in: zone, of: store)])
                return (rows.first, page.count)
            case .records(let records):
                let page = records.dropFirst(first).prefix(Self.pageRowsMax)
                let rows = try ask(
                    Self.numbered, .number(store), .numbers(page.map(\.value)),
                    .number(VersionColumns.pageBytesMax), .number(Int64(page.count)))
                return (rows, page.count)
            }
        }

        /// Visits the current versions that keys lead to, in the keys' order.
        func readCurrent(
            _ keys: CurrentKeys, _ visit: (_ index: Int, ZoneNumber, StoredVersion) throws -> Bool
        ) throws {
            var first = 0
            let count = keys.count
            while first < count {
                try checkStop()
                let (rows, asked) = try page(of: keys, from: first)
                guard let rows else { return }
                var last = 0
                var bytes: Int64 = 0
                let goesOn = try visiting {
                    for row in 0..<rows.count {
                        last = Int(rows.number(row, 0))
                        bytes += Int64(rows.bytes(row, VersionColumns.count).count)
                        let goesOn = try VersionColumns.visit(rows, row, from: 1) {
                            try visit(first + last - 1, $0, $1)
                        }
                        guard goesOn else { return false }
                    }
                    return true
                }
                guard goesOn else { return }
                // A page that its bytes have ended goes on behind its last name.
                first += bytes >= VersionColumns.pageBytesMax ? last : asked
            }
        }

        // MARK: - Locations and links

        func locations(_ keys: LocationKeys) throws -> [RecordLocation?] {
            switch keys {
            case .records(let records):
                var found = [RecordLocation?](repeating: nil, count: records.count)
                guard !records.isEmpty else { return found }
                let rows = try ask(
                    """
                    SELECT n.number, r.zone, r.name, r.position
                    FROM unnest($2::bigint[]) WITH ORDINALITY AS n (record, number)
                        CROSS JOIN LATERAL (
                            SELECT * FROM records r
                            WHERE r.store = $1 AND r.record = n.record OFFSET 0) r
                    """, .number(store), .numbers(records.map(\.value)))
                for row in 0..<rows.count {
                    found[Int(rows.number(row, 0)) - 1] = try Self.location(rows, row)
                }
                return found
            case .position(let position, let zone):
                let rows = try ask(
                    """
                    SELECT 1, r.zone, r.name, r.position FROM records r
                    WHERE r.store = $1 AND r.zone = $2 AND r.position = $3
                    """, .number(store), .number(zone.value), .number(position))
                return [rows.count == 1 ? try Self.location(rows, 0) : nil]
            }
        }

        private static func location(_ rows: Rows, _ row: Int) throws -> RecordLocation {
            guard let name = RecordName(rows.text(row, 2)) else {
                throw InvalidRow(table: "records")
            }
            return RecordLocation(
                zone: ZoneNumber(rows.number(row, 1)), name: name, position: rows.number(row, 3))
        }

        func readSources(
            of targets: [RecordName], in zone: ZoneNumber, kinds: ClosedRange<LinkKind>,
            after: RecordNumber, limit: Int
        ) throws -> [[LinkSource]] {
            guard !targets.isEmpty else { return [] }
            let queries = targets.map { target in
                Query(
                    Self.sources, .number(store), .number(zone.value), .text(target.text),
                    .number(kinds.lowerBound.rawValue), .number(kinds.upperBound.rawValue),
                    .number(after.value), .number(Int64(limit)))
            }
            return try ask(queries).map(Self.linkSources)
        }

        private static let sources = """
            SELECT l.kind, l.source, r.zone, r.name
            FROM links l JOIN records r ON r.store = $1 AND r.record = l.source
                JOIN zones z ON z.store = $1 AND z.zone = r.zone AND z.deleted_at IS NULL
            WHERE l.store = $1 AND l.target_zone = $2 AND l.target_name = $3
                AND l.kind BETWEEN $4 AND $5 AND l.source > $6
            ORDER BY l.kind, l.source LIMIT $7
            """

        private static func linkSources(_ rows: Rows) throws -> [LinkSource] {
            try (0..<rows.count).map { row in
                guard let kind = LinkKind(rawValue: rows.number(row, 0)),
                    let name = RecordName(rows.text(row, 3))
                else { throw InvalidRow(table: "links") }
                return LinkSource(
                    kind: kind, record: RecordNumber(rows.number(row, 1)),
                    zone: ZoneNumber(rows.number(row, 2)), name: name)
            }
        }

        func readLinks(
            of records: [RecordNumber], kinds: ClosedRange<LinkKind>
        ) throws -> [[Link]] {
            var found = [[Link]](repeating: [], count: records.count)
            guard !records.isEmpty else { return found }
            let rows = try ask(
                """
                SELECT n.number, l.target_zone, l.target_name, l.kind
                FROM unnest($2::bigint[]) WITH ORDINALITY AS n (record, number)
                    CROSS JOIN LATERAL (
                        SELECT * FROM links l WHERE l.store = $1 AND l.source = n.record
                            AND l.kind BETWEEN $3 AND $4 OFFSET 0) l
                """, .number(store), .numbers(records.map(\.value)),
                .number(kinds.lowerBound.rawValue), .number(kinds.upperBound.rawValue))
            for row in 0..<rows.count {
                guard let target = RecordName(rows.text(row, 2)),
                    let kind = LinkKind(rawValue: rows.number(row, 3))
                else { throw InvalidRow(table: "links") }
                found[Int(rows.number(row, 0)) - 1].append(
                    Link(
                        targetZone: ZoneNumber(rows.number(row, 1)), target: target, kind: kind))
            }
            return found
        }
    }
#endif
