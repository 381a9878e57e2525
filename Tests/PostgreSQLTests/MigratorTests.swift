#if PostgreSQL
    import Dispatch
    import MigrationHistory
    import PostgreSQL
    import PostgreSQLServer
    import Synchronization
    import Testing

    @Suite("Migrations of a PostgreSQL database")
    struct PostgreSQLMigratorTests {
        private let first = Migration(
            name: "0001-a", sql: "CREATE TABLE a (x bigint); INSERT INTO a VALUES (1);")
        private let second = Migration(name: "0002-b", sql: "CREATE TABLE b (y bigint);")

        private func database() throws -> ConnectionOptions {
            let server = try PostgreSQLServer.shared()
            let name = server.newDatabaseName()
            let connection = try Connection(
                ConnectionOptions(address: server.address(of: "postgres")))
            _ = try connection.run("CREATE DATABASE \(name)")
            return ConnectionOptions(address: server.address(of: name))
        }

        private func migrate(_ connection: Connection, _ migrations: [Migration]) throws {
            try Migrator(MigrationHistory(migrations)).migrate(connection)
        }

        @Test("What a database lacks is run once, in order, and noted with its checksum")
        func runs() throws {
            let connection = try Connection(database())
            try migrate(connection, [first])
            try migrate(connection, [first])
            #expect(try connection.run("SELECT count(*) FROM a").number(0, 0) == 1)
            try migrate(connection, [first, second])
            let rows = try connection.run("SELECT name, checksum FROM migrations ORDER BY number")
            #expect((0..<rows.count).map { rows.text($0, 0) } == ["0001-a", "0002-b"])
            #expect(rows.number(1, 1) == second.checksum)
        }

        @Test("A server older than PostgreSQL 15 is refused, which says so, and gets no table")
        func outdatedServer() throws {
            let connection = try Connection(database())
            #expect(connection.serverNumber >= OutdatedServer.numberMin)
            for number in [149_999, 140_012, 90_624] {
                let migrator = Migrator(
                    MigrationHistory([first]), serverNumber: { _ in number })
                let error = #expect(throws: OutdatedServer.self) {
                    try migrator.migrate(connection)
                }
                #expect(
                    error?.description
                        == "the server is PostgreSQL \(number / 10_000), and PostgreSQL 15 or later is needed"
                )
            }
            #expect(try Migrator(MigrationHistory([first])).pendingCount(connection) == 1)
            let oldest = Migrator(MigrationHistory([first]), serverNumber: { _ in 150_000 })
            try oldest.migrate(connection)
            #expect(try oldest.pendingCount(connection) == 0)
        }

        @Test("A session that is gone says that, and not that its server is too old")
        func gone() throws {
            let options = try database()
            let connection = try Connection(options)
            let process = try connection.run("SELECT pg_backend_pid()::bigint").number(0, 0)
            _ = try Connection(options).run(
                "SELECT pg_terminate_backend($1::bigint::int, 60000)", .number(process))
            #expect(throws: PostgreSQLError.self) { try connection.run("SELECT 1") }
            #expect(connection.isLost && connection.serverNumber == 0)
            #expect(throws: PostgreSQLError.self) { try migrate(connection, [first]) }
        }

        @Test("Of processes that begin at once one migrates, and the others find it done")
        func together() throws {
            let options = try database()
            let failures = Mutex(0)
            DispatchQueue.concurrentPerform(iterations: 6) { _ in
                do { try migrate(Connection(options), [first, second]) } catch {
                    failures.withLock { $0 += 1 }
                }
            }
            #expect(failures.withLock { $0 } == 0)
            let connection = try Connection(options)
            #expect(try connection.run("SELECT count(*) FROM a").number(0, 0) == 1)
        }

        @Test("One that fails leaves nothing of all of them")
        func fails() throws {
            let connection = try Connection(database())
            let broken = Migration(
                name: "0002-b", sql: "CREATE TABLE b (y bigint); CREATE TABLE b ();")
            #expect(throws: PostgreSQLError.self) { try migrate(connection, [first, broken]) }
            let tables = try connection.run(
                "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace")
            #expect(tables.number(0, 0) == 0 && !connection.isInTransaction)
            try migrate(connection, [first])
        }

        /// Two versions after `first`: one adds, and the next takes away what nobody uses any more who knows that.
        private let added = Migration(
            name: "0002-c", sql: "-- works with: 0001-a\nALTER TABLE a ADD COLUMN y bigint;")
        private let removed = Migration(
            name: "0003-x", sql: "-- works with: 0002-c\nALTER TABLE a DROP COLUMN x;")

        /// A version that finds living processes which know so many migrations each.
        private func version(_ migrations: [Migration], beside living: [Int] = []) -> Migrator {
            Migrator(MigrationHistory(migrations)) { _, _, knownMin in
                living.filter { $0 < knownMin }.map { "p\($0)" }
            }
        }

        @Test("A database of a newer form serves a version as long as it works with it")
        func overlap() throws {
            let options = try database()
            let connection = try Connection(options)
            let (old, new) = (version([first]), version([first, added], beside: [1]))
            let newest = version([first, added, removed], beside: [2, 3])
            try old.migrate(connection)
            // What adds does not wait for the older ones, which go on, and may start.
            try new.migrate(connection)
            #expect(try old.pendingCount(connection) == 0)
            try old.migrate(connection)
            _ = try connection.run("INSERT INTO a (x) VALUES (2)")
            // What takes away does not wait for those who know what is used in its place.
            try newest.migrate(connection)
            try new.migrate(connection)
            #expect(throws: MigrationError.newer(name: "0003-x")) { try old.migrate(connection) }
        }

        @Test("What a living process could not go on with waits for its end, and names it")
        func outdated() throws {
            let connection = try Connection(database())
            try version([first]).migrate(connection)
            let all = [first, added, removed]
            let refusal = MigrationError.inUse(name: "0003-x", processes: ["p1"])
            #expect(throws: refusal) {
                try version(all, beside: [1, 2]).migrate(connection)
            }
            #expect("\(refusal)".contains("0003-x: stop p1,"))
            // Nothing of it has happened.
            #expect(try version(all).pendingCount(connection) == 2)
            try version(all, beside: [2, 3]).migrate(connection)
            #expect(try version(all).pendingCount(connection) == 0)
            // One that says nothing is for those alone who know it.
            #expect(throws: MigrationError.inUse(name: "0004-b", processes: ["p3"])) {
                let last = Migration(name: "0004-b", sql: second.sql)
                try version(all + [last], beside: [3]).migrate(connection)
            }
        }

        @Test("What another program or another version has made is left alone")
        func refused() throws {
            let connection = try Connection(database())
            try migrate(connection, [first, second])
            #expect(throws: MigrationError.newer(name: "0002-b")) {
                try migrate(connection, [first])
            }
            let edited = Migration(name: first.name, sql: first.sql + " ")
            #expect(throws: MigrationError.altered(name: "0001-a")) {
                try migrate(connection, [edited, second])
            }
            let foreign = try Connection(database())
            _ = try foreign.run("CREATE TABLE theirs (n bigint)")
            #expect(throws: MigrationError.foreign) { try migrate(foreign, [first]) }
        }
    }
#endif
