import Foundation
import Testing

@Suite("The command that imports from CloudKit")
struct CloudKitCommandTests {
    private let folder: TemporaryFolder
    private let server: ServerProcess

    init() throws {
        folder = try TemporaryFolder()
        server = try ServerProcess(
            data: folder.path("data"),
            environment: [
                "LENTICULAR_OUTGOING_ALLOWED_NETWORKS": "127.0.0.1",
                "LENTICULAR_ACCOUNTS_PASSWORD_COST_BITS": "10",
            ])
        for container in ["iCloud.a", "iCloud.b"] {
            #expect(try server.command("container", "create", container).status == 0)
        }
        for name in ["ann", "bea"] {
            let made = try server.command(
                "user", "create", "\(name)@a.example", "--password-stdin",
                input: "correct horse\n")
            #expect(made.status == 0, "\(made.error)")
        }
    }

    @Test(
        "It reads the token from standard input, counts by type, and keeps its files to their user")
    func command() throws {
        let seeds = folder.path("seeds.jsonl")
        let records = ["a", "b", "c"].map {
            #"{"recordName":"\#($0)","recordType":"Note","zoneID":{"zoneName":"Z"},"#
                + #""fields":{"title":{"value":"\#($0)"}}}"#
        }
        try records.joined(separator: "\n").write(toFile: seeds, atomically: true, encoding: .utf8)
        let seeded = try server.command(
            "import", "iCloud.a", "development", seeds, "--user", "ann@a.example")
        #expect(seeded.status == 0, "\(seeded.error)")
        let app = try server.command("api-token", "create", "iCloud.a", "development", "--json")
        let api = try #require(app.object["apiToken"] as? String, "\(app.error)")
        let session = try server.command(
            "web-token", "create", "iCloud.a", "development", "ann@a.example", "--json")
        let real = try #require(session.object["webAuthToken"] as? String)
        let proxy = try CloudKitProxy(
            to: server.address, token: real, seededBy: "CloudKit, command")
        proxy.limits.change { $0.troubles = 0 }
        let file = folder.path("taken.jsonl")
        let taken = try server.command(
            "import", "iCloud.b", "development", file, "--from", "cloudkit", "--host",
            proxy.origin.text, "--source-container", "iCloud.a", "--user", "bea@a.example",
            "--api-token", api, "--web-token-file", "-", "--json", input: "first+token/==\n")
        #expect(taken.status == 0, "\(taken.error) \(taken.output)")
        let types = taken.object["types"] as? [[String: Any]]
        #expect(types?.first?["type"] as? String == "Note" && types?.count == 1)
        #expect(types?.first?["read"] as? Int == 3 && types?.first?["saved"] as? Int == 3)
        for path in [file, "\(file).assets/cloudkit.progress.1"] {
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
            #expect(mode as? Int == 0o600, "\(path)")
        }
    }

    @Test("It says what it lacks, and what goes with it alone")
    func misuse() throws {
        func error(_ options: String...) throws -> String {
            let arguments = ["import", "iCloud.b", "development", folder.path("none.jsonl")]
            let outcome = try Program.run(arguments + options + ["--data", server.data])
            #expect(outcome.status == 2)
            return outcome.error
        }
        #expect(try error("--from", "elsewhere").contains("--from takes cloudkit"))
        #expect(try error("--from", "cloudkit").contains("--key-id and --key-file"))
        #expect(try error("--host", "https://a.example").contains("goes with --from cloudkit"))
        #expect(
            try error("--from", "cloudkit", "--host", "https://a.example/path")
                .contains("without a path"))
        #expect(try error("--from", "cloudkit", "--schema").contains("--schema needs"))
    }
}
