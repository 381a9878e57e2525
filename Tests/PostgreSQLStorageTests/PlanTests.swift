#if PostgreSQL
    import CloudModel
    import Dispatch
    import PostgreSQL
    import PostgreSQLServer
    import PostgreSQLStorage
    import Storage
    import StorageConformance
    import Testing

    @Suite("How much statements read on PostgreSQL")
    struct PlanTests {
        private static let user = UserRecordName("_00000000000000000000000000000001")
        /// As many pages as a statement may look at for each of its rows, and beside them.
        private static let (pagesEach, pagesBeside) = (40, 60)

        /// Two stores with a zone each, in a database in which nobody but the engine has the server look at its tables.
        struct Filled {
            let location: PostgreSQLLocation
            let connection: Connection
            let store: PostgreSQLStore
            let zone: StoredZone

            /// - Parameter counts: how many records the first store has, and then another one.
            init(_ counts: [Int]) throws {
                location = try PostgreSQLLocation()
                let user = try #require(PlanTests.user)
                let shelf = try #require(ZoneName("Shelf"))
                connection = try Connection(location.connection)
                var filled: (store: PostgreSQLStore, zone: StoredZone)?
                for (number, count) in counts.enumerated() {
                    let store = try location.openPostgreSQLStore(named: "store \(number)")
                    if number == 0 { try Self.prepare(connection) }
                    let zone = try store.writeAndWait { transaction in
                        try transaction.makeZone(named: shelf, ofOwnerNamed: user)
                    }
                    for first in stride(from: 0, to: count, by: 400) {
                        try Self.save(PlanTests.names(first..<first + 400), in: zone, of: store)
                    }
                    filled = (store, zone)
                }
                (store, zone) = try #require(filled)
            }

            private static func prepare(_ connection: Connection) throws {
                _ = try connection.run("CREATE EXTENSION pg_stat_statements")
                // Many people of another store, of whom nobody asks anything.
                _ = try connection.run(
                    """
                    INSERT INTO owners (store, owner, record_name)
                    SELECT 1000, number, decode(md5(number::text), 'hex')
                    FROM generate_series(1, 5000) AS number
                    """)
                let tables = try connection.run(
                    """
                    SELECT convert_to(relname, 'UTF8') FROM pg_class
                    WHERE relkind = 'r' AND relnamespace = 'stores'::regnamespace
                    """)
                for row in 0..<tables.count {
                    _ = try connection.run(
                        "ALTER TABLE \(tables.text(row, 0)) SET (autovacuum_enabled = off)")
                }
            }

            static func save(
                _ names: [RecordName], in zone: StoredZone, of store: PostgreSQLStore
            ) throws {
                try store.writeAndWait { transaction in
                    let heads = try transaction.heads(of: names, in: zone.number)
                    let first = try transaction.takePositions(names.count)
                    let versions = zip(names, heads).enumerated().map { index, pair in
                        NewVersion(
                            zone: zone, name: pair.0, position: first + Position(index),
                            previous: pair.1, previousBytes: pair.1 == nil ? 0 : 2,
                            previousIsAlive: pair.1 != nil, type: 1, flags: [], body: [123, 125])
                    }
                    _ = try transaction.save(versions)
                }
            }

            /// The statements that looked at more pages than their rows explain, while a body ran.
            ///
            /// One that says, or counts, how many rows it has changed, or finds nothing under the keys that it is asked
            /// for, stands for as many as the body saves at most: 64.
            func wasteful(_ body: () throws -> Void) throws -> [String] {
                try connection.forgetStatements()
                try body()
                let found = try connection.run(
                    """
                    SELECT convert_to(
                        (shared_blks_hit + shared_blks_read) / calls || ' pages for '
                            || rows / calls || ' rows: ' || query, 'UTF8')
                    FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
                    WHERE d.datname = current_database() AND query NOT LIKE '%pg_stat_statements%'
                        AND query NOT LIKE 'ANALYZE%'
                        AND (shared_blks_hit + shared_blks_read) > calls * $1 + $2 *
                            (rows + CASE WHEN query LIKE 'WITH changed%' OR query LIKE 'WITH noted%'
                                OR query LIKE 'WITH gone%' OR query LIKE 'UPDATE destinations d%'
                                OR query LIKE '%FROM links l WHERE l.store%'
                                THEN 64 ELSE 0 END)
                    """, .number(Int64(PlanTests.pagesBeside)), .number(Int64(PlanTests.pagesEach)))
                return (0..<found.count).map { found.text($0, 0) }
            }
        }

        private static func names(_ range: Range<Int>) -> [RecordName] {
            range.compactMap { RecordName("record \($0)") }
        }

        @Test(
            "Saves, lookups and pages read no more than they ask for, in a new database and a new store",
            arguments: [[12_000], [20_000, 4_000]])
        func pages(_ counts: [Int]) throws {
            let filled = try Filled(counts)
            defer { filled.location.remove() }
            let zone = filled.zone
            let some = Self.names(500..<564)
            let found = try filled.wasteful {
                try Filled.save(some, in: zone, of: filled.store)
                try Filled.save(Array(some.prefix(1)), in: zone, of: filled.store)
                for count in [1, 64] {
                    let names = Array(some.prefix(count))
                    try filled.store.read { snapshot in
                        var numbers: [RecordNumber] = []
                        try snapshot.current(of: names, in: zone.number, inOrder: false) {
                            numbers.append($1.record)
                            return true
                        }
                        #expect(numbers.count == count)
                        #expect(try snapshot.heads(of: names, in: zone.number).count == count)
                        #expect(try snapshot.locations(.records(numbers)).count == count)
                        _ = try snapshot.links(of: numbers, kinds: .parent ... .parent)
                        _ = try snapshot.currentMemberships(of: numbers)
                        _ = try snapshot.assetBytes(of: numbers)
                    }
                }
                try filled.store.read { snapshot in
                    var left = 200
                    try snapshot.versions(
                        in: zone.number, after: 100, through: .max, newestFirst: false
                    ) { _ in
                        left -= 1
                        return left > 0
                    }
                }
            }
            #expect(found == [])
        }

        @Test("Who collects does not look at the zones that are done with")
        func purgedZones() throws {
            let filled = try Filled([400])
            defer { filled.location.remove() }
            _ = try filled.connection.run(
                """
                INSERT INTO zones (
                    store, zone, owner, name, created, changed, whole_after, deleted_at, is_purged)
                SELECT z.store, 1000 + n, z.owner, convert_to('z' || n, 'UTF8'), 1, z.changed, 0, n, 1
                FROM zones z, generate_series(1, 20000) AS n
                """)
            let found = try filled.wasteful {
                _ = try filled.store.writeAndWait { try $0.collect(olderThan: 0, limit: 100) }
            }
            #expect(found == [])
        }

        @Test("What shares say is found by keys, in a zone of many shares, viewers and records")
        func shares() throws {
            let filled = try Filled([12_000])
            defer { filled.location.remove() }
            try Self.share(filled.zone, filled.connection)
            var needs = StoreNeeds()
            (needs.owner, needs.zone) = (Self.user, filled.zone.name)
            needs.viewer = UserRecordName("_00000000000000000000000000001000")
            needs.records = Self.names(500..<564)
            let load = WriteLoad(needs: { [needs] in needs })
            let viewer = try #require(needs.viewer)
            let (zone, names) = (filled.zone.number, needs.records)
            let trips = filled.store.groupRoundTrips
            let found = try filled.wasteful {
                let done = DispatchSemaphore(value: 0)
                filled.store.write(load) { transaction in
                    let records = try transaction.heads(of: names, in: zone).compactMap {
                        $0?.record
                    }
                    let covering = try transaction.currentMemberships(of: records)
                    let shares = covering.compactMap { $0?.share }
                    let parents = try transaction.parents(of: records).compactMap { $0 }
                    let grants = try transaction.grants(of: viewer, .shares(Array(Set(shares))))
                    #expect((shares.count, parents.count, grants.count) == (64, 64, 1))
                    #expect(try transaction.view(of: viewer, in: zone) != nil)
                } completion: { _ in
                    done.signal()
                }
                #expect(done.wait(timeout: .now() + .seconds(600)) == .success)
            }
            #expect(found == [])
            #expect(filled.store.groupRoundTrips - trips == 2)
        }

        /// Has the first record be the root of a tree of all records, and 2,000 others the roots of trees without any,
        /// and 3,000 viewers see the first of them; and the server look at the tables, as the engine does.
        private static func share(_ zone: StoredZone, _ connection: Connection) throws {
            let zone = zone.number.value
            try connection.run(
                script: """
                    INSERT INTO shares (store, share, zone, record, root, public_permission, created)
                    SELECT store, record, zone, record + 1, record, 0, 1 FROM records
                    WHERE zone = \(zone) AND record % 2 = 1 AND record < 4000;
                    INSERT INTO current_memberships (store, record, share, position)
                    SELECT store, record, 1, position FROM records WHERE zone = \(zone);
                    INSERT INTO links (store, target_zone, target_name, kind, source)
                    SELECT r.store, r.zone, t.name, 3, r.record
                    FROM records r JOIN records t ON t.store = r.store AND t.record = 1
                    WHERE r.zone = \(zone);
                    INSERT INTO grants (store, viewer, zone, share, permission, granted, changed)
                    SELECT DISTINCT store, convert_to('_' || lpad(v::text, 32, '0'), 'UTF8'), zone, 1, 1, 1, v
                    FROM shares, generate_series(1, 3000) AS v;
                    INSERT INTO views
                        (store, viewer, zone, since, shares_granted, changed, whole_after)
                    SELECT store, viewer, zone, 1, 1, changed, 1 FROM grants;
                    ANALYZE;
                    """)
        }

        @Test(
            "Beside a snapshot that stays open, no version of the counter is read but the last ones"
        )
        func oldSnapshot() throws {
            let filled = try Filled([400])
            defer { filled.location.remove() }
            let reader = try Connection(filled.location.connection)
            _ = try reader.run([Query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")])
            _ = try reader.run("SELECT last_position FROM progress LIMIT 1")
            // As many versions as 6,000 groups leave.
            try filled.connection.run(
                script: """
                    DO $$ BEGIN
                        FOR number IN 1..6000 LOOP UPDATE progress SET schema_revision = schema_revision; END LOOP;
                    END $$
                    """)
            let some = Self.names(0..<10)
            func work() throws {
                for name in some { try Filled.save([name], in: filled.zone, of: filled.store) }
                _ = try filled.store.read { try $0.heads(of: some, in: filled.zone.number) }
            }
            // The first looks everywhere.
            try work()
            #expect(try filled.wasteful(work) == [])
            let pages = try reader.run(
                "SELECT pg_relation_size('progress') / current_setting('block_size')::bigint")
            #expect(pages.number(0, 0) > 150, "the versions are there")
        }
    }

    extension Connection {
        /// Has the server forget which statements of this database it has counted.
        func forgetStatements() throws {
            _ = try run(
                """
                SELECT 1 FROM pg_stat_statements_reset(
                    0, (SELECT oid FROM pg_database WHERE datname = current_database()), 0)
                """)
        }
    }
#endif
