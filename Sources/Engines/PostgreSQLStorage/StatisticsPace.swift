#if PostgreSQL
    import PostgreSQL

    /// When the server is to look anew at what lies in the tables: as soon as there is four times as much.
    ///
    /// A session plans each statement once, for any values, and again only when the server has looked. A plan that was
    /// made for a table with almost nothing reads all of a zone for one record. The server itself looks once in a
    /// minute, if nobody has told it otherwise; a new database has 100,000 records by then.
    struct StatisticsPace {
        /// Statements that each session begins with.
        ///
        /// Plans for any values do not depend on which stores the server knew when it looked last: one for a store that
        /// it has not seen yet takes that store to be empty. All rows are asked for by keys: a table that had few rows
        /// when the server looked is not read as a whole later. Nor are all entries of a key read where the first few are
        /// asked for, as a plan with a bitmap does that was made while there were few.
        static let settings = [
            "SET plan_cache_mode = force_generic_plan", "SET jit = off", "SET enable_seqscan = off",
            "SET enable_bitmapscan = off",
        ]

        private static let growth = 4
        private static let rowsMin = 500

        private var rows: Int
        private var next: Int

        /// Asks for how much there was when the server looked last.
        init(_ connection: Connection) throws {
            let found = try connection.run(
                "SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = 'records'::regclass"
            )
            rows = Int(found.number(0, 0))
            next = max(Self.rowsMin, rows * Self.growth)
        }

        /// Whether the server is to look, now that so many rows have been saved.
        mutating func isDue(after saved: Int) -> Bool {
            rows += saved
            guard rows >= next else { return false }
            next = rows * Self.growth
            return true
        }

        /// The tables whose rows become many.
        static let look = Query(
            """
            ANALYZE records, links, zones, owners, shares, participants, memberships,
                current_memberships, grants, views, asset_files, asset_uses, work,
                changes, subscriptions, destinations, outbox, dead_letters, index_values,
                index_words, index_locations
            """)
    }
#endif
