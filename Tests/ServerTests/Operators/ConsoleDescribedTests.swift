import Administration
import Configuration
import Foundation
import Testing

@testable import Commands
@testable import Server

/// `/openapi.json` says of the operators' interface what its commands take.
@Suite("The operators' interface described")
struct ConsoleDescribedTests {
    private let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder() }

    private func serve(
        _ configure: (inout ServerConfiguration) -> Void = { $0.console.listen = "127.0.0.1:0" }
    ) throws -> FolderServer {
        try FolderServer(
            data: temporary.path("\(UUID())"),
            console: ConsoleAccess(
                commands: CommandConsole().described, streams: CommandConsole().streams,
                answer: CommandConsole().answer), configure: configure)
    }

    private func document(_ server: FolderServer) throws -> [String: [String: Any]] {
        let answer = server.connection.send("GET", "/openapi.json", "")
        guard case .answered(200, let body) = answer else {
            Issue.record("\(answer)")
            return [:]
        }
        let read = try JSONSerialization.jsonObject(with: body) as? [String: Any]
        return try #require(read).compactMapValues { $0 as? [String: Any] }
    }

    private func paths(_ server: FolderServer) throws -> [String: [String: Any]] {
        let all = try #require(try document(server)["paths"] as? [String: [String: Any]])
        return all.filter { $0.key.hasPrefix("/console/") }
    }

    /// What is described of the arguments of a command.
    private func arguments(_ item: [String: Any]) throws -> [String: Any] {
        let post = try #require(item["post"] as? [String: Any])
        let inQuery = (post["parameters"] as? [[String: Any]])?.first
        let holder = try #require(inQuery ?? post["requestBody"] as? [String: Any])
        let content = try #require(holder["content"] as? [String: [String: Any]])
        return try #require(content["application/json"]?["schema"] as? [String: Any])
    }

    private func reason(
        _ command: Command, _ body: String, by actor: Administrator
    ) throws -> String {
        let answer = CommandConsole().answer(
            .run(words: command.words, body: Array(body.utf8)), by: actor)
        #expect(answer.status == 400, "\(command.name)")
        let read = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
        return try #require(read?["reason"] as? String)
    }

    @Test(
        "Each command has a path, with the arguments that it takes and wants, and no other has one")
    func commands() throws {
        let server = try serve()
        defer { server.stop() }
        let paths = try paths(server)
        let local = Administrator(.commandLine(userNumber: 0), on: server.folder)
        let commands = Command.all.filter(\.isAtConsole)
        #expect(
            Set(paths.keys)
                == Set(commands.map { "/console/api/" + $0.words.joined(separator: "/") })
                .union([
                    "/console/api", "/console/api/session", "/console/api/session/acting",
                ]))
        for command in commands {
            let path = "/console/api/" + command.words.joined(separator: "/")
            let described = try arguments(try #require(paths[path]))
            let keys = try #require(described["properties"] as? [String: Any]).keys.sorted()
            let told = try reason(command, #"{"no such key":1}"#, by: local)
            let start = "\(command.name) takes "
            #expect(told.hasPrefix(start))
            #expect(
                told.dropFirst(start.count).split(separator: ", ").map(String.init).sorted()
                    == keys, "\(command.name)")
            guard let wanted = described["required"] as? [String] else { continue }
            let lacking = try reason(command, "{}", by: local)
            #expect(wanted.contains { lacking == "\($0) is missing" }, "\(command.name)")
        }
    }

    @Test("Its paths name the operators' address and who may ask, and go where it is turned off")
    func address() throws {
        let server = try serve()
        defer { server.stop() }
        let document = try document(server)
        let schemes = try #require(
            document["components"]?["securitySchemes"] as? [String: [String: String]])
        for (path, item) in try paths(server) {
            let servers = try #require(item["servers"] as? [[String: Any]])
            #expect(servers.first?["url"] as? String == "http://{console}", "\(path)")
            for method in ["get", "post", "delete"] {
                guard let operation = item[method] as? [String: Any] else { continue }
                let ways = try #require(operation["security"] as? [[String: Any]])
                #expect(ways.allSatisfy { $0.keys.allSatisfy { schemes[$0] != nil } }, "\(path)")
                #expect(ways.isEmpty == (path.hasSuffix("/session") && method == "post"))
            }
        }
        let off = try serve { $0.console.listen = "" }
        defer { off.stop() }
        #expect(try paths(off).isEmpty)
    }
}
