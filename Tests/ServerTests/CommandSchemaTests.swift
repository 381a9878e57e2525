import Foundation
import Storage
import Testing

@testable import Commands
@testable import Control
@testable import Server

@Suite("Schemas by command")
struct CommandSchemaTests {
    private static let container = "iCloud.org.example.Garden"
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try ServerProcess.makeData(folder.path("data"))
    }

    private func run(_ arguments: String..., input: String = "") throws -> Program.Outcome {
        try Program.run(arguments + ["--data", folder.path("data")], input: input, in: folder.root)
    }

    private func schema(
        _ verb: String, _ arguments: String..., input: String = ""
    ) throws
        -> Program.Outcome
    {
        try Program.run(
            ["schema", verb, Self.container] + arguments + ["--data", folder.path("data")],
            input: input, in: folder.root)
    }

    private func write(_ text: String, _ name: String = "garden.ckdb") throws {
        try "DEFINE SCHEMA \(text)".write(
            toFile: folder.path(name), atomically: true, encoding: .utf8)
    }

    private func changes(_ outcome: Program.Outcome) -> [String]? {
        outcome.object["changes"] as? [String]
    }

    @Test("A schema goes from a file to development, to production and back into a file")
    func wholeWay() throws {
        #expect(try run("container", "create", Self.container).status == 0)
        try write("record type Plant (name string queryable, GRANT READ TO _world);")
        let lines = [
            "+ type Plant", "+ field Plant.name STRING QUERYABLE",
            "+ grant READ on Plant to _world",
        ]
        #expect(changes(try schema("validate", "garden.ckdb", "--json")) == lines)
        #expect(try schema("check", "garden.ckdb").status == 1)
        let made = try schema("import", "garden.ckdb", "--json")
        #expect(made.status == 0 && changes(made) == lines)
        #expect(try schema("check", "garden.ckdb").status == 0)
        #expect(try schema("check", "production", "garden.ckdb").status == 1)
        #expect(
            changes(try schema("check", "production", "-", "--json", input: "DEFINE SCHEMA")) == [])
        #expect(changes(try schema("diff", "--json")) == lines)

        let unasked = try schema("deploy")
        #expect(unasked.status == 1 && unasked.output == lines.joined(separator: "\n") + "\n")
        #expect(unasked.error.contains("--yes"))
        let silent = try schema("deploy", "--json")
        #expect(silent.status == 1 && silent.output.isEmpty)
        #expect(changes(try schema("diff", "--json")) == lines)
        #expect(changes(try schema("deploy", "production", "--yes", "--json")) == lines)
        #expect(try schema("deploy").output == "production has all that development has\n")
        #expect(try schema("deploy", "development", "--yes").error.contains("production only"))

        let exported = try schema("export", "production", "--json")
        let text = try #require(exported.object["schema"] as? String)
        #expect(try schema("export").output == text)
        #expect(try schema("export", "out.ckdb").output == "schema written to out.ckdb\n")
        #expect(try String(contentsOfFile: folder.path("out.ckdb"), encoding: .utf8) == text)
        #expect(try schema("check", "production", "out.ckdb").output == "no difference\n")
        let history = try schema("history", "production").output
        #expect(history.contains("  lenticular schema deploy\n    + type Plant\n"))
        #expect(changes(try schema("history", "--json", "--limit", "1"))?.count == 3)
    }

    @Test("What is wrong with a file is said with its name, line and column, and nothing is done")
    func faults() throws {
        #expect(try run("container", "create", Self.container).status == 0)
        try write("\n  RECORD TYPE Plant (name STRING,\n  size INT);")
        for verb in ["import", "validate", "check", "diff"] {
            let refused = try schema(verb, "garden.ckdb")
            #expect(refused.status == 1 && refused.output.isEmpty)
            #expect(
                refused.error.hasPrefix(
                    "lenticular: garden.ckdb: line 3, column 8: expected a type, one of ASSET"))
        }
        #expect(try schema("import", "nowhere.ckdb").error.contains("nowhere.ckdb"))
        #expect(try schema("import").status == 2)
        #expect(
            try schema("import", "production", "garden.ckdb").error.contains("development only"))
        #expect(try schema("check", "staging", "garden.ckdb").status == 2)
        #expect(try run("schema", "export", "iCloud.nobody").error.contains("no such container"))
        #expect(try schema("reset", "production", "--yes").error.contains("development only"))
        #expect(try schema("history", "--limit", "0").status == 2)
        try write(String(repeating: "--------\n", count: 120_000))
        let limited = try schema("check", "garden.ckdb")
        #expect(limited.status == 1 && limited.error.contains("at most 1048576 bytes"))
    }

    @Test("On a terminal a deployment is shown, then asked about, then done")
    func asking() throws {
        #expect(try run("container", "create", Self.container).status == 0)
        try write("RECORD TYPE Plant (name STRING);")
        #expect(try schema("import", "garden.ckdb").status == 0)
        let shown = Shown()
        let program = { (answer: String) in
            CommandLineProgram(
                process: ProcessEnvironment(
                    environment: [:], folder: folder.root, isTerminal: true, readInput: { _ in [] },
                    ask: { question in
                        shown.add("? \(question)\n")
                        return answer
                    }, writeOutput: { shown.add(String(decoding: $0, as: UTF8.self)) },
                    clock: .system, random: .system))
        }
        let arguments = ["schema", "deploy", Self.container, "--data", folder.path("data")]
        let refused = program("n").run(arguments)
        #expect(refused.status == 1 && refused.error.contains("nothing was done"))
        #expect(
            shown.take()
                == "+ type Plant\n+ field Plant.name STRING\n? Deploy this to production? [y/N]\n")
        #expect(changes(try schema("diff", "--json"))?.count == 2)
        #expect(program("y").run(arguments).status == 0)
        #expect(changes(try schema("diff", "--json")) == [])
        _ = shown.take()
        #expect(program("n").run(arguments).status == 0)
        #expect(shown.take().isEmpty)
    }

    @Test("A running server lets records into production once their types are deployed")
    func whileServing() throws {
        let server = try ServerProcess(data: folder.path("data"))
        #expect(try run("container", "create", Self.container).status == 0)
        let users = try Users(server, Self.container)
        #expect(try users.save("development", "p") == nil)
        #expect(
            try users.save("production", "p")
                == "Cannot create new type 'Plant' in production schema; deploy it with: "
                + "lenticular schema deploy \(Self.container)")
        #expect(try schema("deploy", "--yes").output.contains("+ field Plant.name STRING"))
        #expect(try users.save("production", "p") == nil)
        #expect(try schema("export", "out.ckdb").status == 0)
        #expect(try schema("check", "out.ckdb").status == 0)
        #expect(try schema("check", "production", "out.ckdb").status == 0)
        #expect(try schema("history").output.contains("+ type Plant"))
        try write("RECORD TYPE Tree (name STRING);")
        #expect(try schema("import", "garden.ckdb").error.contains("- type Plant"))
        #expect(
            try schema("import", "garden.ckdb", "--prune").error.contains(
                "- type Plant (in 1 records)"))
        #expect(try run("check").output == "no problems\n")
    }

    @Test("A reset takes development back to production's schema, without its data; tokens expire")
    func reset() throws {
        let server = try ServerProcess(data: folder.path("data"))
        #expect(try run("container", "create", Self.container).status == 0)
        let users = try Users(server, Self.container)
        try users.makeZone("development")
        #expect(try users.save("development", "p", zone: "Bed") == nil)
        #expect(try schema("deploy", "--yes").status == 0)
        try users.makeZone("production")
        #expect(try users.save("production", "p", zone: "Bed") == nil)
        #expect(try users.save("development", "q", type: "Weed", zone: "Bed") == nil)
        let token = try #require(
            try users.changes("development", after: nil)["syncToken"] as? String)
        let kept = try #require(try users.changes("production", after: nil)["syncToken"] as? String)

        let unasked = try schema("reset")
        #expect(unasked.status == 1 && unasked.output == "- type Weed\n")
        #expect(try users.changes("development", after: token)["serverErrorCode"] == nil)
        let done = try schema("reset", "development", "--yes", "--json")
        #expect(done.status == 0 && changes(done) == ["- type Weed"])

        #expect(changes(try schema("diff", "--json")) == [])
        let gone = try users.changes("development", after: token)
        #expect(gone["serverErrorCode"] as? String == "ZONE_NOT_FOUND")
        try users.makeZone("development")
        let expired = try users.changes("development", after: token)
        #expect(expired["changeTokenExpired"] as? Bool == true)
        #expect(
            try users.databaseChanges("development", after: users.databaseToken("production"))[
                "serverErrorCode"] as? String == "BAD_REQUEST")
        #expect(
            (try users.changes("development", after: nil)["records"] as? [Any])?.isEmpty == true)
        #expect(try users.changes("production", after: kept)["serverErrorCode"] == nil)
        #expect(try users.save("development", "p", zone: "Bed") == nil)
        #expect(try schema("history", "--limit", "1").output.contains("lenticular schema reset\n"))
        #expect(
            changes(try schema("history", "--json"))?.contains { $0.hasSuffix("+ type Weed") }
                == true)
        #expect(try run("check").output == "no problems\n")
        let inside = try FileManager.default.contentsOfDirectory(
            atPath: "\(folder.path("data"))/containers/\(Self.container.lowercased())")
        #expect(inside.sorted() == ["development", "production"])
    }

    @Test("A command that meets a reset or a failing disk says so in words")
    func storageFailures() {
        #expect(
            CommandAnswer(failure: StorageFailure.beginning).error
                == "lenticular: the environment is being reset; try again")
        #expect(
            CommandAnswer(failure: StorageFailure.indeterminate).error
                == "lenticular: it is not known whether the change was made; look, then try again")
        #expect(
            CommandAnswer(failure: StorageFailure.full).error
                == "lenticular: the disk is full; nothing was changed")
    }

    @Test("A reset that was cut short is finished, or undone, at the next start")
    func interruptedReset() throws {
        #expect(try run("container", "create", Self.container).status == 0)
        try write("RECORD TYPE Plant (name STRING);")
        #expect(try schema("import", "garden.ckdb").status == 0)
        let location =
            "\(folder.path("data"))/containers/\(Self.container.lowercased())/development"
        let files = FileManager.default
        // Before the files were exchanged: the store is as it was.
        try files.createDirectory(atPath: "\(location)~fresh", withIntermediateDirectories: true)
        #expect(try schema("check", "garden.ckdb").status == 0)
        #expect(!files.fileExists(atPath: "\(location)~fresh"))
        // In between: what was made is put in place.
        try files.copyItem(atPath: location, toPath: "\(location)~fresh")
        try files.moveItem(atPath: location, toPath: "\(location)~deleted")
        #expect(try schema("check", "garden.ckdb").status == 0)
        #expect(!files.fileExists(atPath: "\(location)~fresh"))
        #expect(!files.fileExists(atPath: "\(location)~deleted"))
        try files.copyItem(atPath: location, toPath: "\(location)~fresh")
        try files.moveItem(atPath: location, toPath: "\(location)~deleted")
        let server = try ServerProcess(data: folder.path("data"))
        #expect(try schema("check", "garden.ckdb").status == 0)
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
    }
}

/// What a program has written to its terminal.
private final class Shown: @unchecked Sendable {
    // Touched by the test's thread alone: the program runs on it.
    private var text = ""

    func add(_ more: String) { text += more }

    func take() -> String {
        defer { text = "" }
        return text
    }
}

/// A user of a container in both environments, on a running server.
private struct Users {
    private let server: ServerProcess
    private let container: String
    private var queries: [String: String] = [:]

    init(_ server: ServerProcess, _ container: String) throws {
        self.server = server
        self.container = container
        _ = try server.command("user", "create", "ann@a.example")
        for environment in ["development", "production"] {
            let api = try server.command("api-token", "create", container, environment, "--json")
            let web = try server.command(
                "web-token", "create", container, environment, "ann@a.example", "--json")
            queries[environment] =
                "ckAPIToken=\(api.object["apiToken"] as? String ?? "")&ckWebAuthToken="
                + (web.object["webAuthToken"] as? String ?? "")
        }
    }

    private func post(
        _ environment: String, _ path: String, _ body: String
    ) throws -> [String: Any] {
        let answer = try server.request(
            "/database/1/\(container)/\(environment)/private/\(path)?\(queries[environment] ?? "")",
            ["-d", body])
        let parsed = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
        return try #require(parsed as? [String: Any])
    }

    /// Saves a record; why not, when it is refused.
    func save(
        _ environment: String, _ name: String, type: String = "Plant", zone: String = "_defaultZone"
    ) throws -> String? {
        let answer = try post(
            environment, "records/modify",
            """
            {"zoneID":{"zoneName":"\(zone)"},"operations":[{"operationType":"forceReplace","record":
            {"recordType":"\(type)","recordName":"\(name)","fields":{"name":{"value":"x"}}}}]}
            """)
        let records = try #require(answer["records"] as? [[String: Any]])
        return records.first?["reason"] as? String
    }

    func makeZone(_ environment: String) throws {
        _ = try post(
            environment, "zones/modify",
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"Bed"}}}]}"#)
    }

    func changes(_ environment: String, after token: String?) throws -> [String: Any] {
        let after = token.map { ",\"syncToken\":\"\($0)\"" } ?? ""
        let answer = try post(
            environment, "changes/zone", "{\"zones\":[{\"zoneID\":{\"zoneName\":\"Bed\"}\(after)}]}"
        )
        return try #require((answer["zones"] as? [[String: Any]])?.first)
    }

    func databaseToken(_ environment: String) throws -> String {
        try #require(try post(environment, "changes/database", "{}")["syncToken"] as? String)
    }

    func databaseChanges(_ environment: String, after token: String) throws -> [String: Any] {
        try post(environment, "changes/database", "{\"syncToken\":\"\(token)\"}")
    }
}
