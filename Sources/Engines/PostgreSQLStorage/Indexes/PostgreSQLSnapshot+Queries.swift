#if PostgreSQL
    import CloudModel
    import Dispatch
    import IndexedQueries
    import PostgreSQL
    import Storage

    // Queries: the plan and the pages are every engine's, the indexes this one's.
    extension PostgreSQLSnapshot {
        /// The indexes as the snapshot has them.
        func storedIndexes(_ revision: Int64) throws -> StoreFacts.KnownIndexes {
            try facts.indexes(revision) {
                let rows = try askByKey([IndexRows.query(store)])
                return try IndexRows.read(revision, rows[0])
            }
        }

        /// A page of a query; the snapshot goes on behind it.
        func find(
            _ query: StoreQuery, _ indexes: IndexCatalog, _ visit: (StoredVersion) throws -> Void
        ) throws -> QueryCursor? {
            let reader = PostgreSQLIndexReader(self, indexes)
            return try QueryAnswer(self, reader, checkStop: checkStop).page(of: query, visit)
        }

        private static let numbered = """
            SELECT * FROM (
                SELECT n.number, \(VersionColumns.text), sum(octet_length(r.body)) OVER (
                    ORDER BY n.number ROWS UNBOUNDED PRECEDING) - octet_length(r.body) AS before
                FROM unnest($2::bigint[]) WITH ORDINALITY AS n (record, number)
                    CROSS JOIN LATERAL (
                        SELECT * FROM records WHERE store = $1 AND record = n.record OFFSET 0) AS r
                ORDER BY n.number) AS page
            WHERE before < $3
            """
        private static let numberedBytesMax: Int64 = 8_388_608

        /// Visits the current versions of records in their order.
        func readVersions(
            of records: [RecordNumber], _ visit: (_ index: Int, StoredVersion) throws -> Bool
        ) throws {
            var first = 0
            while first < records.count {
                try checkStop()
                let page = records[first...].prefix(1_000)
                let rows = try ask(
                    Self.numbered, .number(store), .numbers(page.map(\.value)),
                    .number(Self.numberedBytesMax))
                var (last, bytes) = (0, Int64(0))
                let goesOn = try visiting {
                    for row in 0..<rows.count {
                        last = Int(rows.number(row, 0))
                        bytes += Int64(rows.bytes(row, VersionColumns.count).count)
                        let goesOn = try VersionColumns.visit(rows, row, from: 1) {
                            zone, version in
                            guard !version.isDamaged else {
                                throw DamagedVersion(zone: zone, position: version.position)
                            }
                            return try visit(first + last - 1, version)
                        }
                        guard goesOn else { return false }
                    }
                    return true
                }
                guard goesOn else { return }
                // A page that its bytes have ended goes on behind its last record.
                first += bytes >= Self.numberedBytesMax ? last : page.count
            }
        }
    }
#endif
