import Administration
import CloudModel
import Configuration
import Cryptography
import Foundation
import Synchronization
import Testing

@testable import Commands
@testable import Control
@testable import Server

@Suite("Administration: one way to every action on the data")
struct AdministrationTests {
    /// What was noted, in order.
    private final class Notes: Sendable {
        let entries = Mutex<[ActionEntry]>([])

        var last: ActionEntry? { entries.withLock { $0.last } }
        var count: Int { entries.withLock { $0.count } }
    }

    private struct Refused: Error {}

    private let temporary: TemporaryFolder
    private let server: FolderServer
    private let notes = Notes()
    private let actor = Operator.commandLine(userNumber: 4_711)

    init() throws {
        temporary = try TemporaryFolder()
        server = try FolderServer(data: temporary.path("data"))
    }

    private var administrator: Administrator {
        Administrator(actor, on: server.folder) { [notes] entry in
            notes.entries.withLock { $0.append(entry) }
        }
    }

    /// Runs a command as the server does.
    private func run(
        _ arguments: [String], _ inputs: [String: String] = [:], by administrator: Administrator
    ) throws -> CommandOutput {
        let parsed = try CommandLineParser(commands: Command.all).parse(arguments)
        guard case .invocation(var invocation) = parsed else { throw Refused() }
        for (name, text) in inputs { invocation.setContents(Array(text.utf8), of: name) }
        switch invocation.command.action {
        case .local: throw Refused()
        case .data(let action): return try action(invocation, administrator)
        case .watched(let action):
            return try action(invocation, administrator, ProgressWatcher { _ in true })
        case .streamed(let action):
            let process = ProcessEnvironment(
                environment: [:], folder: temporary.path(""), isTerminal: false,
                readInput: { _ in nil }, ask: { _ in "" }, writeOutput: { _ in }, clock: .system,
                random: .system)
            let files = LocalFiles(invocation, process, ProgressLine(process))
            return try action(invocation, administrator, files)
        case .copy(_, _, let action):
            let path = temporary.path("copy")
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true)
            return try action(invocation, administrator, CopyDestination(path: path))
        }
    }

    struct Step {
        let arguments: [String]
        var inputs: [String: String] = [:]
        var changes = true
        var hasEnvironment = false
        var hasAccount = false
        var item: String?
        /// It is noted, and what it asks for cannot be done here.
        var fails = false
    }

    private static let location = ["iCloud.a", "development"]
    private static let schema =
        "DEFINE SCHEMA CREATE ROLE Gardener; RECORD TYPE Bed ( \"___recordID\" REFERENCE );"

    private func steps() -> [Step] {
        Self.stepsOfAccess() + Self.stepsOfRequests() + Self.stepsOfDelivery()
            + Self.stepsOfServer() + stepsOfSchemas() + Self.stepsOfRecords()
            + stepsOfTransfers() + stepsOfData()
    }

    private func stepsOfTransfers() -> [Step] {
        let file = temporary.path("export.jsonl")
        return [
            Step(
                arguments: ["export"] + Self.location + [file], changes: false,
                hasEnvironment: true),
            Step(
                arguments: ["import"] + Self.location + [file, "--user", "ann@a.example"],
                hasEnvironment: true, hasAccount: true),
        ]
    }

    private static func stepsOfRecords() -> [Step] {
        [
            Step(
                arguments: ["zone", "list"] + location + ["private", "--user", "ann@a.example"],
                changes: false, hasEnvironment: true, hasAccount: true,
                item: "private _defaultZone"),
            Step(
                arguments: ["record", "list"] + location + ["private", "--user", "ann@a.example"],
                changes: false, hasEnvironment: true, hasAccount: true,
                item: "private _defaultZone"),
            Step(
                arguments: ["record", "get"] + location + ["public", "none"], changes: false,
                hasEnvironment: true, item: "public _defaultZone"),
            Step(
                arguments: ["record", "query"] + location + ["public", "--type", "Bed"],
                changes: false, hasEnvironment: true, item: "public _defaultZone"),
            Step(
                arguments: ["record", "changes"] + location + ["public"], changes: false,
                hasEnvironment: true, item: "public _defaultZone"),
            Step(
                arguments: ["record", "asset"] + location + ["public", "b", "photo"],
                changes: false, hasEnvironment: true, item: "public _defaultZone", fails: true),
            Step(
                arguments: ["record", "save"] + location + ["public", "f"],
                inputs: ["FILE": "{\"recordName\":\"b\",\"recordType\":\"Bed\"}"],
                hasEnvironment: true, item: "public _defaultZone"),
            Step(
                arguments: ["record", "delete"] + location + ["public", "b", "--yes"],
                hasEnvironment: true, item: "public _defaultZone"),
            Step(
                arguments: ["share", "list"] + location + ["ann@a.example"], changes: false,
                hasEnvironment: true, hasAccount: true, item: "private _defaultZone"),
            Step(
                arguments: ["share", "accept"] + location + ["ann@a.example", "nowhere"],
                hasEnvironment: true, hasAccount: true, item: "public _defaultZone", fails: true),
        ]
    }

    private static func stepsOfRequests() -> [Step] {
        [
            Step(arguments: ["logs", "--container", "iCloud.a"], changes: false),
            Step(arguments: ["user", "named", "iCloud.a", "_none"], changes: false, fails: true),
            Step(arguments: ["user", "apps", "ann@a.example"], changes: false, hasAccount: true),
            Step(
                arguments: ["user", "sync", "ann@a.example"] + location, changes: false,
                hasEnvironment: true, hasAccount: true),
        ]
    }

    private static func stepsOfDelivery() -> [Step] {
        var steps = [
            Step(
                arguments: ["webhook", "add"] + location + ["https://127.0.0.1:9/", "--name", "w"],
                hasEnvironment: true, item: "w"),
            Step(arguments: ["webhook", "list"] + location, changes: false, hasEnvironment: true),
            Step(
                arguments: ["webhook", "test"] + location + ["w"], hasEnvironment: true, item: "w",
                fails: true),
            Step(
                arguments: ["webhook", "dead-letters"] + location + ["w"], changes: false,
                hasEnvironment: true, item: "w"),
            Step(
                arguments: ["webhook", "replay"] + location + ["w"], hasEnvironment: true, item: "w"
            ),
            Step(
                arguments: ["webhook", "remove"] + location + ["w"], hasEnvironment: true, item: "w"
            ),
            Step(arguments: ["size", "iCloud.a"], changes: false),
            Step(arguments: ["doctor"], changes: false),
            Step(
                arguments: ["telemetry", "show"] + location + ["--hours", "24"], changes: false,
                hasEnvironment: true),
            Step(
                arguments: [
                    "alert", "add", "errors", "--metric", "error-rate", "--above", "5",
                    "--container", "iCloud.a", "--url", "https://127.0.0.1:9/",
                ], item: "errors"),
            Step(arguments: ["alert", "list"], changes: false),
            Step(arguments: ["alert", "test", "errors"], item: "errors", fails: true),
            Step(arguments: ["alert", "remove", "errors"], item: "errors"),
            Step(arguments: ["shrink"] + location, hasEnvironment: true),
            Step(arguments: ["push", "key", "list"], changes: false),
            Step(
                arguments: ["subscription", "list"] + location, changes: false, hasEnvironment: true
            ),
        ]
        #if ApplePush
            steps += [
                Step(
                    arguments: [
                        "push", "key", "add", "iCloud.a", "--topic", "org.a", "--key", "f",
                        "--key-id", "ABCDEFGHIJ", "--team-id", "ABCDEFGHIJ",
                    ], inputs: ["key": P256PrivateKey().pem], item: "org.a"),
                Step(arguments: ["push", "key", "remove", "iCloud.a", "org.a"], item: "org.a"),
            ]
        #endif
        return steps
    }

    private static func stepsOfServer() -> [Step] {
        [
            Step(arguments: ["outbox", "list"] + location, changes: false, hasEnvironment: true),
            Step(
                arguments: ["push", "test"] + location + ["ann@a.example"], hasEnvironment: true,
                hasAccount: true),
            Step(arguments: ["server", "show"], changes: false),
            Step(arguments: ["server", "settings"], changes: false),
            // No server runs, and no letters are sent.
            Step(arguments: ["server", "backup"], fails: true),
            Step(arguments: ["server", "mail", "ann@a.example"], fails: true),
        ]
    }

    private static func stepsOfAccess() -> [Step] {
        let pem = P256PrivateKey().publicKeyPEM
        return [
            Step(arguments: ["container", "create", "iCloud.a"]),
            Step(arguments: ["container", "list"], changes: false),
            Step(arguments: ["container", "set", "iCloud.a", "publicChanges=true"]),
            Step(
                arguments: ["api-token", "create"] + location + ["--name", "app"],
                hasEnvironment: true, item: "app"),
            Step(arguments: ["api-token", "list"], changes: false),
            Step(
                arguments: ["api-token", "set", "app", "--any-origin"], hasEnvironment: true,
                item: "app"),
            Step(
                arguments: ["api-token", "revoke", "app"], hasEnvironment: true, item: "app"),
            Step(
                arguments: ["server-key", "add"] + location + [
                    "--public-key", "f", "--name", "job",
                ],
                inputs: ["public-key": pem], hasEnvironment: true, item: "job"),
            Step(arguments: ["server-key", "list"], changes: false),
            Step(arguments: ["user", "create", "ann@a.example", "--phone", "+4912345"]),
            Step(arguments: ["user", "list"], changes: false),
            Step(
                arguments: ["user", "verify", "ann@a.example", "+4912345"], hasAccount: true),
            Step(
                arguments: ["user", "password", "ann@a.example", "--password-stdin"],
                inputs: ["password-stdin": "correct horse"], hasAccount: true),
            Step(arguments: ["user", "invite", "bea@a.example"]),
            Step(
                arguments: ["web-token", "create"] + location + ["ann@a.example"],
                hasEnvironment: true, hasAccount: true),
            Step(
                arguments: ["web-token", "list"] + location, changes: false, hasEnvironment: true),
            Step(
                arguments: ["web-token", "revoke"] + location + ["ann@a.example", "--all"],
                hasEnvironment: true, hasAccount: true),
        ]
    }

    private func stepsOfSchemas() -> [Step] {
        let location = Self.location
        let file = ["FILE": Self.schema]
        return [
            Step(
                arguments: ["schema", "validate", "iCloud.a", "f"], inputs: file, changes: false,
                hasEnvironment: true),
            Step(
                arguments: ["schema", "import", "iCloud.a", "f"], inputs: file,
                hasEnvironment: true),
            Step(
                arguments: ["schema", "export", "iCloud.a"], changes: false, hasEnvironment: true),
            Step(
                arguments: ["schema", "check", "iCloud.a", "f"], inputs: file, changes: false,
                hasEnvironment: true),
            Step(
                arguments: ["schema", "diff", "iCloud.a"], changes: false, hasEnvironment: true),
            Step(
                arguments: ["schema", "indexes", "iCloud.a"], changes: false, hasEnvironment: true),
            Step(
                arguments: ["user", "role", "add", "ann@a.example"] + location + ["Gardener"],
                hasEnvironment: true, hasAccount: true, item: "Gardener"),
            Step(
                arguments: ["user", "role", "remove", "ann@a.example"] + location + ["Gardener"],
                hasEnvironment: true, hasAccount: true, item: "Gardener"),
        ]
    }

    private func stepsOfRestores() -> [Step] {
        let none = ["--from", temporary.path("none")]
        return [
            Step(
                arguments: ["record", "restore"] + Self.location + [
                    "private", "r", "--zone", "Z", "--user", "ann@a.example",
                ] + none, changes: false, hasEnvironment: true, hasAccount: true, item: "Z",
                fails: true),
            Step(
                arguments: ["zone", "restore"] + Self.location + ["_defaultZone", "--yes"] + none,
                hasEnvironment: true, item: "_defaultZone", fails: true),
            Step(
                arguments: ["user", "restore", "ann@a.example", "--yes"] + none, hasAccount: true,
                fails: true),
        ]
    }

    private func stepsOfData() -> [Step] {
        [
            Step(
                arguments: ["schema", "deploy", "iCloud.a"], changes: false, hasEnvironment: true),
            Step(arguments: ["schema", "deploy", "iCloud.a", "--yes"], hasEnvironment: true),
            Step(
                arguments: ["schema", "reset", "iCloud.a"], changes: false, hasEnvironment: true),
            Step(arguments: ["schema", "reset", "iCloud.a", "--yes"], hasEnvironment: true),
            Step(
                arguments: ["schema", "history", "iCloud.a"], changes: false,
                hasEnvironment: true),
            Step(arguments: ["backup", temporary.path("backup")], changes: false),
        ] + stepsOfRestores() + [
            Step(arguments: ["check"], changes: false),
            // It is not this server's folder.
            Step(
                arguments: ["storage", "copy", "--from", "sqlite:/none", "--to", "sqlite:/no"],
                fails: true),
            Step(arguments: ["audit", "list"], changes: false),
            Step(arguments: ["secrets", "reseal"]),
            Step(
                arguments: ["user", "second-factor", "ann@a.example"], changes: false,
                hasAccount: true),
            Step(
                arguments: ["user", "second-factor", "ann@a.example", "--remove"],
                hasAccount: true),
            Step(
                arguments: ["user", "export", "ann@a.example", temporary.path("ann.zip")],
                changes: false, hasAccount: true),
            Step(
                arguments: ["identity-provider", "add", "Id", "https://id.example", "us"],
                item: "https://id.example"),
            Step(arguments: ["identity-provider", "list"], changes: false),
            Step(arguments: ["identity-provider", "remove", "Id"], item: "Id"),
            Step(
                arguments: ["operator", "create", "ann@a.example", "--read-only"], hasAccount: true),
            Step(arguments: ["operator", "list"], changes: false),
            Step(arguments: ["operator", "invite", "cy@a.example"]),
            Step(arguments: ["operator", "remove", "ann@a.example"], hasAccount: true),
            Step(arguments: ["operator-token", "create", "--name", "job"], item: "job"),
            Step(arguments: ["operator-token", "list"], changes: false),
            Step(arguments: ["operator-token", "revoke", "job"], item: "job"),
            Step(arguments: ["user", "create", "bea@a.example"]),
            Step(
                arguments: ["user", "erase", "bea@a.example", "--yes"], hasAccount: true,
                item: "keep"),
            Step(arguments: ["user", "delete", "ann@a.example", "--yes"], hasAccount: true),
            Step(arguments: ["container", "delete", "iCloud.a", "--yes"]),
        ]
    }

    @Test("Every command on the data is noted once, with who gave it and what it is about")
    func everyCommandIsNoted() throws {
        defer { server.stop() }
        var seen: Set<String> = ["server-key revoke"]
        #if !ApplePush
            // Refused before anything is done.
            seen.formUnion(["push key add", "push key remove"])
        #endif
        for step in steps() {
            let before = notes.count
            if step.fails {
                #expect(throws: (any Error).self) {
                    try run(step.arguments, step.inputs, by: administrator)
                }
            } else {
                _ = try run(step.arguments, step.inputs, by: administrator)
            }
            #expect(notes.count == before + 1, "\(step.arguments)")
            let entry = try #require(notes.last)
            #expect(entry.actor == actor)
            #expect(entry.moment == 1_800_000_000_000)
            #expect(entry.changes == step.changes, "\(step.arguments)")
            let subject = entry.subject
            #expect((subject.environment != nil) == step.hasEnvironment, "\(step.arguments)")
            #expect((subject.account != nil) == step.hasAccount, "\(step.arguments)")
            #expect(subject.item == step.item, "\(step.arguments)")
            if step.arguments.contains("iCloud.a") {
                #expect(subject.container?.name == "iCloud.a", "\(step.arguments)")
            }
            seen.insert(entry.action == "schema diff" ? step.words : entry.action)
        }
        let known = Command.all.filter {
            if case .local = $0.action { false } else { true }
        }
        #expect(seen == Set(known.map(\.name)))
    }

    @Test("A key's end is noted with the key's ID")
    func keyRevocation() throws {
        defer { server.stop() }
        _ = try run(["container", "create", "iCloud.a"], by: administrator)
        let added = try run(
            ["server-key", "add"] + Self.location + ["--public-key", "f"],
            ["public-key": P256PrivateKey().publicKeyPEM], by: administrator)
        _ = try run(["server-key", "revoke", added.text], by: administrator)
        #expect(notes.last?.action == "server-key revoke")
        #expect(notes.last?.subject.item == added.text)
    }

    @Test("What cannot be noted is not done")
    func refusedWithoutNote() throws {
        defer { server.stop() }
        _ = try run(["container", "create", "iCloud.a"], by: administrator)
        let unheard = Administrator(actor, on: server.folder) { _ in throw Refused() }
        for words in [
            ["container", "create", "iCloud.b"], ["container", "delete", "iCloud.a", "--yes"],
            ["user", "create", "ann@a.example"], ["container", "list"],
        ] {
            #expect(throws: Refused.self) { try run(words, by: unheard) }
        }
        #expect(try server.folder.containers.list().items.map(\.id.name) == ["iCloud.a"])
        #expect(try server.folder.users.list().items.isEmpty)
    }

    @Test("No note holds an address of a person or a secret")
    func notesTellNothing() throws {
        defer { server.stop() }
        for step in steps() where !step.fails {
            _ = try run(step.arguments, step.inputs, by: administrator)
        }
        let text = notes.entries.withLock { "\($0)" }
        for hidden in ["a.example", "+49", "BEGIN"] { #expect(!text.contains(hidden)) }
    }

    @Test("The log of a server says which user of the machine gave it a command, and on what")
    func inTheLog() throws {
        let running = try ServerProcess(data: temporary.path("served"))
        #expect(try running.command("container", "create", "iCloud.a").status == 0)
        let line = running.waitForLine { $0.contains("an operator acts") }
        #expect(line?.contains("\"action\":\"container create\"") == true, "\(line ?? "")")
        #expect(line?.contains("\"by\":\"user \(geteuid()) of this machine\"") == true)
        #expect(line?.contains("\"container\":\"iCloud.a\"") == true)
        running.signal(SIGTERM)
        _ = running.wait()
        server.stop()
    }
}

extension AdministrationTests.Step {
    /// The words that name the command.
    fileprivate var words: String { arguments.prefix(2).joined(separator: " ") }
}
