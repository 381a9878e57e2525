#if PostgreSQL
    import Awaiting
    import Foundation
    import PostgreSQLServer
    import S3StandIn
    import Testing

    @Suite("Servers on one PostgreSQL with one bucket, and how their data come there")
    struct PostgresBucketTests {
        /// Servers on one database.
        private struct Servers: ServersOnPostgres {
            let folder: TemporaryFolder
            let database: PostgreSQLServer
            let environment: [String: String]

            var url: String { environment["LENTICULAR_STORAGE_POSTGRES_URL"] ?? "" }

            /// A data folder with the keys of another one.
            func makeFolder(_ data: String, keysOf other: String) throws {
                try FileManager.default.createDirectory(
                    atPath: folder.path(data), withIntermediateDirectories: true)
                try FileManager.default.copyItem(
                    atPath: folder.path("\(other)/secrets.key"),
                    toPath: folder.path("\(data)/secrets.key"))
            }

            /// Saves a record `r` that has a file of some text.
            func save(_ text: String, at server: ServerProcess, _ query: String) throws {
                let made = try post(
                    server, query, "assets/upload",
                    #"{"tokens":[{"fieldName":"f","recordType":"T"}]}"#)
                let answer = try server.request(
                    AssetFixture.path(of: address(in: made.body, #/"url":"([^"]+)"/#)),
                    ["--data-binary", text])
                let value = try #require(
                    answer.body.firstMatch(of: #/"singleFile":(\{[^}]+\})/#), "\(answer)")
                let saved = try post(
                    server, query, "records/modify",
                    #"{"operations":[{"operationType":"create","record":{"recordType":"T","#
                        + #""recordName":"r","fields":{"f":{"value":\#(value.1)}}}}]}"#)
                #expect(saved.status == 200 && !saved.body.contains("serverErrorCode"), "\(saved)")
            }

            /// The text of the file of record `r`.
            func text(at server: ServerProcess, _ query: String) throws -> String {
                let found = try post(
                    server, query, "records/lookup", #"{"records":[{"recordName":"r"}]}"#)
                let link = try address(in: found.body, #/"downloadURL":"([^"]+)"/#)
                return try server.request(AssetFixture.path(of: link), []).body
            }

            private func address(
                in answer: String, _ expression: Regex<(Substring, Substring)>
            ) throws -> String {
                try String(#require(answer.firstMatch(of: expression), "\(answer)").1)
                    .replacing("\\/", with: "/")
            }
        }

        private let folder: TemporaryFolder
        private let store: S3StandInServer
        private let database: PostgreSQLServer

        init() throws {
            folder = try TemporaryFolder()
            store = try S3StandInServer()
            database = try PostgreSQLServer.shared()
            let secret = String(decoding: S3StandInServer.secret, as: UTF8.self)
            try Data("\(S3StandInServer.accessKeyID)\n\(secret)\n".utf8)
                .write(to: URL(fileURLWithPath: folder.path("keys")))
        }

        /// Servers on a database of their own.
        private func servers(withBucket: Bool) throws -> Servers {
            var environment = try PostgresServingTests.environment(
                of: database.newDatabaseName(), on: database)
            if withBucket {
                environment.merge([
                    "LENTICULAR_S3_ENDPOINT": store.origin.text,
                    "LENTICULAR_S3_REGION": S3StandInServer.region,
                    "LENTICULAR_S3_BUCKET": S3StandInServer.bucket,
                    "LENTICULAR_S3_PREFIX": "one/",
                    "LENTICULAR_S3_CREDENTIALS_FILE": folder.path("keys"),
                ]) { $1 }
            }
            return Servers(folder: folder, database: database, environment: environment)
        }

        private func stop(_ server: ServerProcess) {
            server.signal(SIGTERM)
            #expect(server.wait() == 0)
        }

        @Test("What cut-off uploads have left each removes from its own folder, once it is old")
        func cutOff() throws {
            let servers = try servers(withBucket: true)
            let first = try servers.start("a")
            _ = try servers.enter(first)
            try servers.makeFolder("b", keysOf: "a")
            let incoming = folder.path("b/containers/icloud.a/development/assets/incoming")
            let files = FileManager.default
            try files.createDirectory(atPath: incoming, withIntermediateDirectories: true)
            for name in ["01", "02"] {
                try Data([1]).write(to: URL(fileURLWithPath: "\(incoming)/\(name)"))
            }
            try files.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_000)],
                ofItemAtPath: "\(incoming)/01")
            let second = try servers.start("b")
            try Wait.until { try files.contentsOfDirectory(atPath: incoming) == ["02"] }
            stop(second)
            stop(first)
        }

        @Test(
            "Containers are copied beside what servers have there, and every server finds the files",
            arguments: [false, true])
        func copied(isUsedBefore: Bool) throws {
            let (old, new) = (try servers(withBucket: false), try servers(withBucket: true))
            if isUsedBefore {
                stop(try new.start("before"))
                try new.makeFolder("target", keysOf: "before")
            }
            let source = try old.start("old")
            let query = try old.enter(source)
            try old.save("picture", at: source, query)
            let settings: [String: Any] = [
                "data": folder.path("target"),
                "storage": ["engine": "postgres", "postgresURL": new.url],
                "s3": [
                    "endpoint": store.origin.text, "region": S3StandInServer.region,
                    "bucket": S3StandInServer.bucket, "prefix": "one/",
                    "credentialsFile": folder.path("keys"),
                ],
            ]
            try JSONSerialization.data(withJSONObject: settings)
                .write(to: URL(fileURLWithPath: folder.path("target.json5")))
            let copied = try Program.run(
                [
                    "storage", "copy", "--from", old.url, "--to", new.url, "--to-config",
                    folder.path("target.json5"), "--data", source.data,
                ], environment: old.environment)
            try #require(copied.status == 0, "\(copied)")
            try new.makeFolder("next", keysOf: "target")
            #expect(try new.text(at: new.start("next"), query) == "picture")
        }

        @Test("Into a bucket a backup is restored for every server of the database")
        func restored() throws {
            let (old, new) = (try servers(withBucket: false), try servers(withBucket: true))
            let source = try old.start("old")
            let query = try old.enter(source)
            try old.save("picture", at: source, query)
            let restored = try restore(backup(of: source, old), "restored", new)
            try #require(restored.status == 0, "\(restored)")
            try new.makeFolder("next", keysOf: "restored")
            #expect(try new.text(at: new.start("next"), query) == "picture")
        }

        @Test(
            "A backup is restored where the folder that servers share is mounted, and its mark stays"
        )
        func mounted() throws {
            let (old, new) = (try servers(withBucket: false), try servers(withBucket: false))
            let source = try old.start("old")
            let query = try old.enter(source)
            try old.save("picture", at: source, query)
            let copy = try backup(of: source, old)
            let (files, shared) = (FileManager.default, folder.path("shared"))
            for path in [shared, folder.path("restored")] {
                try files.createDirectory(atPath: path, withIntermediateDirectories: true)
            }
            try files.createSymbolicLink(
                atPath: folder.path("restored/containers"), withDestinationPath: shared)
            let mark = "\(shared)/.lenticular-assets"
            try Data("mark".utf8).write(to: URL(fileURLWithPath: mark))
            // Whose containers they are nobody knows.
            try files.createDirectory(
                atPath: "\(shared)/icloud.b", withIntermediateDirectories: true)
            let refused = try restore(copy, "restored", new)
            #expect(refused.status == 1 && refused.error.contains("is not empty"), "\(refused)")
            try files.removeItem(atPath: "\(shared)/icloud.b")
            // One that fails leaves nothing but the mark.
            let catalog = URL(fileURLWithPath: "\(copy)/catalog.rows")
            let whole = try Data(contentsOf: catalog)
            try whole.prefix(whole.count / 2).write(to: catalog)
            #expect(try restore(copy, "restored", new).status == 1)
            #expect(try files.contentsOfDirectory(atPath: shared) == [".lenticular-assets"])
            try whole.write(to: catalog)
            let restored = try restore(copy, "restored", new)
            try #require(restored.status == 0, "\(restored)")
            #expect(try String(contentsOfFile: mark, encoding: .utf8) == "mark")
            #expect(try files.contentsOfDirectory(atPath: shared).contains("icloud.a"))
        }

        private func backup(of server: ServerProcess, _ servers: Servers) throws -> String {
            let copy = folder.path("copy")
            let made = try Program.run(
                ["backup", copy, "--data", server.data], environment: servers.environment)
            try #require(made.status == 0, "\(made)")
            return copy
        }

        private func restore(
            _ copy: String, _ data: String, _ servers: Servers
        ) throws -> Program.Outcome {
            try Program.run(
                ["restore", copy, "--yes", "--data", folder.path(data)],
                environment: servers.environment)
        }
    }
#endif
