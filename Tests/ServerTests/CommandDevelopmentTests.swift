import Foundation
import Testing

@testable import Server

@Suite("serve --dev")
struct CommandDevelopmentTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("The curl that it prints works when pasted, once, and the key that it made signs")
    func firstRequest() throws {
        let data = folder.path("data")
        let server = try ServerProcess(data: data, ["--dev"])
        let line = try #require(server.waitForLine { $0.contains("curl ") })
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", line.replacing("curl ", with: "curl -s ")]
        let output = Pipe()
        shell.standardOutput = output
        try shell.run()
        let answer = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(answer.contains("\"recordChangeTag\""))
        #expect(answer.contains("\"value\":\"Hello\""))
        #expect(
            try server.command("container", "list", "--json").output
                == "{\"container\":[\"iCloud.dev.lenticular.Notes\"]}\n")
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
