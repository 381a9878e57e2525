#if PostgreSQL
    import Awaiting
    import ChildProcesses
    import Foundation
    import PostgreSQLServer
    import Testing

    @Suite("Several servers on one PostgreSQL")
    struct PostgresProcessesTests {
        private static let base = "/database/1/iCloud.a/development/private"
        private let folder: TemporaryFolder
        private let database: PostgreSQLServer
        private let environment: [String: String]

        init() throws {
            folder = try TemporaryFolder()
            database = try PostgreSQLServer()
            environment = try PostgresServingTests.environment(of: "app", on: database)
        }

        private func start(_ data: String) throws -> ServerProcess {
            try ServerProcess(data: folder.path(data), environment: environment)
        }

        /// A data folder that shares what processes must share with that of a server.
        private func makeFolder(_ data: String, beside server: ServerProcess) throws {
            let files = FileManager.default
            try files.createDirectory(
                atPath: folder.path(data), withIntermediateDirectories: true)
            try files.createSymbolicLink(
                atPath: folder.path("\(data)/containers"),
                withDestinationPath: "\(server.data)/containers")
            try files.copyItem(
                atPath: "\(server.data)/secrets.key", toPath: folder.path("\(data)/secrets.key"))
        }

        private func command(_ words: String..., on server: ServerProcess) throws -> [String: Any] {
            let outcome = try Program.run(
                words + ["--data", server.data, "--json"], environment: environment)
            try #require(outcome.status == 0, "\(outcome.error)")
            return outcome.object
        }

        /// Makes a container and a person; the query that she asks with.
        private func enter(_ server: ServerProcess) throws -> String {
            _ = try command("container", "create", "iCloud.a", on: server)
            _ = try command("user", "create", "ann@a.example", on: server)
            let api = try command("api-token", "create", "iCloud.a", "development", on: server)
            let web = try command(
                "web-token", "create", "iCloud.a", "development", "ann@a.example", on: server)
            return "ckAPIToken=\(try #require(api["apiToken"] as? String))"
                + "&ckWebAuthToken=\(try #require(web["webAuthToken"] as? String))"
        }

        private func post(
            _ server: ServerProcess, _ query: String, _ operation: String, _ body: String
        ) throws -> (status: Int, body: String) {
            let answer = try server.request("\(Self.base)/\(operation)?\(query)", ["-d", body])
            return (answer.status, answer.body)
        }

        @Test("What one has acknowledged another one knows, tokens that ended among it")
        func serving() throws {
            let first = try start("a")
            let query = try enter(first)
            try makeFolder("b", beside: first)
            let second = try start("b")
            let zone =
                #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"z"}}}]}"#
            try #require(try post(first, query, "zones/modify", zone).status == 200)
            for number in 0..<20 {
                let (writer, reader) = number % 2 == 0 ? (first, second) : (second, first)
                let saved = try post(
                    writer, query, "records/modify",
                    #"{"zoneID":{"zoneName":"z"},"operations":[{"operationType":"create","record":{"#
                        + #""recordType":"Note","recordName":"r\#(number)"}}]}"#)
                #expect(saved.status == 200, "\(saved)")
                let found = try post(
                    reader, query, "records/lookup",
                    #"{"zoneID":{"zoneName":"z"},"records":[{"recordName":"r\#(number)"}]}"#)
                #expect(found.status == 200 && !found.body.contains("NOT_FOUND"), "\(found)")
            }
            let shown = try command("server", "show", on: second)
            let processes = try #require(shown["processes"] as? [[String: Any]])
            #expect(processes.map { $0["isOwn"] as? Bool } == [false, true], "\(shown)")
            _ = try command(
                "web-token", "revoke", "iCloud.a", "development", "ann@a.example", "--all",
                on: first)
            #expect(try post(second, query, "zones/list", "{}").status == 421)
            // One that ends in order is waited for by nobody.
            first.signal(SIGTERM)
            #expect(first.wait() == 0)
            try Wait.until {
                let left = try command("server", "show", on: second)
                return (left["processes"] as? [Any])?.count == 1
            }
        }

        @Test(
            "What each did for whom every one tells: lines of requests, a user's sync, the audit log"
        )
        func seen() throws {
            let first = try start("a")
            let query = try enter(first)
            try makeFolder("b", beside: first)
            let second = try start("b")
            for server in [first, second, second] {
                try #require(try post(server, query, "zones/list", "{}").status == 200)
            }
            for server in [first, second] {
                // Of another server the lines of the last second may be missing.
                try Wait.until {
                    let logs = try command("logs", "--user", "ann@a.example", on: server)
                    let lines = (logs["requests"] as? [[String: Any]]) ?? []
                    return lines.map { $0["operation"] as? String }
                        == Array(repeating: "zones/list", count: 3)
                }
                let sync = try command(
                    "user", "sync", "ann@a.example", "iCloud.a", "development", on: server)
                #expect((sync["devices"] as? [Any])?.count == 1, "\(sync)")
                let audit = try command("audit", "list", on: server)
                let entries = (audit["entries"] as? [[String: Any]]) ?? []
                #expect(
                    entries.contains { $0["what"] as? String == "web-token create" }, "\(audit)")
                #expect((audit["problems"] as? [Any])?.isEmpty ?? true, "\(audit)")
            }
            let checked = try Program.run(
                ["check", "--data", second.data], environment: environment)
            #expect(checked.status == 0, "\(checked)")
        }

        @Test("Who was erased at one server is in the ledgers of all, which outlive the database")
        func erased() throws {
            let first = try start("a")
            _ = try enter(first)
            try makeFolder("b", beside: first)
            let second = try start("b")
            _ = try command(
                "user", "erase", "ann@a.example", "--public", "delete", "--yes", on: second)
            func ledger(_ data: String) throws -> String {
                try String(contentsOfFile: folder.path("\(data)/erasures.log"), encoding: .utf8)
            }
            first.signal(SIGTERM)
            #expect(first.wait() == 0)
            let again = try start("a")
            #expect(try ledger("a") == ledger("b"))
            #expect(try ledger("a").split(separator: "\n").count == 1)
            #expect(try again.request("/readyz").status == 200)
        }

        @Test("A container leaves the database only while one of them serves it")
        func moving() throws {
            let first = try start("a")
            _ = try enter(first)
            try makeFolder("b", beside: first)
            let second = try start("b")
            let words = [
                "storage", "copy", "--from",
                environment["LENTICULAR_STORAGE_POSTGRES_URL"] ?? "", "--to",
                "sqlite:\(folder.path("moved"))", "--data", first.data,
            ]
            let refused = try Program.run(words, environment: environment)
            #expect(refused.status == 1, "\(refused)")
            #expect(refused.error.contains("stop all but one"), "\(refused)")
            #expect(try post(first, "", "zones/list", "{}").status != 503)
            second.signal(SIGKILL)
            _ = second.wait()
            let copied = try Program.run(words, environment: environment)
            #expect(copied.status == 0, "\(copied)")
        }

        @Test("One is refused whose assets are elsewhere, and one whose key opens nothing")
        func refusals() throws {
            let first = try start("a")
            _ = try enter(first)
            let apart = try Program.run(
                ["serve", "--data", folder.path("b"), "--listen", "127.0.0.1:0"],
                environment: environment)
            #expect(apart.status == 1, "\(apart)")
            #expect(apart.error.contains("mount one folder as containers/"), "\(apart)")
            try makeFolder("c", beside: first)
            let key = String(repeating: "ab", count: 32) + "\n"
            try key.write(
                toFile: folder.path("c/secrets.key"), atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: folder.path("c/secrets.key"))
            let locked = try Program.run(
                ["serve", "--data", folder.path("c"), "--listen", "127.0.0.1:0"],
                environment: environment)
            #expect(locked.status == 1, "\(locked)")
            #expect(try first.request("/readyz").status == 200)
        }
    }
#endif
