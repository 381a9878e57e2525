import Foundation
import Testing

@testable import Server

/// What `serve` refuses, `config check` refuses in the same words, before anything is made.
@Suite("config check judges what serve judges")
struct ConfigCheckTests {
    private let folder: TemporaryFolder
    private var data: String { folder.path("data") }

    init() throws { folder = try TemporaryFolder() }

    private static let wrong: [(setting: String, text: String)] = [
        ("mail.host", "mail: { sender: 'smtp', from: 'notes@example.org' }"),
        (
            "mail.passwordFile",
            "mail: { sender: 'smtp', host: 'a.example', from: 'notes@example.org', user: 'u' }"
        ),
        ("textMessages.url", "textMessages: { sender: 'webhook' }"),
        ("assets.keyFile", "assets: { keyFile: 'FOLDER/wrong' }"),
        ("security.keyFile", "security: { keyFile: 'FOLDER/wrong' }"),
        ("outgoing.authoritiesFile", "outgoing: { authoritiesFile: 'FOLDER/wrong' }"),
        (
            "s3",
            "s3: { bucket: 'one', endpoint: 'http://127.0.0.1:1', credentialsFile: 'FOLDER/wrong' }"
        ),
        ("tls", "tls: { certificateFile: 'FOLDER/wrong', privateKeyFile: 'FOLDER/wrong' }"),
    ]

    @Test("Each setting that stops the start is found by the check, in the same words")
    func same() throws {
        let file = folder.path("settings.json5")
        try Data("x\n".utf8).write(to: URL(fileURLWithPath: folder.path("wrong")))
        chmod(folder.path("wrong"), 0o600)
        for (setting, text) in Self.wrong {
            let text = text.replacing("FOLDER", with: folder.path(""))
            try "{ data: '\(data)', listen: ['127.0.0.1:0'], \(text) }"
                .write(toFile: file, atomically: true, encoding: .utf8)
            let checked = try Program.run(["config", "check", "--config", file])
            let started = try Program.run(["serve", "--config", file])
            #expect(checked.status == 1 && started.status == 1, "\(setting)")
            #expect(checked.error == started.error, "\(setting)")
            #expect(checked.error.contains(setting), "\(setting): \(checked.error)")
            #expect(!FileManager.default.fileExists(atPath: data), "\(setting)")
        }
    }

    @Test("Open registration that nothing can carry a link for is told by the check and at a start")
    func openWithoutMail() throws {
        let environment = ["LENTICULAR_ACCOUNTS_SIGN_UP": "open"]
        let checked = try Program.run(
            ["config", "check", "--json", "--data", data], environment: environment)
        let warning = try #require((checked.object["warnings"] as? [String])?.first)
        #expect(warning.contains("mail.sender") && warning.contains("textMessages.sender"))
        let server = try ServerProcess(data: data, environment: environment)
        #expect(server.waitForLine { $0.contains("nothing carries the links") } != nil)
        let mailed = try Program.run(
            ["config", "check", "--json", "--data", data],
            environment: environment.merging(["LENTICULAR_MAIL_SENDER": "log"]) { $1 })
        #expect((mailed.object["warnings"] as? [String])?.isEmpty == true)
    }
}

/// Usage is told from failure by the status, whatever command it is.
@Suite("Usage errors and help")
struct CommandUsageTests {
    @Test(
        "What is no argument of the command ends with 2 before any data is looked for",
        arguments: [
            ["api-token", "create", "iCloud.a", "prod"], ["web-token", "list", "iCloud.a", "dev"],
            ["server-key", "add", "iCloud.a", "prod", "--public-key", "/dev/null"],
            ["webhook", "list", "iCloud.a", "Production"],
            ["subscription", "list", "iCloud.a", "prod"],
            ["user", "role", "add", "ann@a.example", "iCloud.a", "prod", "Editor"],
            ["schema", "export", "iCloud.a", "prod", "one", "two"], ["nothing"],
            ["help", "nothing"],
        ])
    func usage(_ words: [String]) throws {
        let outcome = try Program.run(words + ["--data", "/nowhere"])
        #expect(outcome.status == 2 && outcome.output.isEmpty, "\(outcome)")
        #expect(outcome.error.contains("--help") && outcome.error.hasPrefix("lenticular"))
    }

    @Test("An option that takes a number ends with 2 where it gets none")
    func numbers() throws {
        let folder = try TemporaryFolder()
        let server = try ServerProcess(data: folder.path("data"))
        _ = try server.command("container", "create", "iCloud.a")
        for words in [
            ["web-token", "create", "iCloud.a", "production", "a@a.example", "--expires", "10y"],
            ["schema", "history", "iCloud.a", "--limit", "few"],
            ["audit", "list", "--limit", "few"],
            ["container", "set", "iCloud.a", "publicChanges"],
        ] {
            let outcome = try Program.run(words + ["--data", server.data])
            #expect(outcome.status == 2, "\(words): \(outcome.error)")
        }
    }

    @Test("help is what --help is, for the program, a group and a command")
    func help() throws {
        for words in [[], ["api-token"], ["api-token", "create"]] {
            let asked = try Program.run(["help"] + words)
            #expect(asked.status == 0)
            #expect(asked.output == (try Program.run(words + ["--help"])).output)
        }
    }
}
