import ChildProcesses
import Foundation
import Testing

@testable import Server

@Suite("serve --dev")
struct CommandDevelopmentTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Pastes a command into a shell; what it answers.
    private func paste(_ command: String) throws -> String {
        let shell = ChildProcess()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", command]
        let output = Pipe()
        shell.standardOutput = output
        try shell.run()
        let answer = output.readToEnd()
        shell.waitUntilExit()
        return String(decoding: answer, as: UTF8.self)
    }

    @Test(
        "The three commands that it prints sync when pasted, and its second start says how to go on"
    )
    func firstRequests() throws {
        let data = folder.path("data")
        let server = try ServerProcess(data: data, ["--dev"])
        let commands = try ["zones/modify", "records/modify", "changes/zone"].map { endpoint in
            try #require(server.waitForLine { $0.contains("curl ") && $0.contains(endpoint) })
                .replacing("curl ", with: "curl -s ")
        }
        let element = try #require(server.waitForLine { $0.contains("<script src=") })
        let address = try #require(element.split(separator: "\"").dropFirst().first)
        #expect(try paste("curl -s '\(address)'").contains("globalThis.CloudKit = CloudKit"))
        for _ in 0..<2 {
            #expect(try paste(commands[0]).contains("\"zoneName\":\"Notes\""))
            #expect(try paste(commands[1]).contains("\"recordChangeTag\""))
        }
        let changes = try paste(commands[2])
        #expect(changes.components(separatedBy: "\"value\":\"Hello\"").count == 3, "\(changes)")
        #expect(changes.contains("\"syncToken\":"))
        #expect(
            try server.command("container", "list", "--json").output.contains(
                "\"container\":[\"iCloud.dev.lenticular.Notes\"]"))
        func users(_ server: ServerProcess) throws -> Set<String> {
            let list = try server.command("user", "list", "--json").object["email"] as? [String]
            return Set(list ?? [])
        }
        #expect(try users(server) == ["alice@example.com", "bob@example.com"])
        let key = try String(
            contentsOfFile: "\(data)/development-server-key.pem", encoding: .utf8)
        #expect(key.contains("PRIVATE KEY"))
        server.signal(SIGTERM)
        #expect(server.wait() == 0)

        let again = try ServerProcess(data: data, ["--dev"])
        #expect(again.waitForLine { $0.contains("nothing was made") } != nil)
        for words in ["api-token create", "web-token create"] {
            let line = try #require(again.waitForLine { $0.contains(words) })
            let answer = try paste(line)
            #expect(answer.first?.isHexDigit == true, "\(answer)")
        }
        #expect(try users(again).count == 2)
    }

    @Test("It listens on this machine only, but in a container")
    func loopbackOnly() throws {
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.com:0"] {
            let outcome = try Program.run(
                ["serve", "--dev", "--data", folder.path("data"), "--listen", address])
            #expect(outcome.status == 1)
            #expect(outcome.error.contains("--dev listens on this machine only"))
        }
        let server = try ServerProcess(
            data: folder.path("data"), ["--dev"], environment: ["LENTICULAR_CONTAINER": "1"],
            listen: "0.0.0.0:0")
        #expect(server.waitForLine { $0.contains("curl 'http://127.0.0.1:") } != nil)
    }
}
