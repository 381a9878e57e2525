import ChildProcesses
import Foundation
import Server
import Testing

@testable import Control

@Suite("Open files where there may be few")
struct DescriptorTests {
    @Test(
        "Connections get what files do not need, and a limit that is too low is told",
        arguments: [
            (64, 20, 20_000, 16), (64, 34, 20_000, 5), (64, 38, 20_000, nil),
            (1_024, 24, 20_000, 596),
            (20_000, 30, 20_000, 17_666), (1_000_000, 30, 20_000, 20_000), (64, 20, 3, 3),
            (10, 20, 5, nil),
        ] as [(Int, Int, Int, Int?)])
    func room(limit: Int, inUse: Int, wanted: Int, expected: Int?) throws {
        let room = DescriptorRoom(limit: limit, inUse: inUse)
        guard let expected else {
            let failure = #expect(throws: CommandFailure.self) {
                try room.connections(wanted: wanted)
            }
            #expect(
                failure.map { "\($0)" }?.contains("the limit on open files is \(limit)") == true)
            return
        }
        #expect(try room.connections(wanted: wanted) == expected)
    }

    @Test(
        "With 64 descriptors, all connections taken, uploads and commands go on and nothing spins")
    func few() throws {
        let folder = try TemporaryFolder()
        let server = try ServerProcess(
            data: folder.path("data"), environment: ["LENTICULAR_HTTP_IDLE_SECONDS_MAX": "3600"],
            under: ["/bin/sh", "-c", "ulimit -n 64; exec \"$@\"", "sh"])
        let port = try #require(server.address.split(separator: ":").last)
        let tea = "iCloud.org.example.Tea"
        #expect(try server.command("container", "create", tea).status == 0)
        #expect(try server.command("user", "create", "ida@tea.example").status == 0)
        let api = try server.command("api-token", "create", tea, "development", "--json")
        let web = try server.command(
            "web-token", "create", tea, "development", "ida@tea.example", "--json")
        let query =
            "?ckAPIToken=\(try #require(api.object["apiToken"] as? String))"
            + "&ckWebAuthToken=\(try #require(web.object["webAuthToken"] as? String))"
        // Who was there before the crowd, whose connections are closed where there are too many.
        let connection = WireConnection(address: server.address)
        _ = connection.send("GET", "/healthz", "")
        // Twice as many as the server has descriptors, each with half a head.
        let crowd = ChildProcess()
        crowd.executableURL = URL(fileURLWithPath: "/bin/bash")
        crowd.arguments = [
            "-c",
            "for i in $(seq 100); do exec {d}<>/dev/tcp/127.0.0.1/\(port) && printf 'GET / ' >&$d; "
                + "done 2>/dev/null; echo there; read",
        ]
        let (input, output) = (Pipe(), Pipe())
        crowd.standardInput = input
        crowd.standardOutput = output
        crowd.standardError = FileHandle.nullDevice
        try crowd.run()
        defer { crowd.signal(SIGKILL) }
        #expect(output.fileHandleForReading.availableData.count > 0)
        for words in [
            ["container", "create", "iCloud.org.example.Mate"], ["container", "list"],
            ["user", "create", "mo@tea.example"], ["api-token", "create", tea, "production"],
            ["check"], ["backup", folder.path("copy")],
        ] {
            let outcome = try Program.run(words + ["--data", server.data])
            #expect(outcome.status == 0, "\(outcome)")
        }
        for number in 0..<5 { try upload(number, to: tea, query, over: connection) }
        // A loop that spins gets as much of the processors as this thread, which spins, too.
        let before = try processorTicks(of: server.identifier)
        spin(seconds: 1)
        #expect(try processorTicks(of: server.identifier) - before < 30)
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
    }

    private func upload(
        _ number: Int, to container: String, _ query: String, over connection: WireConnection
    ) throws {
        let asked = connection.send(
            "POST", "/database/1/\(container)/development/private/assets/upload\(query)",
            #"{"tokens":[{"recordType":"T","fieldName":"f"}]}"#)
        guard case .answered(200, let tokens) = asked else {
            Issue.record("\(asked)")
            return
        }
        let text = String(decoding: tokens, as: UTF8.self)
        let path = try #require(text.firstMatch(of: #/http:\/\/[^\/]+(\/assets\/[^"]+)"/#)?.1)
        let upload = connection.send("POST", String(path), "bytes \(number)")
        guard case .answered(200, _) = upload else {
            Issue.record("\(upload)")
            return
        }
    }

    /// Uses a processor for so long, however many others do, too.
    private func spin(seconds: Int) {
        func used() -> Int {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
        }
        let end = used() + seconds * 1_000
        while used() < end {}
    }

    /// Hundredths of a second.
    private func processorTicks(of process: Int32) throws -> Int {
        let line = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        let columns = line.split(separator: ")").last?.split(separator: " ") ?? []
        guard columns.count > 12, let user = Int(columns[11]), let system = Int(columns[12]) else {
            return 0
        }
        return user + system
    }

    @Test("Where no more files can be opened, requests say when to come again, and then succeed")
    func noMore() throws {
        #if os(Linux)
            let folder = try TemporaryFolder()
            let server = try ServerProcess(
                data: folder.path("data"),
                environment: [
                    "LENTICULAR_HTTP_EVENT_LOOPS": "2", "LENTICULAR_HTTP_IDLE_SECONDS_MAX": "3600",
                ])
            let tea = "iCloud.org.example.Tea"
            #expect(try server.command("container", "create", tea).status == 0)
            let made = try server.command("api-token", "create", tea, "development", "--json")
            let token = try #require(made.object["apiToken"] as? String)
            let lookup = "/database/1/\(tea)/development/public/records/lookup?ckAPIToken=\(token)"
            // Of both loops, made while there are descriptors.
            let connections = (0..<8).map { _ in WireConnection(address: server.address) }
            for connection in connections { _ = connection.send("GET", "/healthz", "") }
            func ask(_ connection: WireConnection) -> (status: Int, text: String) {
                let body = #"{"records":[{"recordName":"a"}]}"#
                guard case .answered(let status, let bytes) = connection.send("POST", lookup, body)
                else { return (0, "") }
                return (status, String(decoding: bytes, as: UTF8.self))
            }
            let previous = try fileLimit(of: server.identifier)
            // First the store cannot be opened, then the other loop's reader of it.
            for refused in ["the store", "a reader"] {
                // Below standard input, output and errors nothing is ever free, whatever is closed.
                try limitFiles(of: server.identifier, to: 3)
                let answers = connections.lazy.map(ask)
                let refusal = try #require(answers.first { $0.status != 200 }, "\(refused)")
                #expect(refusal.status == 503, "\(refused): \(refusal.text)")
                #expect(refusal.text.contains("TRY_AGAIN_LATER"))
                #expect(refusal.text.contains(#""retryAfter":1"#))
                try limitFiles(of: server.identifier, to: previous)
                #expect(ask(connections[0]).status == 200)
            }
            for connection in connections { #expect(ask(connection).status == 200) }
            server.signal(SIGTERM)
            #expect(server.wait() == 0)
            #expect(server.log().contains { $0.contains("no descriptor left for a database") })
        #endif
    }

    #if os(Linux)
        private func fileLimit(of process: Int32) throws -> Int {
            let limits = try String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8)
            return try #require(
                limits.firstMatch(of: #/Max open files +([0-9]+)/#).flatMap { Int($0.1) })
        }

        /// Lets a process open files whose numbers are below this, while it keeps those it has.
        private func limitFiles(of process: Int32, to count: Int) throws {
            let outcome = try Program.run(
                ["--pid", "\(process)", "--nofile=\(count):"],
                by: URL(fileURLWithPath: "/usr/bin/prlimit"))
            #expect(outcome.status == 0, "\(outcome)")
        }
    #endif
}
