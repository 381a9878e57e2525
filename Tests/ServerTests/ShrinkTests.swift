import ChildProcesses
import Foundation
import Seeding
import Testing

@testable import Server

/// How much containers hold, and files that are made smaller.
@Suite("Sizes and shrinking")
struct ShrinkTests {
    private let folder: TemporaryFolder
    private let query: String
    private let base = "/database/1/iCloud.a/development/private"
    private static let recordsPerRequest = 10
    private static let text = String(repeating: "x", count: 50_000)

    init() throws {
        folder = try TemporaryFolder()
        let server = try ServerProcess(data: folder.path("data"))
        try #require(try server.command("container", "create", "iCloud.a").status == 0)
        try #require(try server.command("user", "create", "ann@a.example").status == 0)
        let api = try server.command("api-token", "create", "iCloud.a", "development", "--json")
        let web = try server.command(
            "web-token", "create", "iCloud.a", "development", "ann@a.example", "--json")
        query =
            "ckAPIToken=\(try #require(api.object["apiToken"] as? String))"
            + "&ckWebAuthToken=\(try #require(web.object["webAuthToken"] as? String))"
        let zone =
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"z"}}}]}"#
        try #require(
            try server.request("\(base)/zones/modify?\(query)", ["-d", zone]).status == 200)
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
    }

    private func modify(_ server: ServerProcess, _ operations: [String]) throws {
        let body = folder.path("body")
        try Data(
            #"{"zoneID":{"zoneName":"z"},"operations":[\#(operations.joined(separator: ","))]}"#
                .utf8
        ).write(to: URL(fileURLWithPath: body))
        let answer = try server.request(
            "\(base)/records/modify?\(query)", ["--data-binary", "@\(body)"])
        try #require(answer.status == 200, "\(answer.body.prefix(300))")
    }

    /// Saves half a megabyte with each request and deletes all of it but one record of each.
    private func fill(_ server: ServerProcess, _ requests: Range<Int>) throws {
        for request in requests {
            try modify(
                server,
                (0..<Self.recordsPerRequest).map {
                    #"{"operationType":"create","record":{"recordType":"Note","recordName":"#
                        + #""r\#(request)-\#($0)","fields":{"t":{"value":"\#(Self.text)"}}}}"#
                })
        }
        for request in requests {
            try modify(
                server,
                (1..<Self.recordsPerRequest).map {
                    #"{"operationType":"forceDelete","record":{"recordName":"r\#(request)-\#($0)"}}"#
                })
        }
    }

    private func size(_ server: ServerProcess, _ arguments: String...) throws -> [String: Any] {
        let found = try Program.run(["size"] + arguments + ["--json", "--data", server.data])
        let environments = found.object["environments"] as? [[String: Any]] ?? []
        return try #require(environments.first, "\(found)")
    }

    @Test(
        "size says what is held, by whom and in what; shrink gives back what is free, with figures")
    func commands() throws {
        let server = try ServerProcess(data: folder.path("data"))
        try fill(server, 0..<20)
        let before = try size(server, "iCloud.a", "development", "--users", "5")
        #expect(before["records"] as? Int == 20)
        let bytes = try #require(before["recordBytes"] as? Int)
        #expect((1_000_000..<1_200_000).contains(bytes))
        #expect(try #require(before["freeBytes"] as? Int) > 5_000_000)
        let users = try #require(before["users"] as? [[String: Any]])
        #expect(users.count == 1 && users.first?["recordBytes"] as? Int == bytes)
        let text = try server.command("size").output
        #expect(text.contains("iCloud.a development  records=20  recordBytes=1.0 MB"), "\(text)")

        let shrunk = try server.command("shrink", "iCloud.a", "--json")
        #expect(shrunk.status == 0 && shrunk.object["givenBack"] as? Int ?? 0 > 5_000_000)
        let after = try size(server, "iCloud.a")
        #expect(after["freeBytes"] as? Int == 0 && after["records"] as? Int == 20)
        #expect(try #require(after["fileBytes"] as? Int) < 3_000_000, "\(after)")
        #expect(try server.command("shrink").output.contains("given back: 0 B"))
        #expect(try server.command("shrink", "iCloud.b").error.contains("no such container"))
        #expect(try server.command("shrink", "iCloud.a", "test").status == 2)
        #expect(try server.command("size", "--users", "0").status == 2)
        #expect(try server.command("check").output == "no problems\n")
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
        // Without a server, too.
        let alone = try Program.run(["size", "--data", server.data])
        #expect(alone.output.contains("records=20"), "\(alone)")
        #expect(try Program.run(["shrink", "--data", server.data]).status == 0)
    }

    @Test("A server killed while it shrinks loses nothing, whenever that is")
    func kills() throws {
        var random = SeededRandom("kills while a file shrinks")
        var kept = 0
        for round in 0..<8 {
            let server = try ServerProcess(data: folder.path("data"))
            #expect(try server.command("check").output == "no problems\n", "round \(round)")
            try fill(server, kept..<kept + 8)
            kept += 8
            let shrinking = ChildProcess()
            shrinking.executableURL = Program.url
            shrinking.arguments = ["shrink", "--data", server.data]
            shrinking.environment = Program.cleanEnvironment
            let output = Pipe()
            shrinking.standardOutput = output
            shrinking.standardError = output
            try shrinking.run()
            usleep(UInt32(random.below(120_000)))
            server.signal(SIGKILL)
            _ = server.wait()
            _ = output.readToEnd()
            shrinking.waitUntilExit()
        }
        let server = try ServerProcess(data: folder.path("data"))
        #expect(try server.command("check").output == "no problems\n")
        #expect(try size(server)["records"] as? Int == kept)
        #expect(try server.command("shrink").status == 0)
        #expect(try size(server)["records"] as? Int == kept)
        #expect(try server.command("check").output == "no problems\n")
    }
}
