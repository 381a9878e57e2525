#if PostgreSQL
    import Awaiting
    import ChildProcesses
    import Configuration
    import Foundation
    import PostgreSQL
    import PostgreSQLServer
    import PostgreSQLStorage
    import Testing

    @testable import Server

    @Suite("A server on PostgreSQL")
    struct PostgresServingTests {
        private static let base = "/database/1/iCloud.a/development/private"
        private let folder: TemporaryFolder
        /// One that the test ends and starts again.
        private let database: PostgreSQLServer
        private let environment: [String: String]

        init() throws {
            folder = try TemporaryFolder()
            database = try PostgreSQLServer()
            environment = try Self.environment(of: "app", on: database)
        }

        /// What has a server use a new database.
        static func environment(
            of name: String, on database: PostgreSQLServer
        ) throws -> [String: String] {
            let admin = try Connection(ConnectionOptions(address: database.address(of: "postgres")))
            try admin.run(script: "CREATE DATABASE \(name)")
            return [
                "LENTICULAR_STORAGE_ENGINE": "postgres",
                "LENTICULAR_STORAGE_POSTGRES_URL":
                    "postgresql:///\(name)?host=\(database.folder)&user=postgres",
            ]
        }

        private func start(_ data: String = "data") throws -> ServerProcess {
            try ServerProcess(data: folder.path(data), environment: environment)
        }

        /// Makes a container and a person; the query that she asks with.
        private func enter(_ server: ServerProcess) throws -> String {
            func command(_ words: String...) throws -> [String: Any] {
                let outcome = try Program.run(
                    words + ["--data", server.data, "--json"], environment: environment)
                try #require(outcome.status == 0, "\(outcome.error)")
                return outcome.object
            }
            _ = try command("container", "create", "iCloud.a")
            _ = try command("user", "create", "ann@a.example")
            let api = try command("api-token", "create", "iCloud.a", "development")
            let web = try command(
                "web-token", "create", "iCloud.a", "development", "ann@a.example")
            let query =
                "ckAPIToken=\(try #require(api["apiToken"] as? String))"
                + "&ckWebAuthToken=\(try #require(web["webAuthToken"] as? String))"
            let zone =
                #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"z"}}}]}"#
            try #require(try post(server, query, "zones/modify", zone).status == 200)
            return query
        }

        private func post(
            _ server: ServerProcess, _ query: String, _ operation: String, _ body: String
        ) throws -> (status: Int, body: String) {
            let answer = try server.request("\(Self.base)/\(operation)?\(query)", ["-d", body])
            return (answer.status, answer.body)
        }

        private func save(
            _ server: ServerProcess, _ query: String, _ name: String
        ) throws -> (status: Int, body: String) {
            try post(
                server, query, "records/modify",
                #"{"zoneID":{"zoneName":"z"},"operations":[{"operationType":"create","record":{"#
                    + #""recordType":"Note","recordName":"\#(name)","fields":{"t":{"value":"x"}}}}]}"#
            )
        }

        /// The names in the feed.
        private func names(_ server: ServerProcess, _ query: String) throws -> [String] {
            let answer = try post(
                server, query, "changes/zone", #"{"zones":[{"zoneID":{"zoneName":"z"}}]}"#)
            let object = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
            let zones = (object as? [String: Any])?["zones"] as? [[String: Any]]
            let records = zones?.first?["records"] as? [[String: Any]] ?? []
            return records.compactMap { $0["recordName"] as? String }
        }

        @Test("What it acknowledged outlives its own end and the database's, and it waits for that")
        func kills() throws {
            let first = try start()
            let query = try enter(first)
            #expect(try save(first, query, "a").status == 200)
            first.signal(SIGKILL)
            _ = first.wait()

            let server = try start()
            #expect(try names(server, query) == ["a"])
            try database.crash()
            // The next that asks has it connect again.
            try Wait.until { try save(server, query, "b").status == 200 }
            try database.stop()
            let refused = try save(server, query, "c")
            #expect(refused.status == 503 && refused.body.contains("TRY_AGAIN_LATER"))
            try Wait.until {
                let answer = try server.request("/readyz")
                return answer.status == 503 && answer.body == "database unreachable\n"
            }
            try database.start()
            try Wait.until { try server.request("/readyz").status == 200 }
            try Wait.until { try save(server, query, "d").status == 200 }
            #expect(try names(server, query) == ["a", "b", "d"])
            server.signal(SIGTERM)
            #expect(server.wait() == 0)
            let check = try Program.run(
                ["check", "--data", server.data], environment: environment)
            #expect(check.status == 0, "\(check.output)\(check.error)")
        }

        @Test("A server that serves no store yet is not ready while its database is away")
        func readiness() throws {
            let server = try start()
            #expect(try server.request("/readyz").status == 200)
            try database.stop()
            try Wait.until {
                let answer = try server.request("/readyz")
                return answer.status == 503 && answer.body == "database unreachable\n"
            }
            try database.start()
            try Wait.until { try server.request("/readyz").status == 200 }
            server.signal(SIGTERM)
            #expect(server.wait() == 0)
        }

        @Test("A backup of a running server is restored into another database")
        func backup() throws {
            let server = try start()
            let query = try enter(server)
            #expect(try save(server, query, "kept").status == 200)
            let copy = folder.path("copy")
            let made = try Program.run(
                ["backup", copy, "--data", server.data], environment: environment)
            #expect(made.status == 0, "\(made.error)")
            #expect(try save(server, query, "lost").status == 200)
            let other = try Self.environment(of: "other", on: database)
            let restored = try Program.run(
                ["restore", copy, "--yes", "--data", folder.path("restored")], environment: other)
            #expect(restored.status == 0, "\(restored.error)")
            let second = try ServerProcess(data: folder.path("restored"), environment: other)
            #expect(try names(second, query) == ["kept"])
            #expect(try save(second, query, "lost").status == 200)
            // A database that has data takes none.
            let again = try Program.run(
                ["restore", copy, "--yes", "--data", folder.path("third")], environment: other)
            #expect(again.status == 1)
        }

        @Test(
            "A backup is looked into beside the database: it is checked, a record comes back, and nothing stays"
        )
        func lookingIntoBackups() throws {
            // Backups of the server's own have no key of what is sealed.
            let copy = folder.path("backups")
            var environment = environment
            environment["LENTICULAR_BACKUPS_TO"] = copy
            let server = try ServerProcess(data: folder.path("data"), environment: environment)
            let query = try enter(server)
            #expect(try save(server, query, "lost").status == 200)
            func run(_ words: String...) throws -> Program.Outcome {
                try Program.run(words + ["--data", server.data], environment: environment)
            }
            func backups() throws -> Int {
                let shown = try run("server", "show", "--json").object["backups"] as? [String: Any]
                let isUnderWay = shown?["isUnderWay"] as? Bool ?? true
                return isUnderWay ? 0 : (shown?["kept"] as? [Any])?.count ?? 0
            }
            try Wait.until { try backups() > 0 }
            let before = try backups()
            #expect(try run("server", "backup").status == 0)
            try Wait.until { try backups() > before }
            let restoring = [
                "record", "restore", "iCloud.a", "development", "private", "lost", "--zone", "z",
                "--user", "ann@a.example", "--from", copy, "--yes",
            ]
            let gone = try post(
                server, query, "records/modify",
                #"{"zoneID":{"zoneName":"z"},"operations":[{"operationType":"forceDelete","record":{"#
                    + #""recordName":"lost"}}]}"#)
            #expect(gone.status == 200, "\(gone)")
            func isThere() throws -> Bool {
                let found = try post(
                    server, query, "records/lookup",
                    #"{"zoneID":{"zoneName":"z"},"records":[{"recordName":"lost"}]}"#)
                return found.status == 200 && !found.body.contains("NOT_FOUND")
            }
            #expect(try !isThere())
            let restored = try Program.run(
                restoring + ["--data", server.data], environment: environment)
            #expect(restored.status == 0, "\(restored)")
            #expect(try isThere())
            let checked = try run("backup", "--verify", copy)
            #expect(checked.status == 0, "\(checked)")
            #expect(try scratchCount() == 0)
        }

        /// How many databases there are in which backups are looked into.
        private func scratchCount() throws -> Int {
            try connect().run(
                "SELECT 1 FROM pg_database WHERE datname LIKE 'scratch_lenticular%'"
            ).count
        }

        private func connect() throws -> Connection {
            try Connection(ConnectionOptions(address: database.address(of: "app")))
        }

        @Test(
            "A role that may make no database is told so, and what another process left goes with the next"
        )
        func scratchDatabases() throws {
            let server = try start()
            let copy = folder.path("copy")
            func run(_ words: String...) throws -> Program.Outcome {
                try Program.run(words + ["--data", server.data], environment: environment)
            }
            #expect(try run("backup", copy).status == 0)
            let connection = try connect()
            try connection.run(script: "CREATE ROLE modest LOGIN")
            try connection.run(script: "GRANT ALL ON DATABASE app TO modest")
            var modest = environment
            modest["LENTICULAR_STORAGE_POSTGRES_URL"] = environment[
                "LENTICULAR_STORAGE_POSTGRES_URL"]?
                .replacing("user=postgres", with: "user=modest")
            let refused = try Program.run(
                ["backup", "--verify", copy, "--data", folder.path("other")], environment: modest)
            #expect(refused.status == 1 && refused.error.contains("CREATEDB"), "\(refused)")
            let home = try connection.run(
                "SELECT oid::bigint FROM pg_database WHERE datname = current_database()")
            try connection.run(
                script:
                    "CREATE DATABASE scratch_lenticular_\(home.number(0, 0))_left TEMPLATE template0"
            )
            #expect(try run("backup", "--verify", copy).status == 0)
            #expect(try scratchCount() == 0)
        }

        @Test(
            "A database that does not answer stops the start, and so does a folder of another engine"
        )
        func refusals() throws {
            try database.stop()
            let silent = try Program.run(
                ["serve", "--data", folder.path("data"), "--listen", "127.0.0.1:0"],
                environment: environment)
            #expect(silent.status == 1 && silent.error.contains("does not answer"), "\(silent)")
            #expect(silent.error.contains("postgresql:///app does not answer"))
            try database.start()
            let files = try ServerProcess(data: folder.path("files"))
            files.signal(SIGTERM)
            #expect(files.wait() == 0)
            let mixed = try Program.run(
                ["serve", "--data", folder.path("files"), "--listen", "127.0.0.1:0"],
                environment: environment)
            #expect(mixed.status == 1 && mixed.error.contains("has catalog.sqlite"), "\(mixed)")
            let missing = try Program.run(
                ["container", "list", "--data", folder.path("files")],
                environment: Self.environment(of: "fresh", on: database))
            #expect(missing.status == 1, "\(missing)")
        }

        @Test(
            "Sessions, the standby, who listens, the password and how long is waited come from the settings"
        )
        func settings() throws {
            let file = folder.path("password")
            try "s3cret\nmore\n".write(toFile: file, atomically: true, encoding: .utf8)
            func settings(_ url: String) throws -> PostgreSQLEngine.Settings {
                let values = try LoadedConfiguration(
                    file: nil,
                    environment: [
                        "LENTICULAR_STORAGE_ENGINE": "postgres",
                        "LENTICULAR_STORAGE_POSTGRES_URL": url,
                        "LENTICULAR_STORAGE_POSTGRES_PASSWORD_FILE": file,
                        "LENTICULAR_STORAGE_POSTGRES_SESSIONS_MAX": "9",
                        "LENTICULAR_STORAGE_POSTGRES_STANDBY_URL":
                            "postgresql://u@standby.example/app",
                        "LENTICULAR_STORAGE_POSTGRES_LISTEN_URL": "postgresql://u@one.example/app",
                        "LENTICULAR_STORAGE_POSTGRES_CONNECT_SECONDS_MAX": "3",
                        "LENTICULAR_STORAGE_POSTGRES_ANSWER_SECONDS_MAX": "7",
                    ], flags: []
                ).values
                return try values.postgresSettings()
            }
            let far = try settings("postgresql://u@db.example/app")
            #expect(far.sessionsMax == 9)
            #expect(far.connection.connectSecondsMax == 3)
            #expect(far.connection.answerMillisecondsMax == 7_000)
            #expect(far.connection.password == "s3cret")
            #expect(far.connection.defaults == ["sslmode": "verify-full"])
            #expect(far.standby?.address == "postgresql://u@standby.example/app")
            #expect(far.standby?.password == "s3cret")
            #expect(far.standby?.defaults == ["sslmode": "verify-full"])
            #expect(far.listening?.address == "postgresql://u@one.example/app")
            #expect(far.listening?.password == "s3cret")
            #expect(far.listening?.defaults == ["sslmode": "verify-full"])
            #expect(
                [far.connection, far.listening, far.standby].map { $0?.takesStandby }
                    == [false, false, true])
            let near = try settings("postgresql://u@localhost/app")
            #expect(near.connection.defaults.isEmpty)
        }

        @Test("A server that wants a password gets the file's, and another one is refused")
        func password() throws {
            let admin = try Connection(ConnectionOptions(address: database.address(of: "postgres")))
            try admin.run(script: "CREATE ROLE guarded LOGIN PASSWORD 's3cret'")
            try admin.run(script: "CREATE DATABASE guarded OWNER guarded")
            let rules = "\(database.folder)/data/pg_hba.conf"
            let text = try String(contentsOfFile: rules, encoding: .utf8)
            try Data("local all guarded scram-sha-256\n\(text)".utf8).write(
                to: URL(filePath: rules), options: [])
            try database.crash()
            let file = folder.path("password")
            try "s3cret\n".write(toFile: file, atomically: true, encoding: .utf8)
            var guarded = environment
            guarded["LENTICULAR_STORAGE_POSTGRES_URL"] =
                "postgresql:///guarded?host=\(database.folder)&user=guarded"
            guarded["LENTICULAR_STORAGE_POSTGRES_PASSWORD_FILE"] = file
            let server = try ServerProcess(data: folder.path("data"), environment: guarded)
            server.signal(SIGTERM)
            #expect(server.wait() == 0)
            try "wrong\n".write(toFile: file, atomically: true, encoding: .utf8)
            let refused = try Program.run(
                ["check", "--data", folder.path("data")], environment: guarded)
            #expect(refused.status == 1, "\(refused)")
            #expect(!refused.error.contains("wrong") && !refused.error.contains("s3cret"))
        }
    }
#endif
