#if PostgreSQL
    import PostgreSQL
    import StoredRows
    import Telemetry

    /// The series that there are, and their numbers.
    enum SeriesTable {
        private static let columns =
            "kind, container, environment, database, operation, client, version"

        /// The numbers of names, in their order; what has none is given one.
        static func numbers(of names: [SeriesName], _ session: Connection) throws -> [Int64] {
            guard !names.isEmpty else { return [] }
            let values: [Value] = [
                .numbers(names.map(\.kind.rawValue)), .texts(names.map(\.container)),
                .texts(names.map(\.environment)), .texts(names.map(\.database)),
                .texts(names.map(\.operation)), .texts(names.map(\.client)),
                .texts(names.map(\.version)),
            ]
            let source = """
                unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[],
                    $6::bytea[], $7::bytea[])
                """
            // Only what is new: an insert that meets a row takes a number for nothing.
            let found = Query(
                """
                SELECT s.id FROM \(source) WITH ORDINALITY AS n (\(columns), number)
                    JOIN series s USING (\(columns)) ORDER BY n.number
                """, values)
            let known = try session.run([found])[0]
            guard known.count < names.count else { return numbers(known) }
            let made = Query(
                """
                INSERT INTO series (\(columns))
                SELECT \(columns) FROM \(source) AS n (\(columns))
                WHERE NOT EXISTS (SELECT 1 FROM series s WHERE (s.container, s.environment, s.kind,
                        s.operation, s.database, s.client, s.version) = (n.container, n.environment,
                        n.kind, n.operation, n.database, n.client, n.version))
                """, values)
            let all = try session.run([made, found])[1]
            guard all.count == names.count else { throw InvalidRow(table: "series") }
            return numbers(all)
        }

        private static func numbers(_ rows: Rows) -> [Int64] {
            (0..<rows.count).map { rows.number($0, 0) }
        }

        /// The series that a question is about, in the order in which they are told.
        static func series(_ question: RowQuestion) -> Query {
            let container = question.container.map { Value.text($0) } ?? .bytes(nil)
            let environment = question.environment.map { Value.text($0) } ?? .bytes(nil)
            return Query(
                """
                SELECT id, \(columns) FROM series
                WHERE ($1 IS NULL OR container = $1) AND ($2 IS NULL OR environment = $2)
                    AND kind = ANY ($3)
                ORDER BY container, environment, kind, operation, database, client, version
                """, container, environment, .numbers(question.kinds.map(\.rawValue)))
        }

        static func name(_ rows: Rows, _ row: Int) throws -> SeriesName {
            guard let kind = SeriesName.Kind(rawValue: rows.number(row, 1)) else {
                throw InvalidRow(table: "series")
            }
            return SeriesName(
                kind, container: rows.text(row, 2), environment: rows.text(row, 3),
                database: rows.text(row, 4), operation: rows.text(row, 5),
                client: rows.text(row, 6), version: rows.text(row, 7))
        }
    }
#endif
