import Awaiting
import Foundation
import Testing

@testable import Server

@Suite("The server itself, by command")
struct ServerCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func server(_ environment: [String: String] = [:]) throws -> ServerProcess {
        try ServerProcess(data: folder.path("data"), environment: environment)
    }

    private func run(_ words: String...) throws -> Program.Outcome {
        try Program.run(words + ["--json", "--data", folder.path("data")])
    }

    @Test(
        "Settings are those that the server began with, each with where it was said, and no secret")
    func settings() throws {
        let running = try server([
            "LENTICULAR_METRICS_BEARER_TOKEN": "verysecretbearertoken",
            "LENTICULAR_OUTGOING_CONTACT": "mailto:ops@a.example",
        ])
        let found = try run("server", "settings")
        let settings = try #require(found.object["settings"] as? [[String: Any]], "\(found)")
        func setting(_ path: String) -> [String: Any]? {
            settings.first { $0["setting"] as? String == path }
        }
        let contact = try #require(setting("outgoing.contact"))
        #expect(contact["value"] as? String == "\"mailto:ops@a.example\"")
        #expect((contact["from"] as? String)?.contains("LENTICULAR_OUTGOING_CONTACT") == true)
        #expect(setting("backups.to")?["from"] as? String == "default")
        #expect(setting("metrics.bearerToken") != nil)
        #expect(!found.output.contains("verysecret"))
        running.signal(SIGTERM)
        _ = running.wait()
    }

    @Test("A backup is made when somebody asks, long before it is due, and what came of it is told")
    func backup() throws {
        let running = try server(["LENTICULAR_BACKUPS_TO": folder.path("backups")])
        func backups() throws -> [String: Any] {
            try run("server", "show").object["backups"] as? [String: Any] ?? [:]
        }
        try Wait.until { (try backups()["kept"] as? [String])?.count == 1 }
        let first = try #require(try backups()["last"] as? Int)
        // Backups are told apart by the millisecond.
        #expect(try run("server", "backup").status == 0)
        try Wait.until { try backups()["last"] as? Int ?? 0 > first }
        let last = try backups()
        #expect((last["kept"] as? [String])?.count == 2, "\(last)")
        #expect(last["failures"] as? Int == 0 && last["everyMinutes"] as? Int == 60)
        #expect(last["to"] as? String == folder.path("backups"))
        running.signal(SIGTERM)
        _ = running.wait()
    }

    @Test("Where nothing makes backups or no server runs, asking for one says so")
    func noBackups() throws {
        let running = try server()
        let shown = try run("server", "show")
        #expect(shown.object["version"] is String && shown.object["since"] is Int)
        #expect(shown.object["backups"] == nil)
        let refused = try run("server", "backup")
        #expect(refused.status == 1 && refused.error.contains("backups.to is not set"))
        running.signal(SIGTERM)
        _ = running.wait()
        let alone = try run("server", "backup")
        #expect(alone.status == 1 && alone.error.contains("no server runs"))
        #expect(try run("server", "show").object["since"] == nil)
    }

    @Test("A test letter is handed on to whom it names, and says why where none is sent")
    func letter() throws {
        let program = folder.path("send")
        let text = "#!/bin/sh\ncat > '\(folder.path("letter"))'\n"
        let made = FileManager.default.createFile(
            atPath: program, contents: Data(text.utf8), attributes: [.posixPermissions: 0o700])
        #expect(made)
        let running = try server([
            "LENTICULAR_MAIL_SENDER": "program", "LENTICULAR_MAIL_PROGRAM": program,
            "LENTICULAR_MAIL_FROM": "server@a.example",
        ])
        #expect(try run("server", "mail", "ann@a.example").status == 0)
        let letter = try String(contentsOfFile: folder.path("letter"), encoding: .utf8)
        #expect(letter.contains("ann@a.example") && letter.contains("Subject: Test letter"))
        let refused = try run("server", "mail", "nobody")
        #expect(refused.status == 1)
        running.signal(SIGTERM)
        _ = running.wait()
        let unset = try run("server", "mail", "ann@a.example")
        #expect(unset.status == 1 && unset.error.contains("mail.sender is none"))
    }
}
