#if PostgreSQL
    import PostgreSQL

    /// How the row of a store in `progress` is found: on the page where it was last, else by its key.
    ///
    /// Each group of writes makes another version of that row. While somebody keeps a snapshot open (a dump, a long
    /// report), no version goes, and the key leads to every one of them: after 50,000 a group took 2 ms longer. A page
    /// has some 30.
    enum ProgressRow {
        /// A new version goes to the page behind where one is full.
        private static let pages: Int64 = 2

        /// What finds the row without a lock; for a statement whose first parameter is the store.
        ///
        /// - Parameter page: the number of the parameter that says on which page the row was.
        static func condition(_ page: Int) -> String {
            """
            store + 0 = $1 AND ctid = coalesce(
                (SELECT ctid FROM progress WHERE \(nearby(page))),
                (SELECT ctid FROM progress WHERE store = $1))
            """
        }

        /// What reads the row and has nobody else write to the store until the transaction ends; the parameter as above.
        ///
        /// What was written since the statement began is followed from the version that it sees.
        static func locking(_ columns: String, _ page: Int) -> String {
            """
            WITH near AS MATERIALIZED (
                SELECT \(columns) FROM progress WHERE \(nearby(page)) FOR NO KEY UPDATE),
            far AS MATERIALIZED (
                SELECT \(columns) FROM progress
                WHERE store = $1 AND NOT EXISTS (SELECT FROM near) FOR NO KEY UPDATE)
            SELECT * FROM near UNION ALL SELECT * FROM far
            """
        }

        // The sum keeps the index, which leads to all versions, out of it.
        private static func nearby(_ page: Int) -> String {
            """
            store + 0 = $1 AND ctid >= format('(%s,0)', $\(page))::tid
                AND ctid < format('(%s,0)', $\(page) + \(pages))::tid
            """
        }

        /// The page of a version, as a column: the server writes a version's address as a point.
        static let page = "(ctid::text::point)[0]::bigint AS page"
    }
#endif
