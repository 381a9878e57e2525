#if PostgreSQL
    import CloudModel
    import Dispatch
    import PostgreSQL
    import Storage
    import StoredRows

    /// The reading half of the contract, on one session.
    ///
    /// Confined to one thread at a time. The transaction begins with the first question, in the same round trip, so that
    /// a read of one question waits for the server once.
    class PostgreSQLSnapshot: StoreSnapshot {
        /// What a read begins with.
        static let begin = Query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

        private(set) var connection: Connection
        /// The number of the store.
        let store: Int64
        let facts: StoreFacts
        private let stop: StopSignal?
        /// Makes another session, where this one has ended since it was last used; once.
        private var renew: (() throws -> Connection)?
        private var begun: Progress?
        /// Whether a transaction is open that this one has begun, whatever came of its first question.
        private var hasBegun = false
        /// Whether somebody looks at a version.
        private var isVisiting = false

        init(
            _ connection: Connection, _ store: Int64, _ facts: StoreFacts, stop: StopSignal?,
            renew: (() throws -> Connection)? = nil
        ) {
            self.renew = renew
            self.connection = connection
            self.store = store
            self.facts = facts
            self.stop = stop
        }

        /// Goes on in a transaction that somebody else has begun, and ends.
        ///
        /// - Parameter progress: where the store stands, as the transaction has it.
        init(
            within connection: Connection, _ store: Int64, _ facts: StoreFacts,
            _ progress: Progress
        ) {
            self.connection = connection
            self.store = store
            self.facts = facts
            stop = nil
            begun = progress
        }

        /// As above; asks where the store stands.
        convenience init(within connection: Connection, _ store: Int64, _ facts: StoreFacts) throws
        {
            let rows = try connection.run([facts.progressQuery(store, locked: false)])
            self.init(within: connection, store, facts, try facts.progress(rows[0]))
        }

        /// Where the store stands, as the snapshot has it.
        func progress() throws -> Progress {
            if let begun { return begun }
            _ = try ask([])
            guard let begun else { throw InvalidRow(table: "progress") }
            return begun
        }

        /// Asks questions together: one round trip.
        func ask(_ queries: [Query]) throws -> [Rows] {
            guard begun == nil else { return try connection.run(queries) }
            let start = [Self.begin, facts.progressQuery(store, locked: false)]
            let rows = try first(start + queries)
            hasBegun = true
            begun = try facts.progress(rows[1])
            return Array(rows.dropFirst(start.count))
        }

        /// Nothing has been read yet: so another session is as good.
        private func first(_ queries: [Query]) throws -> [Rows] {
            do { return try connection.run(queries) } catch let error as PostgreSQLError
                where error.endsSession
            {
                guard let renew else { throw error }
                self.renew = nil
                connection = try renew()
                return try connection.run(queries)
            }
        }

        /// Asks one question.
        func ask(_ text: String, _ values: Value...) throws -> Rows {
            guard let rows = try ask([Query(text, values)]).first else {
                throw InvalidRow(table: "an answer")
            }
            return rows
        }

        /// As `ask`, for what lies under keys: a transaction knows by itself what it has written there.
        func askByKey(_ queries: [Query]) throws -> [Rows] { try ask(queries) }

        /// Ends the transaction without waiting for it.
        func end() throws {
            guard hasBegun else { return }
            (hasBegun, begun) = (false, nil)
            try connection.runLater([Query("COMMIT")])
        }

        /// Has the server stop questions that take longer than that from now.
        func limit(milliseconds: Int) {
            let end = DispatchTime.now() + .milliseconds(milliseconds)
            connection.deadline = connection.deadline.map { min($0, end) } ?? end
        }

        func checkStop() throws { try stop?.check() }

        /// Keeps visits apart, as the contract says.
        func visiting<Result>(_ body: () throws -> Result) throws -> Result {
            guard !isVisiting else {
                throw BrokenInvariant("no version is read while another is being visited")
            }
            isVisiting = true
            defer { isVisiting = false }
            return try body()
        }

        // MARK: - The schema and the lives

        var schema: Schema {
            get throws { try storedSchema(try progress().revision(\.schemaRevision)).schema }
        }

        func storedSchema(_ revision: Revision) throws -> StoreFacts.KnownSchema {
            try facts.schema(revision) {
                try SchemaRows.read(revision, try askByKey(SchemaRows.queries(store)))
            }
        }

        var identity: StoreIdentity {
            get throws {
                let progress = try progress()
                return try lives(of: progress).identity(progress)
            }
        }

        func lives(of progress: Progress) throws -> StoreFacts.KnownLives {
            try facts.lives(of: progress) {
                try StoreFacts.KnownLives(
                    progress, try askByKey(StoreFacts.KnownLives.queries(store)))
            }
        }

        func schemaHistory(limit: Int) throws -> [StoredSchemaChange] {
            let rows = try ask(
                """
                SELECT number, made_at, made_by, difference FROM schema_changes WHERE store = $1
                ORDER BY number DESC LIMIT $2
                """, .number(store), .number(Int64(limit)))
            return (0..<rows.count).map {
                StoredSchemaChange(
                    number: Int(clamping: rows.number($0, 0)), madeAt: rows.number($0, 1),
                    who: rows.text($0, 2),
                    difference: rows.text($0, 3).split(separator: "\n").map(String.init))
            }
        }

        func assignedRoles(of users: [UserRecordName]) throws -> [Set<Int64>] {
            guard !users.isEmpty else { return [] }
            let rows = try ask(
                """
                SELECT n.number, r.role
                FROM unnest($2::bytea[]) WITH ORDINALITY AS n (name, number)
                    JOIN assigned_roles r ON r.store = $1 AND r.user_record_name = n.name
                """, .number(store), .texts(users.map(\.text)))
            var roles = [Set<Int64>](repeating: [], count: users.count)
            for row in 0..<rows.count {
                roles[Int(rows.number(row, 0)) - 1].insert(rows.number(row, 1))
            }
            return roles
        }

        // MARK: - Owners and zones

        func owners(_ keys: [OwnerKey]) throws -> [StoredOwner?] {
            guard !keys.isEmpty else { return [] }
            let queries = keys.map { ZoneRows.ownerQuery(store, $0) }
            let areNames = keys.allSatisfy { if case .name = $0 { true } else { false } }
            return try (areNames ? askByKey(queries) : ask(queries)).map {
                $0.count == 1 ? ZoneRows.owner($0, 0) : nil
            }
        }

        func zones(_ keys: [ZoneKey]) throws -> [StoredZone?] {
            guard !keys.isEmpty else { return [] }
            let queries = keys.map { ZoneRows.zoneQuery(store, $0) }
            let areNames = keys.allSatisfy { if case .number = $0 { false } else { true } }
            return try (areNames ? askByKey(queries) : ask(queries)).map {
                $0.count == 1 ? try ZoneRows.zone($0, 0) : nil
            }
        }

        func zones(of owner: OwnerNumber, _ selection: ZoneSelection) throws -> [StoredZone] {
            let rows =
                switch selection {
                case .living:
                    try ask(
                        """
                        SELECT \(ZoneRows.columns) FROM current_zones z
                        WHERE z.store = $1 AND z.owner = $2 AND z.deleted_at IS NULL ORDER BY z.name
                        """, .number(store), .number(owner.value))
                case .changed(let position, let limit):
                    try ask(
                        ZoneRows.changedText, .number(store), .number(owner.value),
                        .number(max(position, 0)),
                        .number(Int64(limit)))
                case .stored(let limit):
                    try ask(
                        """
                        SELECT \(ZoneRows.columns) FROM current_zones z
                        WHERE z.store = $1 AND z.owner = $2 LIMIT $3
                        """, .number(store), .number(owner.value), .number(Int64(limit)))
                }
            return try (0..<rows.count).map { try ZoneRows.zone(rows, $0) }
        }

        func amount(of owner: OwnerNumber?) throws -> (bytes: Int64, owners: Int, records: Int?) {
            let rows = try ask(
                """
                SELECT coalesce(sum(used_bytes), 0)::bigint, count(*),
                    CASE WHEN $2::bigint IS NOT NULL THEN (
                        SELECT coalesce(sum(record_count), 0)::bigint FROM current_zones
                        WHERE store = $1 AND owner = $2 AND deleted_at IS NULL) END
                FROM current_owners WHERE store = $1 AND ($2 IS NULL OR owner = $2)
                """, .number(store), .number(owner?.value))
            return (
                rows.number(0, 0), Int(rows.number(0, 1)), rows.optionalNumber(0, 2).map(Int.init)
            )
        }

        func clientToken(_ key: ClientTokenKey) throws -> [UInt8]? {
            let rows = try ask(
                """
                SELECT data FROM client_tokens
                WHERE store = $1 AND zone = $2 AND user_record_name = $3 AND device = $4
                """, .number(store), .number(key.zone.value), .text(key.user.text),
                .text(key.device))
            return rows.count == 1 ? Array(rows.bytes(0, 0)) : nil
        }

        // MARK: - What shares say, which a transaction knows by itself

        func shares(_ keys: ShareKeys) throws -> [StoredShare?] { try readShares(keys) }

        func grants(_ keys: [GrantKey]) throws -> [[StoredGrant]] { try readGrants(keys) }

        func views(of viewer: UserRecordName, _ selection: ViewSelection) throws -> [StoredView] {
            try readViews(of: viewer, selection)
        }

        func currentMemberships(of records: [RecordNumber]) throws -> [CurrentMembership?] {
            try readMemberships(of: records)
        }

        func coverageWork(_ keys: [CoverageWorkKey]) throws -> [Position?] {
            try readCoverageWork(keys)
        }

        func links(of records: [RecordNumber], kinds: ClosedRange<LinkKind>) throws -> [[Link]] {
            try readLinks(of: records, kinds: kinds)
        }

        func sources(
            of targets: [RecordName], in zone: ZoneNumber, kinds: ClosedRange<LinkKind>,
            after: RecordNumber, limit: Int
        ) throws -> [[LinkSource]] {
            try readSources(of: targets, in: zone, kinds: kinds, after: after, limit: limit)
        }

        // MARK: - Records, which a transaction knows by itself

        func heads(of names: [RecordName], in zone: ZoneNumber) throws -> [StoredHead?] {
            var found = [StoredHead?](repeating: nil, count: names.count)
            guard !names.isEmpty else { return found }
            let rows = try ask(
                """
                SELECT n.number, r.record, r.position
                FROM \(VersionColumns.byNames)
                """, .number(store), .number(zone.value), .texts(names.map(\.text)))
            for row in 0..<rows.count {
                found[Int(rows.number(row, 0)) - 1] = StoredHead(
                    record: RecordNumber(rows.number(row, 1)), position: rows.number(row, 2))
            }
            return found
        }

        func current(
            _ keys: CurrentKeys, inOrder: Bool,
            _ visit: (_ index: Int, StoredVersion) throws -> Bool
        ) throws { try readCurrent(keys) { try visit($0, $2) } }

        func versions(
            in zone: ZoneNumber, after: Position, through: Position, newestFirst: Bool,
            expected: Int?, _ visit: (StoredVersion) throws -> Bool
        ) throws {
            try scan(
                zone, after: after, through: through, newestFirst: newestFirst, expected: expected,
                visit)
        }

        func page(
            of query: StoreQuery, _ visit: (StoredVersion) throws -> Void
        ) throws -> QueryCursor? {
            limit(milliseconds: query.bounds.millisecondsMax)
            let indexes = try storedIndexes(try progress().revision(\.indexRevision))
            return try find(query, indexes.catalog, visit)
        }

        func nextWorkMoment(
            _ kinds: [WorkKind]?, for holder: WorkHolder
        ) throws -> Milliseconds? {
            let numbers = Self.workNumbers.all(of: kinds)
            let rows = try ask(
                """
                SELECT min(greatest(due_at, CASE WHEN holder <> $2 THEN held_until ELSE 0 END))
                FROM work WHERE store = $1 AND kind = ANY ($3)
                """, .number(store), .number(holder.value), .numbers(numbers))
            return rows.optionalNumber(0, 0)
        }
    }
#endif
