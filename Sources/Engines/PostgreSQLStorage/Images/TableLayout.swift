#if PostgreSQL
    import PostgreSQL

    /// A table of the schema that a session looks into first.
    struct TableLayout: Equatable {
        let name: String
        /// In their order, but for those that the server computes, and for the number of the store.
        let columns: [String]
        /// Whether its rows are of one store each.
        let hasStore: Bool

        /// All tables but the one for migrations.
        static func tables(of connection: Connection) throws -> [TableLayout] {
            let rows = try connection.run(
                """
                SELECT c.relname, a.attname FROM pg_class c
                    JOIN pg_attribute a ON a.attrelid = c.oid
                WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
                    AND NOT c.relispartition AND c.relname <> 'migrations' AND a.attnum > 0
                    AND NOT a.attisdropped AND a.attgenerated = ''
                ORDER BY c.relname, a.attnum
                """)
            var columns: [(table: String, columns: [String])] = []
            for row in 0..<rows.count {
                let (table, column) = (rows.text(row, 0), rows.text(row, 1))
                if columns.last?.table != table { columns.append((table, [])) }
                columns[columns.count - 1].columns.append(column)
            }
            return columns.map { table, columns in
                TableLayout(
                    name: table, columns: columns.filter { $0 != "store" },
                    hasStore: columns.contains("store"))
            }
        }
    }
#endif
