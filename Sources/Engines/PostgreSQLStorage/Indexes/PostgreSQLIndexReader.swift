#if PostgreSQL
    import CloudModel
    import IndexedQueries
    import PostgreSQL
    import Storage
    import StoredRows

    /// Reads the tables of indexes on one snapshot: each question is one round trip.
    final class PostgreSQLIndexReader: IndexReading {
        // NB: the reader lives as long as one question of the snapshot.
        private unowned let snapshot: PostgreSQLSnapshot
        private let catalog: IndexCatalog
        /// Exact places that searches have brought.
        private var known: [RecordNumber: RecordQuery.Coordinate] = [:]

        private var store: Value { .number(snapshot.store) }

        init(_ snapshot: PostgreSQLSnapshot, _ catalog: IndexCatalog) {
            self.snapshot = snapshot
            self.catalog = catalog
        }

        func indexes(ofType type: Int64) -> [StoredIndex] { catalog.ofType(type) }

        /// A write brings all entries itself.
        func isLate(_ index: Int64, in zone: ZoneNumber) -> Bool { false }

        // MARK: - Values

        private static func range(_ columns: String, _ way: String) -> String {
            """
            SELECT \(columns) FROM index_values WHERE store = $1 AND index = $2 AND zone = $3
                AND (value, record) > ($4, $5) AND (value, record) < ($6, $7)
            ORDER BY value \(way), record \(way) LIMIT $8
            """
        }

        private static let ascending = range("value, record", "ASC")
        private static let descending = range("value, record", "DESC")
        private static let counted = "SELECT count(*) FROM (\(range("1", "ASC"))) AS rows"

        private func values(_ range: IndexRange, _ limit: Int) -> [Value] {
            [
                // What is absent stands beside the values, under the number turned round.
                store, .number(range.rows == .values ? range.index : -range.index),
                .number(range.zone.value), .bytes(Self.bytes(range.from.value)),
                .number(range.from.record), .bytes(Self.bytes(range.to.value)),
                .number(range.to.record), .number(Int64(limit)),
            ]
        }

        private static func bytes(_ value: IndexPosition.Value) -> [UInt8] {
            switch value {
            case .lowest: OrderedValue.lowest
            case .value(let value): OrderedValue.bytes(value)
            case .highest: OrderedValue.highest
            }
        }

        func append(
            _ range: IndexRange, descending: Bool, limit: Int, to rows: inout [IndexRow]
        ) throws {
            let found = try ask(
                descending ? Self.descending : Self.ascending, values(range, limit))
            for row in 0..<found.count {
                guard let value = OrderedValue.value(found.bytes(row, 0)) else {
                    throw InvalidRow(table: "index_values")
                }
                rows.append(IndexRow(value: value, record: RecordNumber(found.number(row, 1))))
            }
        }

        func count(_ range: IndexRange, limit: Int) throws -> Int {
            Int(try ask(Self.counted, values(range, limit)).number(0, 0))
        }

        private static let countedValues = """
            SELECT count(*) FROM (
                SELECT 1 FROM unnest($4::bytea[]) AS n (value) CROSS JOIN LATERAL (
                    SELECT 1 FROM index_values WHERE store = $1 AND index = $2 AND zone = $3
                        AND value = n.value
                    LIMIT $5) AS v
                LIMIT $5) AS rows
            """

        func count(_ search: ValueSearch, limit: Int) throws -> Int {
            Int(
                try ask(Self.countedValues, keys(search) + [.number(Int64(limit))]).number(0, 0))
        }

        private func keys(_ search: ValueSearch) -> [Value] {
            [
                store, .number(search.index), .number(search.zone.value),
                .byteStrings(search.values.map { OrderedValue.bytes($0) }),
            ]
        }

        func candidates(
            _ values: ValueSearch, after: RecordNumber, limit: Int
        ) throws -> [any Candidates] {
            [
                RecordWalk(zone: values.zoneIndex, after: after, atOnce: limit + 1) {
                    [self] after, limit in
                    try records(Self.anyValue, keys(values), after: after, limit: limit)
                }
            ]
        }

        // MARK: - Words

        /// Of each of some keys the first records, merged.
        private static func any(_ table: String, _ column: String) -> String {
            """
            SELECT DISTINCT e.record FROM unnest($4::bytea[]) AS n (key) CROSS JOIN LATERAL (
                SELECT record FROM \(table) WHERE store = $1 AND index = $2 AND zone = $3
                    AND \(column) = n.key AND record > $5
                ORDER BY record LIMIT $6) AS e
            ORDER BY e.record LIMIT $6
            """
        }

        private static let anyValue = any("index_values", "value")
        private static let anyWord = any("index_words", "word")

        /// Goes through the records of the rarest word, as far as anybody counts, and looks the others up.
        private static let allWords = """
            SELECT e.record FROM index_words e
            WHERE e.store = $1 AND e.index = $2 AND e.zone = $3 AND e.record > $5
                AND e.word = (
                    SELECT n.word FROM unnest($4::bytea[]) AS n (word) CROSS JOIN LATERAL (
                        SELECT count(*) AS count FROM (
                            SELECT 1 FROM index_words WHERE store = $1 AND index = $2
                                AND zone = $3 AND word = n.word LIMIT 1000) AS rows) AS c
                    ORDER BY c.count, n.word LIMIT 1)
                AND cardinality($4::bytea[]) = (
                    SELECT count(*) FROM unnest($4::bytea[]) AS n (word) CROSS JOIN LATERAL (
                        SELECT 1 FROM index_words o WHERE o.store = $1 AND o.index = $2
                            AND o.zone = $3 AND o.word = n.word AND o.record = e.record
                        OFFSET 0) AS found)
            ORDER BY e.record LIMIT $6
            """

        func records(
            of index: Int64, in zone: ZoneNumber, with search: WordSearch, after: RecordNumber,
            limit: Int
        ) throws -> [RecordNumber] {
            try records(
                search.needsAll ? Self.allWords : Self.anyWord,
                [
                    store, .number(index), .number(zone.value),
                    .byteStrings(Array(Set(search.words))),
                ], after: after, limit: limit)
        }

        private func records(
            _ text: String, _ values: [Value], after: RecordNumber, limit: Int
        ) throws -> [RecordNumber] {
            let rows = try ask(
                text, values + [.number(after.value), .number(Int64(limit))])
            return (0..<rows.count).map { RecordNumber(rows.number($0, 0)) }
        }

        // MARK: - Locations

        private static func region(_ condition: String, limit: Int) -> String {
            """
            SELECT e.record, e.latitude, e.longitude
            FROM unnest($4::bigint[], $5::bigint[]) AS n (first, last) CROSS JOIN LATERAL (
                SELECT record, latitude, longitude FROM index_locations
                WHERE store = $1 AND index = $2 AND zone = $3
                    AND cell BETWEEN n.first AND n.last AND \(condition)
                OFFSET 0) AS e
            LIMIT $\(limit)
            """
        }

        private static let inRectangle = region(
            "latitude BETWEEN $6 AND $7 AND longitude BETWEEN $8 AND $9", limit: 10)
        /// By the cosine of the angle from the centre, as `GlobeRing` has its edges.
        private static let inRing = region(
            """
            $7 * sin(radians(latitude)) + $8 * cos(radians(latitude))
                * cos(radians(longitude - $6)) BETWEEN $10 AND $9
            """, limit: 11)

        func locations(
            of index: Int64, in zone: ZoneNumber, _ rectangle: RecordQuery.Coordinate.Rectangle,
            limit: Int
        ) throws -> [LocatedRecord] {
            try locations(
                Self.inRectangle, index, zone, GlobeCells.cover { $0.meets(rectangle) },
                [rectangle.south, rectangle.north, rectangle.west, rectangle.east], limit)
        }

        func locations(
            of index: Int64, in zone: ZoneNumber, _ ring: GlobeRing, limit: Int
        ) throws -> [LocatedRecord] {
            try locations(
                Self.inRing, index, zone, GlobeCells.cover { ring.mayMeet($0) }, ring.numbers,
                limit)
        }

        private func locations(
            _ text: String, _ index: Int64, _ zone: ZoneNumber, _ cells: [ClosedRange<Int64>],
            _ numbers: [Double], _ limit: Int
        ) throws -> [LocatedRecord] {
            guard !cells.isEmpty else { return [] }
            let rows = try ask(
                text,
                [
                    store, .number(index), .number(zone.value),
                    .numbers(cells.map(\.lowerBound)), .numbers(cells.map(\.upperBound)),
                ] + numbers.map { .real($0) } + [.number(Int64(limit))])
            return (0..<rows.count).map { row in
                let location = RecordQuery.Coordinate(
                    latitude: rows.real(row, 1), longitude: rows.real(row, 2))
                let record = RecordNumber(rows.number(row, 0))
                known[record] = location
                return LocatedRecord(record: record, location: location)
            }
        }

        func location(of record: RecordNumber, in index: Int64) -> RecordQuery.Coordinate? {
            known[record]
        }

        // MARK: - Records

        func versions(
            of records: [RecordNumber], _ visit: (_ index: Int, StoredVersion) throws -> Bool
        ) throws {
            try snapshot.readCurrent(.records(records)) { index, zone, version in
                guard !version.isDamaged else {
                    throw DamagedVersion(zone: zone, position: version.position)
                }
                return try visit(index, version)
            }
        }

        private func ask(_ text: String, _ values: [Value]) throws -> Rows {
            try snapshot.checkStop()
            guard let rows = try snapshot.ask([Query(text, values)]).first else {
                throw InvalidRow(table: "an answer")
            }
            return rows
        }
    }

    /// Proposes records in the order of their numbers, some at once.
    private final class RecordWalk: Candidates {
        private let zone: Int
        private let atOnce: Int
        private let read: (_ after: RecordNumber, _ limit: Int) throws -> [RecordNumber]
        private var after: RecordNumber
        private var records: ArraySlice<RecordNumber> = []
        private var isAtEnd = false

        init(
            zone: Int, after: RecordNumber, atOnce: Int,
            _ read: @escaping (_ after: RecordNumber, _ limit: Int) throws -> [RecordNumber]
        ) {
            self.zone = zone
            self.after = after
            self.atOnce = min(max(atOnce, 8), 1_024)
            self.read = read
        }

        func next() throws -> Candidate? {
            if records.isEmpty {
                guard !isAtEnd else { return nil }
                let found = try read(after, atOnce)
                isAtEnd = found.count < atOnce
                records = found[...]
                guard let last = found.last else { return nil }
                after = last
            }
            return records.popFirst().map { Candidate(key: nil, record: $0, zone: zone) }
        }
    }
#endif
