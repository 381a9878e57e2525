#if PostgreSQL
    import CloudModel
    import IndexedQueries
    import PostgreSQL
    import Storage
    import StoredRows

    /// The rows of `indexes`: which there are, and how whole.
    enum IndexRows {
        static func query(_ store: Int64) -> Query {
            Query(
                """
                SELECT index, type, field, kind, state, filled_through FROM indexes
                WHERE store = $1
                """, .number(store))
        }

        /// The same, but nothing where the revision is one that is known.
        static func query(
            _ store: Int64, page: Int64, changedSince revision: Revision?
        ) -> Query {
            Query(
                changed, .number(store), .number(revision?.number ?? -1), .number(page),
                .number(revision?.life ?? -1))
        }

        private static let changed = """
            SELECT index, type, field, kind, state, filled_through FROM indexes
            WHERE store = $1 AND ($2, $4) <> (
                SELECT index_revision, incarnation FROM progress
                WHERE \(ProgressRow.condition(3)))
            """

        static func read(_ revision: Revision, _ rows: Rows) throws -> StoreFacts.KnownIndexes {
            let indexes = try (0..<rows.count).map { row in
                guard let kind = IndexKind(rawValue: rows.number(row, 3)),
                    let state = StoredIndex.State(rawValue: rows.number(row, 4))
                else { throw InvalidRow(table: "indexes") }
                return StoredIndex(
                    number: rows.number(row, 0), type: rows.number(row, 1),
                    need: IndexNeed(rows.text(row, 2), kind), state: state,
                    filledThrough: RecordNumber(rows.number(row, 5)))
            }
            return StoreFacts.KnownIndexes(revision: revision, catalog: IndexCatalog(indexes))
        }

        static func write(_ index: StoredIndex, _ store: Int64) -> Query {
            Query(
                """
                INSERT INTO indexes (store, index, type, field, kind, state, filled_through)
                VALUES ($1, $2, $3, $4, $5, $6, $7)
                ON CONFLICT (store, index) DO UPDATE SET
                    state = excluded.state, filled_through = excluded.filled_through
                """, .number(store), .number(index.number), .number(index.type),
                .text(index.need.field), .number(index.need.kind.rawValue),
                .number(index.state.rawValue), .number(index.filledThrough.value))
        }

        static func remove(_ index: StoredIndex, _ store: Int64) -> Query {
            Query(
                "DELETE FROM indexes WHERE store = $1 AND index = $2", .number(store),
                .number(index.number))
        }
    }

    extension StoreFacts {
        /// The indexes of a store at a number of the row `progress`.
        struct KnownIndexes: Sendable {
            var revision: Revision
            var catalog: IndexCatalog
        }
    }
#endif
