#if PostgreSQL
    import Foundation
    import PostgreSQLServer
    import Testing

    /// Servers on one PostgreSQL, each in a data folder of its own, with one person who uses one container.
    protocol ServersOnPostgres {
        var folder: TemporaryFolder { get }
        var database: PostgreSQLServer { get }
        /// What has a server, or a command, use the database.
        var environment: [String: String] { get }
    }

    extension ServersOnPostgres {
        static var base: String { "/database/1/iCloud.a/development/private" }

        func start(_ data: String) throws -> ServerProcess {
            try ServerProcess(data: folder.path(data), environment: environment)
        }

        /// A data folder that shares what processes must share with that of a server.
        func makeFolder(_ data: String, beside server: ServerProcess) throws {
            let files = FileManager.default
            try files.createDirectory(
                atPath: folder.path(data), withIntermediateDirectories: true)
            try files.createSymbolicLink(
                atPath: folder.path("\(data)/containers"),
                withDestinationPath: "\(server.data)/containers")
            try files.copyItem(
                atPath: "\(server.data)/secrets.key", toPath: folder.path("\(data)/secrets.key"))
        }

        /// Starts one server, makes a container and a person there, and starts another one; the query that she asks with.
        func startTwo() throws -> (first: ServerProcess, second: ServerProcess, query: String) {
            let first = try start("a")
            let query = try enter(first)
            try makeFolder("b", beside: first)
            return (first, try start("b"), query)
        }

        func command(_ words: String..., on server: ServerProcess) throws -> [String: Any] {
            let outcome = try Program.run(
                words + ["--data", server.data, "--json"], environment: environment)
            try #require(outcome.status == 0, "\(outcome.error)")
            return outcome.object
        }

        /// Makes a container and a person; the query that she asks with.
        func enter(_ server: ServerProcess) throws -> String {
            _ = try command("container", "create", "iCloud.a", on: server)
            return try enter("ann@a.example", at: server)
        }

        /// Makes a further person; the query that they ask with.
        func enter(_ address: String, at server: ServerProcess) throws -> String {
            _ = try command("user", "create", address, on: server)
            let api = try command("api-token", "create", "iCloud.a", "development", on: server)
            let web = try command(
                "web-token", "create", "iCloud.a", "development", address, on: server)
            return "ckAPIToken=\(try #require(api["apiToken"] as? String))"
                + "&ckWebAuthToken=\(try #require(web["webAuthToken"] as? String))"
        }

        func post(
            _ server: ServerProcess, _ query: String, _ operation: String, _ body: String
        ) throws -> (status: Int, body: String) {
            let answer = try server.request("\(Self.base)/\(operation)?\(query)", ["-d", body])
            return (answer.status, answer.body)
        }

        /// A number that a server's metrics show; nil where they do not.
        func metric(_ name: String, of server: ServerProcess) throws -> Int? {
            let line = try server.metrics().split(separator: "\n").first {
                $0.hasPrefix("\(name) ")
            }
            return line?.split(separator: " ").last.flatMap { Double($0) }.map { Int($0) }
        }
    }
#endif
