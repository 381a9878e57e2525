import Awaiting
import ChildProcesses
import Foundation
import Network
import Testing

@testable import Control
@testable import Server

@Suite("A serving process in trouble")
struct OperatingFaultTests {
    private let folder: TemporaryFolder
    private let server: ServerProcess
    private let target: String

    init() throws {
        folder = try TemporaryFolder()
        server = try ServerProcess(
            data: folder.path("data"), environment: ["LENTICULAR_STORAGE_RESERVE_BYTES": "0"])
        try #require(try server.command("container", "create", "iCloud.a").status == 0)
        try #require(try server.command("user", "create", "ann@a.example").status == 0)
        let api = try server.command("api-token", "create", "iCloud.a", "development", "--json")
        let web = try server.command(
            "web-token", "create", "iCloud.a", "development", "ann@a.example", "--json")
        target =
            "/database/1/iCloud.a/development/private/records/modify"
            + "?ckAPIToken=\(try #require(api.object["apiToken"] as? String))"
            + "&ckWebAuthToken=\(try #require(web.object["webAuthToken"] as? String))"
    }

    private func save(_ name: String) -> String {
        #"{"operations":[{"operationType":"create","record":{"recordType":"Note","#
            + #""recordName":"\#(name)","fields":{"t":{"value":"x"}}}}]}"#
    }

    private func connect() throws -> LocalSocket {
        try HealthProbe(address: #require(ListenAddress(server.address))).connect()
    }

    @Test("A request that has begun is answered after SIGTERM; nobody new is let in")
    func drain() throws {
        let body = Array((save("late") + String(repeating: " ", count: 60_000)).utf8)
        let socket = try connect()
        try socket.sendAll(
            Array(
                "POST \(target) HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.count)\r\n\r\n".utf8)
                + body.prefix(10))
        // An answer on another connection shows that the server has had time to take this one up.
        #expect(try server.request("/readyz").status == 200)
        server.signal(SIGTERM)
        _ = server.waitForLine { $0.contains("stopping") }
        try Wait.until { (try? connect()) == nil }
        // A body that hardly comes is not waited for.
        try socket.sendAll(Array(body[10...]))
        let answer = String(decoding: try socket.receiveToEnd(bytesMax: 65_536), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 200 OK"))
        #expect(answer.contains("\"recordName\":\"late\""))
        #expect(server.wait() == 0)
        let restarted = try ServerProcess(data: server.data)
        let lookup = target.replacing("records/modify", with: "records/lookup")
        let found = try restarted.request(lookup, ["-d", #"{"records":[{"recordName":"late"}]}"#])
        #expect(found.body.contains("recordChangeTag"))
    }

    private static let strace = "/usr/bin/strace"

    @Test(
        "An I/O error from a commit is answered TRY_AGAIN_LATER and ends the process with 74",
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: strace)
                || ProcessInfo.processInfo.environment["CI_REQUIRE_ALL"] != nil))
    func indeterminateCommit() throws {
        #expect(try server.request(target, ["-d", save("kept")]).status == 200)
        let tracer = ChildProcess()
        tracer.executableURL = URL(fileURLWithPath: Self.strace)
        tracer.arguments = [
            "-f", "-o", folder.path("trace"), "-e", "trace=fdatasync,fsync", "-e",
            "inject=fdatasync,fsync:error=EIO", "-p", String(server.identifier),
        ]
        let said = Pipe()
        tracer.standardError = said
        try tracer.run()
        // It says "attached" once the calls are under its control.
        var text = ""
        while !text.contains("attached") {
            let more = said.fileHandleForReading.availableData
            try #require(!more.isEmpty, "strace may not attach: \(text)")
            text += String(decoding: more, as: UTF8.self)
        }
        let answer = try server.request(target, ["-d", save("unknown")])
        #expect(answer.status == 503)
        #expect(answer.body.contains("TRY_AGAIN_LATER"))
        #expect(server.wait() == 74)
        tracer.waitUntilExit()
        #expect(server.log().contains { $0.contains("commit of unknown outcome") })
        let restarted = try ServerProcess(data: server.data)
        let lookup = target.replacing("records/modify", with: "records/lookup")
        let found = try restarted.request(lookup, ["-d", #"{"records":[{"recordName":"kept"}]}"#])
        #expect(found.body.contains("recordChangeTag"))
        #expect(try restarted.command("check").output == "no problems\n")
    }
}
