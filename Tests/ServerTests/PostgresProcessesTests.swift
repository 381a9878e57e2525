#if PostgreSQL
    import Awaiting
    import ChildProcesses
    import Foundation
    import PostgreSQL
    import PostgreSQLServer
    import Testing

    @Suite("Several servers on one PostgreSQL")
    struct PostgresProcessesTests: ServersOnPostgres {
        let folder: TemporaryFolder
        let database: PostgreSQLServer
        let environment: [String: String]

        init() throws {
            folder = try TemporaryFolder()
            database = try PostgreSQLServer()
            environment = try PostgresServingTests.environment(of: "app", on: database)
        }

        @Test("What one has acknowledged another one knows, tokens that ended among it")
        func serving() throws {
            let (first, second, query) = try startTwo()
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
            let (first, second, query) = try startTwo()
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
            let (first, second, _) = try startTwo()
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

        private static func creation(of name: String) -> String {
            #"{"operations":[{"operationType":"create","record":{"#
                + #""recordType":"Note","recordName":"\#(name)"}}]}"#
        }

        @Test("A container that leaves the database is out of use at all until it is reopened")
        func moving() throws {
            let (first, second, query) = try startTwo()
            func save(_ name: String, at server: ServerProcess) throws -> Int {
                try post(server, query, "records/modify", Self.creation(of: name)).status
            }
            // Both have the store open.
            for server in [first, second] {
                try #require(try post(server, query, "zones/list", "{}").status == 200)
            }
            var saved = 0
            while saved < 20 {
                #expect(try save("r\(saved)", at: second) == 200)
                saved += 1
            }
            try moveOut(of: first)
            for server in [first, second] {
                let refused = try post(server, query, "zones/list", "{}")
                #expect(refused.status == 503, "\(refused)")
                #expect(refused.body.contains("TRY_AGAIN_LATER"), "\(refused)")
            }
            let reopened = try Program.run(
                ["storage", "copy", "--from", source, "--reopen", "--data", second.data],
                environment: environment)
            #expect(reopened.status == 0, "\(reopened)")
            for (name, server) in [("x", first), ("y", second)] {
                #expect(try save(name, at: server) == 200)
            }
            // What the other one had acknowledged is in the copy.
            let moved = try ServerProcess(data: folder.path("moved"))
            let names = (0..<20).map { #"{"recordName":"r\#($0)"}"# }.joined(separator: ",")
            let found = try post(
                moved, query, "records/lookup", #"{"records":[\#(names)]}"#)
            #expect(found.status == 200 && !found.body.contains("NOT_FOUND"), "\(found)")
        }

        @Test("What one acknowledges that wakes up after a copy is in the copy")
        func wakingUp() throws {
            let (first, second, query) = try startTwo()
            let target = "\(Self.base)/records/modify?\(query)"
            // A connection for each that has saved, so that the store is open and the token known.
            let waiting = try (0..<16).map { number in
                let connection = WireConnection(address: second.address)
                let saved = connection.send("POST", target, Self.creation(of: "r\(number)"))
                guard case .answered(200, _) = saved else { throw NotSaved(answer: "\(saved)") }
                return connection
            }
            second.signal(SIGSTOP)
            // Without it the process would not end with its signal.
            defer { second.signal(SIGCONT) }
            for (number, connection) in waiting.enumerated() {
                let body = Self.creation(of: "late\(number)")
                let length = "Content-Length: \(body.utf8.count)\r\n"
                try #require(connection.begin("POST", target, length, body: body))
            }
            try moveOut(of: first)
            second.signal(SIGCONT)
            var names = (0..<16).map { "r\($0)" }
            for (number, connection) in waiting.enumerated() {
                let answer = connection.text { $0.contains("\r\n\r\n") } ?? ""
                guard answer.hasPrefix("HTTP/1.1 200 ") else {
                    #expect(answer.hasPrefix("HTTP/1.1 503 "), "\(answer)")
                    continue
                }
                names.append("late\(number)")
            }
            let moved = try ServerProcess(data: folder.path("moved"))
            let wanted = names.map { #"{"recordName":"\#($0)"}"# }.joined(separator: ",")
            let found = try post(moved, query, "records/lookup", #"{"records":[\#(wanted)]}"#)
            #expect(found.status == 200 && !found.body.contains("NOT_FOUND"), "\(found)")
        }

        private struct NotSaved: Error {
            let answer: String
        }

        /// What names the database of the servers.
        private var source: String { environment["LENTICULAR_STORAGE_POSTGRES_URL"] ?? "" }

        /// Has a server copy all there is into the folder `moved`.
        private func moveOut(of server: ServerProcess) throws {
            let copied = try Program.run(
                [
                    "storage", "copy", "--from", source, "--to",
                    "sqlite:\(folder.path("moved"))", "--data", server.data, "--json",
                ], environment: environment)
            try #require(copied.status == 0, "\(copied)")
        }

        @Test("Each session says of which process it is, those of logs and telemetry among them")
        func sessions() throws {
            let first = try start("a")
            let query = try enter(first)
            try #require(try post(first, query, "zones/list", "{}").status == 200)
            let connection = try Connection(
                ConnectionOptions(address: database.address(of: "app")))
            try Wait.until {
                try connection.run(
                    """
                    SELECT 1 FROM (SELECT FROM logs.audit_lines LIMIT 1) audit,
                        (SELECT FROM logs.request_segments LIMIT 1) requests,
                        (SELECT FROM telemetry.starts LIMIT 1) telemetry
                    """
                ).count == 1
            }
            let others = try connection.run(
                """
                SELECT 1 FROM pg_stat_activity WHERE datname = 'app' AND pid <> pg_backend_pid()
                    AND backend_type = 'client backend' AND application_name <> (
                        SELECT 'lenticular ' || encode(process, 'hex') FROM catalog.processes)
                """)
            #expect(others.count == 0)
        }

        @Test("None waits at its start for one that is dead, however long its lease would last")
        func deadProcess() throws {
            let first = try start("a")
            let query = try enter(first)
            try #require(try post(first, query, "zones/list", "{}").status == 200)
            try makeFolder("b", beside: first)
            first.signal(SIGKILL)
            _ = first.wait()
            // As if it had renewed its lease for an hour with its last word.
            let connection = try Connection(
                ConnectionOptions(address: database.address(of: "app")))
            let renewed = try connection.run(
                "UPDATE catalog.processes SET lives_until = lives_until + 3600000 RETURNING 1")
            #expect(renewed.count == 1)
            let second = try start("b")
            #expect(try second.request("/readyz").status == 200)
            #expect(try post(second, query, "zones/list", "{}").status == 200)
        }

        @Test(
            "A command waits for one that is stopped until its lease has ended; that one wakes up to nothing it had kept"
        )
        func stoppedProcess() throws {
            let (first, second, query) = try startTwo()
            // It has the token in memory from here on.
            let known = try second.request("\(Self.base)/zones/list?\(query)")
            try #require(known.status == 200)
            let connection = try Connection(
                ConnectionOptions(address: database.address(of: "app")))
            let now = "extract(epoch FROM clock_timestamp()) * 1000"
            func living() throws -> Int {
                try connection.run(
                    "SELECT 1 FROM catalog.processes WHERE lives_until > \(now)"
                ).count
            }
            second.signal(SIGSTOP)
            // Without it the process would not end with its signal.
            defer { second.signal(SIGCONT) }
            try #require(try living() == 2)
            let began = ContinuousClock.now
            _ = try command(
                "web-token", "revoke", "iCloud.a", "development", "ann@a.example", "--all",
                on: first)
            #expect(try living() == 1)
            // Its lease of five seconds, and what a machine needs that does other things, too.
            #expect(began.duration(to: .now) < .seconds(60))
            // They are there when it wakes up, before it has had time to ask who lives.
            let asking = (0..<8).map { _ in WireConnection(address: second.address) }
            for connection in asking {
                try #require(connection.begin("GET", "\(Self.base)/zones/list?\(query)"))
            }
            second.signal(SIGCONT)
            for connection in asking {
                let answer = connection.text { $0.contains("\r\n\r\n") }
                #expect(answer?.hasPrefix("HTTP/1.1 421 ") == true, "\(answer ?? "no answer")")
            }
            #expect(try post(second, query, "zones/list", "{}").status == 421)
        }

        @Test("One is refused whose assets are elsewhere")
        func assetsElsewhere() throws {
            let first = try start("a")
            let apart = try refused("b")
            #expect(apart.contains("mount one folder as containers/"), "\(apart)")
            #expect(try first.request("/readyz").status == 200)
        }

        @Test(
            "A server whose folder of assets is another one than before is refused, and served once it has the mark"
        )
        func otherFolder() throws {
            let first = try start("a")
            first.signal(SIGTERM)
            #expect(first.wait() == 0)
            try makeFolder("b", beside: first)
            // As where the file system is not mounted that has the files.
            try FileManager.default.removeItem(atPath: folder.path("b/containers"))
            try FileManager.default.createDirectory(
                atPath: folder.path("b/containers"), withIntermediateDirectories: false)
            let alone = try refused("b")
            #expect(
                alone.contains("b/containers is not the folder that the database knows"), "\(alone)"
            )
            let mark = "containers/.lenticular-assets"
            try String(contentsOfFile: folder.path("a/\(mark)"), encoding: .utf8)
                .write(toFile: folder.path("b/\(mark)"), atomically: true, encoding: .utf8)
            #expect(try start("b").request("/readyz").status == 200)
        }

        @Test("One whose key does not open what is sealed is refused, beside others and alone")
        func keys() throws {
            let first = try start("a")
            try makeFolder("b", beside: first)
            try write(Self.otherKey, toKeysOf: "b")
            let words = "which seals 1 secret in the database"
            let beside = try refused("b")
            #expect(beside.contains("security.keyFile: ") && beside.contains(words), "\(beside)")
            #expect(try first.request("/readyz").status == 200)
            first.signal(SIGTERM)
            #expect(first.wait() == 0)
            let alone = try refused("b")
            #expect(alone.contains(words), "\(alone)")
            // The key of the message is the one that the first server notes as its own.
            let name = try String(contentsOfFile: folder.path("a/sealed-by"), encoding: .utf8)
            #expect(alone.contains("does not hold the key \(name.prefix(16)),"), "\(alone)")
            // What opens all of it is enough, whichever key comes first.
            let own = try String(contentsOfFile: folder.path("a/secrets.key"), encoding: .utf8)
            try write(Self.otherKey + own, toKeysOf: "b")
            #expect(try start("b").request("/readyz").status == 200)
        }

        @Test("One that opens some of what is sealed but not all is refused")
        func someKeys() throws {
            let first = try start("a")
            let own = try String(contentsOfFile: "\(first.data)/secrets.key", encoding: .utf8)
            first.signal(SIGTERM)
            #expect(first.wait() == 0)
            // A key in front seals what comes from now on.
            try write(Self.otherKey + own, toKeysOf: "a")
            let again = try start("a")
            let made = try Program.run(
                [
                    "identity-provider", "add", "Id", "https://id.example", "us",
                    "--secret-stdin", "--data", again.data,
                ], input: "secret\n", environment: environment)
            #expect(made.status == 0, "\(made)")
            try makeFolder("b", beside: again)
            try write(own, toKeysOf: "b")
            let some = try refused("b")
            #expect(some.contains("which seals 1 secret in the database"), "\(some)")
        }

        @Test("What lost keys have sealed can be removed, and then another key begins")
        func lostKeys() throws {
            let first = try start("a")
            try makeFolder("b", beside: first)
            try write(Self.otherKey, toKeysOf: "b")
            first.signal(SIGTERM)
            #expect(first.wait() == 0)
            let page = try String(
                contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                    .appending(path: "../../docs/operating/postgres.md"), encoding: .utf8)
            let statements = try #require(
                page.firstMatch(of: /```sql\n([^`]*catalog\.second_factors[^`]*)```/))
            try Connection(ConnectionOptions(address: database.address(of: "app")))
                .run(script: String(statements.1))
            #expect(try start("b").request("/readyz").status == 200)
        }

        @Test("Wrong passwords count together, whichever of them is asked")
        func guesses() throws {
            let first = try start("a")
            try makeFolder("b", beside: first)
            let second = try start("b")
            // Five cost no waiting, then each a second, two, four: on a busy machine so much may pass in between. Did each
            // of them count for itself, the tenth would still be free.
            var statuses: [Int] = []
            while statuses.count < 10, statuses.last != 429 {
                let browser = Visitor(
                    server: statuses.count % 2 == 0 ? first : second,
                    jar: folder.path("jar\(statuses.count)"))
                let password = "wrong \(statuses.count)"
                statuses.append(
                    try browser.send(
                        "/sign-in", ["address": "ida@example.org", "password": password]
                    ).status)
            }
            #expect(statuses.count > 5 && statuses.last == 429, "\(statuses)")
            #expect(statuses.dropLast().allSatisfy { $0 == 403 }, "\(statuses)")
        }

        @Test("A user's rate is divided among the servers that live: one of two grants half of it")
        func rates() throws {
            let bound = 10
            let low = environment.merging(["LENTICULAR_LIMITS_USER_REQUESTS_PER_SECOND_MAX": "1"]) {
                $1
            }
            let first = try ServerProcess(data: folder.path("a"), environment: low)
            let (ann, bob) = (try enter(first), try enter("bob@a.example", at: first))
            // Of ten seconds, so many may come at once.
            #expect(try granted(ann, bound, at: first).count == bound)
            try makeFolder("b", beside: first)
            let second = try ServerProcess(data: folder.path("b"), environment: low)
            try Wait.until {
                try [first, second].allSatisfy { try metric("lenticular_processes", of: $0) == 2 }
            }
            let half = try granted(bob, bound, at: second)
            // What time has added meanwhile is divided, too.
            #expect(half.count >= bound / 2 && half.count <= bound / 2 + half.seconds / 2 + 1)
        }

        /// How many of so many requests of a user one server grants, and how many seconds they took; one that is refused is
        /// told to come again later.
        private func granted(
            _ query: String, _ count: Int, at server: ServerProcess
        ) throws -> (count: Int, seconds: Int) {
            let began = ContinuousClock.now
            let statuses = try (0..<count).map { _ in
                try post(server, query, "zones/list", "{}").status
            }
            #expect(statuses.allSatisfy { $0 == 200 || $0 == 429 }, "\(statuses)")
            let granted = statuses.count { $0 == 200 }
            return (granted, Int(began.duration(to: .now).components.seconds) + 1)
        }

        private struct Visitor: CurlBrowser {
            let server: ServerProcess
            let jar: String
        }

        private static let otherKey = String(repeating: "ab", count: 32) + "\n"

        private func write(_ keys: String, toKeysOf data: String) throws {
            let path = folder.path("\(data)/secrets.key")
            try keys.write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        }

        /// What a server says that does not start.
        private func refused(_ data: String) throws -> String {
            let outcome = try Program.run(
                ["serve", "--data", folder.path(data), "--listen", "127.0.0.1:0"],
                environment: environment)
            #expect(outcome.status == 1, "\(outcome)")
            return outcome.error
        }
    }
#endif
