#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage

    /// Rows of indexes by their tables, as arrays for one statement each.
    struct EntryRows {
        private var values: [EntryRow] = []
        private var words: [EntryRow] = []
        private var locations: [EntryRow] = []

        init(_ rows: some Sequence<EntryRow>) {
            for row in rows {
                switch row.key {
                case .value: values.append(row)
                case .word: words.append(row)
                case .location: locations.append(row)
                }
            }
        }

        private static let byKey = "unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[])"
        private static let byCell = """
            unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::float8[], \
            $7::float8[])
            """

        /// How many of the rows there are, an answer for each table that has some.
        func counting(_ store: Int64) -> [Query] {
            func count(
                _ table: String, _ key: String, _ type: String, _ rows: [EntryRow]
            )
                -> Query?
            {
                guard !rows.isEmpty else { return nil }
                return Query(
                    """
                    SELECT count(*)
                    FROM unnest($2::bigint[], $3::bigint[], $4::\(type)[], $5::bigint[])
                        AS n (index, zone, key, record) CROSS JOIN LATERAL (
                            SELECT 1 FROM \(table) e
                            WHERE e.store = $1 AND e.index = n.index AND e.zone = n.zone
                                AND e.\(key) = n.key AND e.record = n.record
                            OFFSET 0) AS found
                    """, Self.keys(store, rows))
            }
            return [
                count("index_values", "value", "bytea", values),
                count("index_words", "word", "bytea", words),
                count("index_locations", "cell", "bigint", locations),
            ].compactMap { $0 }
        }

        func removing(_ store: Int64) -> [Query] {
            func remove(
                _ table: String, _ key: String, _ type: String, _ rows: [EntryRow]
            )
                -> Query
            {
                Query(
                    """
                    DELETE FROM \(table) e
                    USING unnest($2::bigint[], $3::bigint[], $4::\(type)[], $5::bigint[])
                        AS n (index, zone, key, record)
                    WHERE e.store = $1 AND e.index = n.index AND e.zone = n.zone
                        AND e.\(key) = n.key AND e.record = n.record
                    """, Self.keys(store, rows))
            }
            return [
                values.isEmpty ? nil : remove("index_values", "value", "bytea", values),
                words.isEmpty ? nil : remove("index_words", "word", "bytea", words),
                locations.isEmpty
                    ? nil : remove("index_locations", "cell", "bigint", locations),
            ].compactMap { $0 }
        }

        func adding(_ store: Int64) -> [Query] {
            func add(
                _ table: String, _ columns: String, _ source: String, _ values: [Value]
            )
                -> Query
            {
                Query(
                    """
                    INSERT INTO \(table) (store, index, zone, \(columns))
                    SELECT $1, * FROM \(source) ON CONFLICT DO NOTHING
                    """, values)
            }
            let places = locations.map(\.location)
            return [
                values.isEmpty
                    ? nil
                    : add("index_values", "value, record", Self.byKey, Self.keys(store, values)),
                words.isEmpty
                    ? nil
                    : add("index_words", "word, record", Self.byKey, Self.keys(store, words)),
                locations.isEmpty
                    ? nil
                    : add(
                        "index_locations", "cell, record, latitude, longitude", Self.byCell,
                        Self.keys(store, locations) + [
                            .reals(places.map(\.latitude)), .reals(places.map(\.longitude)),
                        ]),
            ].compactMap { $0 }
        }

        private static func keys(_ store: Int64, _ rows: [EntryRow]) -> [Value] {
            let keys: Value =
                if case .location? = rows.first?.key {
                    .numbers(rows.map { GlobeCells.cell(of: $0.location) })
                } else {
                    .byteStrings(rows.map(\.bytes))
                }
            return [
                .number(store), .numbers(rows.map(\.index)), .numbers(rows.map(\.zone.value)),
                keys, .numbers(rows.map(\.record.value)),
            ]
        }
    }

    extension EntryRow {
        /// The key in its table, where that is bytes.
        fileprivate var bytes: [UInt8] {
            switch key {
            case .value(let bytes), .word(let bytes): bytes
            case .location: []
            }
        }

        fileprivate var location: RecordQuery.Coordinate {
            if case .location(let location) = key { return location }
            return RecordQuery.Coordinate(latitude: 0, longitude: 0)
        }
    }
#endif
