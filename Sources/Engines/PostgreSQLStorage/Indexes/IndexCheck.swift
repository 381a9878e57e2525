#if PostgreSQL
    import CloudModel
    import IndexedQueries
    import PostgreSQL
    import Storage

    /// Holds the indexes of a store to what its records say.
    ///
    /// What is being emptied counts no more, and of a deleted zone nothing does.
    struct IndexCheck {
        private let snapshot: PostgreSQLSnapshot
        private let indexes: [StoredIndex]
        private let zones: Set<ZoneNumber>
        private var page: [EntryRow] = []
        private var expected = 0
        private var missing = 0

        init(_ snapshot: PostgreSQLSnapshot) throws {
            self.snapshot = snapshot
            indexes = try snapshot.storedIndexes(snapshot.progress().revision(\.indexRevision))
                .catalog.all
                .filter { $0.state != .leaving }
            let living = try snapshot.ask(
                "SELECT zone FROM zones WHERE store = $1 AND deleted_at IS NULL",
                .number(snapshot.store))
            zones = Set((0..<living.count).map { ZoneNumber(living.number($0, 0)) })
        }

        /// Notes what indexes must have of a version.
        mutating func note(_ version: StoredVersion, in zone: ZoneNumber) throws {
            guard !version.flags.contains(.tombstone), zones.contains(zone) else { return }
            let holding = indexes.filter { $0.type == version.type && $0.holds(version.record) }
            guard !holding.isEmpty else { return }
            let fields = try version.storedFields()
            for index in holding {
                page += EntryRow.all(of: fields, index, version.record, in: zone)
            }
        }

        /// Looks for what was noted.
        mutating func compare() throws {
            guard !page.isEmpty else { return }
            let found = try snapshot.ask(EntryRows(page).counting(snapshot.store))
                .reduce(0) { $0 + Int($1.number(0, 0)) }
            expected += page.count
            missing += page.count - found
            page = []
        }

        func problems() throws -> [String] {
            let numbers = Value.numbers(indexes.flatMap { [$0.number, -$0.number] })
            let counts = try snapshot.ask(
                ["index_values", "index_words", "index_locations"].map {
                    Query(
                        "SELECT count(*) FROM \($0) WHERE store = $1 AND index = ANY ($2) "
                            + "AND zone = ANY ($3)", .number(snapshot.store), numbers,
                        .numbers(zones.map(\.value)))
                })
            let excess = counts.reduce(0) { $0 + Int($1.number(0, 0)) } - (expected - missing)
            var problems: [String] = []
            if missing > 0 { problems.append("values of records that indexes lack: \(missing)") }
            if excess > 0 {
                problems.append("entries in indexes that no record has: \(excess)")
            }
            return problems
        }
    }
#endif
