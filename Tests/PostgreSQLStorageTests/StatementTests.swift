#if PostgreSQL
    import Foundation
    import PostgreSQL
    import PostgreSQLServer
    import PostgreSQLStorage
    import Storage
    import StorageConformance
    import Synchronization
    import Testing

    @Suite("Tables, keys and statements of stores")
    struct StatementTests {
        /// Which has no store before its key: it is the list of stores, by which each gets its number.
        private static let list = "stores"

        @Test("The store is the first column of each table, each key and each unique index")
        func keys() throws {
            let location = try PostgreSQLLocation()
            defer { location.remove() }
            _ = try location.openPostgreSQLStore()
            let connection = try Connection(location.connection)
            let columns = try connection.run(
                """
                SELECT convert_to(c.relname, 'UTF8'), convert_to(a.attname, 'UTF8')
                FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = 1
                WHERE c.relkind = 'r' AND c.relnamespace = 'stores'::regnamespace
                    AND c.relname NOT IN ('\(Self.list)', 'migrations')
                """)
            #expect(columns.count > 30)
            for row in 0..<columns.count {
                #expect(columns.text(row, 1) == "store", "\(columns.text(row, 0))")
            }
            let keys = try connection.run(
                """
                SELECT convert_to(i.indexrelid::regclass::text, 'UTF8'),
                    coalesce(convert_to(a.attname, 'UTF8'), ''),
                    convert_to(c.relname, 'UTF8')
                FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
                    LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
                WHERE c.relnamespace = 'stores'::regnamespace AND i.indisunique
                    AND c.relname NOT IN ('\(Self.list)', 'migrations')
                """)
            #expect(keys.count > columns.count)
            for row in 0..<keys.count {
                #expect(keys.text(row, 1) == "store", "\(keys.text(row, 0))")
            }
            let keyed = Set((0..<keys.count).map { keys.text($0, 2) })
            #expect(keyed == Set((0..<columns.count).map { columns.text($0, 0) }))
        }

        @Test(
            "The counters' table is mostly empty, and is vacuumed after 500 changes without a pause"
        )
        func countersTable() throws {
            let location = try PostgreSQLLocation()
            defer { location.remove() }
            _ = try location.openPostgreSQLStore()
            let rows = try Connection(location.connection).run(
                """
                SELECT convert_to(unnest(reloptions), 'UTF8') FROM pg_class
                WHERE oid = 'stores.progress'::regclass
                """)
            #expect(
                Set((0..<rows.count).map { rows.text($0, 0) }) == [
                    "fillfactor=10", "autovacuum_vacuum_scale_factor=0",
                    "autovacuum_vacuum_threshold=500", "autovacuum_vacuum_cost_delay=0",
                ])
        }

        // MARK: - Statements

        /// A server of its own, which tells what it was asked.
        private struct Listening {
            let server: PostgreSQLServer
            private let connection: Connection

            init() throws {
                server = try PostgreSQLServer(waitsForDisk: false)
                connection = try Connection(
                    ConnectionOptions(address: server.address(of: "postgres")))
                _ = try connection.run("CREATE EXTENSION pg_stat_statements")
            }

            /// What it was asked while a body ran, each once, whatever became of it.
            func statements(_ body: () throws -> Void) throws -> Set<String> {
                _ = try connection.run("SELECT 1 FROM pg_stat_statements_reset()")
                try body()
                let rows = try connection.run(
                    """
                    SELECT DISTINCT convert_to(query, 'UTF8') FROM pg_stat_statements
                    WHERE dbid <> (SELECT oid FROM pg_database WHERE datname = current_database())
                    """)
                return Set((0..<rows.count).map { rows.text($0, 0) })
            }
        }

        @Test("Each statement names the store of every table of stores that it touches")
        func statements() throws {
            let listening = try Listening()
            let server = listening.server
            let tables = Mutex<Set<String>>([])
            let engine = Engine(name: "PostgreSQL") { clock in
                let location = try PostgreSQLLocation(clock, on: server)
                if tables.withLock(\.isEmpty) {
                    let found = try Self.tables(of: location)
                    tables.withLock { $0 = found }
                }
                return location
            }
            var statements: Set<String> = []
            for promise in StoragePromise.ofStores {
                try statements.formUnion(listening.statements { try promise.check(engine) })
            }
            let checked = statements.map {
                StoreStatement($0, among: tables.withLock { $0 })
            }.filter { !$0.touched.isEmpty }
            #expect(checked.count > 100)
            for statement in checked {
                #expect(statement.namesEachStore, "\(statement.touched): \(statement.text)")
            }
        }

        /// The tables that have rows of stores.
        private static func tables(of location: PostgreSQLLocation) throws -> Set<String> {
            let store = try location.openPostgreSQLStore(named: "first")
            defer { location.close(store) }
            let rows = try Connection(location.connection).run(
                """
                SELECT convert_to(relname, 'UTF8') FROM pg_class
                WHERE relkind = 'r' AND relnamespace = 'stores'::regnamespace
                    AND relname NOT IN ('\(list)', 'migrations')
                """)
            return Set((0..<rows.count).map { rows.text($0, 0) })
        }
    }

    /// What a statement says of tables that have rows of stores.
    private struct StoreStatement {
        let text: String
        /// One for each time that it reads or writes one.
        let touched: [String]
        /// How often it says which store it means, be it as a column that it fills or one that it compares.
        private let named: Int

        init(_ text: String, among tables: Set<String>) {
            self.text = text
            let words = text.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
            let before: Set = ["FROM", "JOIN", "INTO", "UPDATE", "USING"]
            touched = zip(words, words.dropFirst()).filter {
                before.contains($0) && tables.contains($1)
            }.map(\.1)
            named = words.count { $0 == "store" }
        }

        var namesEachStore: Bool { named >= touched.count }
    }
#endif
