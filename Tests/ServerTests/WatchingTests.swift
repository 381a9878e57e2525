import Administration
import Awaiting
import CloudModel
import Configuration
import Control
import Cryptography
import Foundation
import Telemetry
import Testing
import WebServices

@testable import Commands
@testable import Server

@Suite("Telemetry and alerts of a server")
struct WatchingTests {
    private static let start: Milliseconds = 1_800_000_000_000
    private let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder() }

    private func served(
        configure: (inout ServerConfiguration) -> Void = { _ in }
    ) throws -> FolderServer {
        try FolderServer(data: temporary.path("data"), at: Self.start) {
            $0.outgoing.allowedNetworks = [AddressRange("127.0.0.1")].compactMap(\.self)
            configure(&$0)
        }
    }

    private struct NoCommand: Error {}

    private func run(_ arguments: [String], on server: FolderServer) throws -> CommandOutput {
        let parsed = try CommandLineParser(commands: Command.all).parse(arguments)
        guard case .invocation(let invocation) = parsed,
            case .data(let action) = invocation.command.action
        else { throw NoCommand() }
        return try action(
            invocation, Administrator(.commandLine(userNumber: 1), on: server.folder))
    }

    /// Makes a container and asks for records of it that are not there.
    private func ask(_ count: Int, of server: FolderServer) throws {
        _ = try? run(["container", "create", "iCloud.a"], on: server)
        let token = try run(["api-token", "create", "iCloud.a", "development"], on: server)
            .text.prefix(64)
        let before = counted(by: server)
        for _ in 0..<count {
            let answer = try server.ask(
                "/database/1/iCloud.a/development/public/records/lookup?ckAPIToken=\(token)",
                ["records": [["recordName": "r"]]])
            #expect(answer.status == 200)
        }
        // A request is counted after its answer, and for the metrics last of all.
        try Wait.until { counted(by: server) >= before + count }
    }

    private func counted(by server: FolderServer) -> Int {
        String(decoding: server.server.metrics.page(), as: UTF8.self).split(separator: "\n")
            .filter { $0.hasPrefix(#"lenticular_requests_total{operation="records/lookup""#) }
            .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
    }

    private func pass(minutes: Int64, on server: FolderServer) throws {
        server.time.now.withLock { $0 += minutes * 60_000 }
        try server.server.telemetry?.round()
    }

    private func shown(_ server: FolderServer, hours: Int = 1) throws -> (String, [String: Any]) {
        let output = try run(
            ["telemetry", "show", "iCloud.A", "development", "--hours", "\(hours)"], on: server)
        let json = try JSONSerialization.jsonObject(with: Data(output.rendered(asJSON: true)))
        return (output.text, json as? [String: Any] ?? [:])
    }

    private func total(_ json: [String: Any], _ key: String) -> Int? {
        (json["total"] as? [String: Any])?[key] as? Int
    }

    @Test(
        "What requests did is drawn, and told as JSON, once their minute is over",
        arguments: [1, 24, 720])
    func show(hours: Int) throws {
        let server = try served()
        defer { server.stop() }
        try ask(5, of: server)
        #expect(try total(shown(server, hours: hours).1, "requests") == 0)
        try pass(minutes: 1, on: server)
        let (text, json) = try shown(server, hours: hours)
        #expect(text.contains("records/lookup  requests=5"))
        #expect(text.contains("held on 2027-01-15  records=0"))
        #expect(total(json, "requests") == 5)
        #expect(total(json, "p99Microseconds") ?? 0 > 0)
        let faults = (json["total"] as? [String: Any])?["itemFaults"] as? [[String: Any]]
        #expect(faults?.first?["code"] as? String == "NOT_FOUND")
        #expect((json["points"] as? [Any])?.count == [1: 60, 24: 96, 720: 120][hours])
    }

    @Test("What was counted, and when it began, outlives the server; its last minute a drain")
    func restart() throws {
        let server = try served()
        try ask(3, of: server)
        server.stop()
        let again = try served()
        defer { again.stop() }
        again.time.now.withLock { $0 += 60_000 }
        let (_, json) = try shown(again)
        #expect(total(json, "requests") == 3)
        // Both began in one minute.
        let starts = json["starts"] as? [[String: Any]]
        #expect(starts?.count == 1)
        #expect(starts?.first?["minute"] as? Int != nil)
    }

    @Test("Where the settings want nothing counted, nothing is")
    func off() throws {
        let server = try served { $0.telemetry.series = 0 }
        defer { server.stop() }
        try ask(3, of: server)
        #expect(server.server.telemetry == nil)
        server.time.now.withLock { $0 += 60_000 }
        #expect(try total(shown(server).1, "requests") == 0)
    }

    @Test("A server whose telemetry is damaged puts it aside and begins anew")
    func damaged() throws {
        let file = temporary.path("data") + "/telemetry.sqlite"
        let first = try served()
        first.stop()
        try Data(
            "no database, but long enough to be one".utf8 + [UInt8](repeating: 7, count: 8_000)
        )
        .write(to: URL(filePath: file))
        let server = try served()
        defer { server.stop() }
        try ask(1, of: server)
        try pass(minutes: 1, on: server)
        #expect(try total(shown(server).1, "requests") == 1)
        #expect(FileManager.default.fileExists(atPath: file + ".damaged"))
    }

    @Test("An alert is posted once in its time, and not again by a server that starts anew")
    func alert() throws {
        let receiver = try PostReceiver(answering: "204 No Content")
        var server = try served()
        try ask(5, of: server)
        let added = try run(
            [
                "alert", "add", "many", "--metric", "requests", "--above", "4", "--minutes", "10",
                "--container", "iCloud.a", "--url", "http://127.0.0.1:\(receiver.port)/secret",
            ], on: server)
        try server.server.telemetry?.alerts.round()
        try pass(minutes: 1, on: server)
        try server.server.telemetry?.alerts.round()
        let post = try receiver.next()
        try Self.requireSigned(post, by: added)
        let told = String(decoding: post.body, as: UTF8.self)
        #expect(told.contains(#""alert":"many""#) && told.contains(#""value":5"#), "\(told)")
        try server.server.telemetry?.alerts.round()
        let now = server.time.now.withLock { $0 }
        server.stop()
        server = try served()
        defer { server.stop() }
        server.time.now.withLock { $0 = now + 9 * 60_000 }
        try server.server.telemetry?.alerts.round()
        #expect(throws: (any Error).self) { try receiver.next(withinSeconds: 1) }
        let list = try run(["alert", "list"], on: server).text
        #expect(list.contains("many  requests above 4 in 10 min") && list.contains("  told "))
        #expect(!list.contains("secret"))
        // Whoever tests it is told at once.
        let test = try run(["alert", "test", "many"], on: server).text
        #expect(test.hasPrefix("Test of the alert many: requests is 5"))
        #expect(String(decoding: try receiver.next().body, as: UTF8.self).contains(#""test":true"#))
        // Its time is over, and what it counted is out of sight.
        server.time.now.withLock { $0 = now + 60 * 60_000 }
        try server.server.telemetry?.alerts.round()
        #expect(throws: (any Error).self) { try receiver.next(withinSeconds: 1) }
    }

    @Test(
        "An alert that was not taken is told again under one identifier until it is, by a server that starts anew, too"
    )
    func toldAgain() throws {
        let (letters, script) = (temporary.path("letters"), temporary.path("mail.sh"))
        try "#!/bin/sh\ncat >>'\(letters)'\n".write(
            toFile: script, atomically: true, encoding: .utf8)
        #expect(chmod(script, 0o700) == 0)
        let receiver = try PostReceiver(answering: "503 Service Unavailable")
        func start() throws -> FolderServer {
            try served {
                ($0.mail.sender, $0.mail.program) = (.program, script)
                $0.mail.from = "server@a.example"
            }
        }
        var server = try start()
        try ask(5, of: server)
        _ = try run(
            [
                "alert", "add", "many", "--metric", "requests", "--above", "4", "--minutes", "10",
                "--mail", "me@a.example", "--url", "http://127.0.0.1:\(receiver.port)/",
            ], on: server)
        try pass(minutes: 1, on: server)
        try server.server.telemetry?.alerts.round()
        let first = try receiver.next()
        let now = server.time.now.withLock { $0 }
        server.stop()
        server = try start()
        defer { server.stop() }
        // What was counted is out of sight, and still to be told.
        server.time.now.withLock { $0 = now + 30 * 60_000 }
        try server.server.telemetry?.alerts.round()
        let second = try receiver.next()
        #expect(try run(["alert", "list"], on: server).text.contains("never told"))
        receiver.answer(with: "204 No Content")
        try server.server.telemetry?.alerts.round()
        let third = try receiver.next()
        try server.server.telemetry?.alerts.round()
        #expect(throws: (any Error).self) { try receiver.next(withinSeconds: 1) }
        #expect(try run(["alert", "list"], on: server).text.contains("  told "))
        let identifier = Self.header("webhook-id", of: first)
        for post in [second, third] {
            #expect(Self.header("webhook-id", of: post) == identifier)
            #expect(post.body == first.body)
        }
        // The letter had left at once.
        let mailed = try String(contentsOfFile: letters, encoding: .utf8)
        #expect(mailed.components(separatedBy: "Message-ID: ").count == 2)
        #expect(mailed.contains("Message-ID: <\(identifier ?? "")@"), "\(mailed)")
    }

    private static func header(_ name: String, of post: (head: String, body: Data)) -> String? {
        post.head.split(separator: "\r\n").first { $0.hasPrefix(name + ": ") }
            .map { String($0.dropFirst(name.count + 2)) }
    }

    /// Whether a post shows the signature of the key that a command has shown.
    private static func requireSigned(
        _ post: (head: String, body: Data), by added: CommandOutput
    ) throws {
        let line = try #require(added.text.split(separator: "\n").first { $0.contains("whsec_") })
        let key = try #require(
            Data(base64Encoded: String(line.split(separator: "whsec_")[1])))
        func header(_ name: String) -> String? { Self.header(name, of: post) }
        let (id, seconds) = (header("webhook-id") ?? "", header("webhook-timestamp") ?? "")
        let code = HMACSHA256(key: [UInt8](key)).code(
            for: Array("\(id).\(seconds).".utf8) + post.body)
        #expect(header("webhook-signature") == "v1,\(Base64.encode(code))" && id.count == 36)
    }

    @Test(
        "A collector gets each minute once, and what it did not take again",
        arguments: [true, false])
    func collector(takes: Bool) throws {
        let receiver = try PostReceiver(answering: takes ? "200 OK" : "503 Service Unavailable")
        let server = try served {
            $0.telemetry.otlpEndpoint = "http://127.0.0.1:\(receiver.port)"
        }
        defer { server.stop() }
        try ask(2, of: server)
        try pass(minutes: 1, on: server)
        let first = try receiver.next()
        #expect(first.head.hasPrefix("POST /v1/metrics HTTP/1.1\r\n"))
        let json = try JSONSerialization.jsonObject(with: first.body) as? [String: Any]
        #expect((json?["resourceMetrics"] as? [Any])?.count == 1)
        #expect(String(decoding: first.body, as: UTF8.self).contains("records/lookup"))
        try ask(1, of: server)
        try pass(minutes: 1, on: server)
        let second = try receiver.next()
        #expect((second.body == first.body) == !takes)
    }

    @Test("A collector gets a span of each request whose caller keeps the trace, and of no other")
    func spans() throws {
        let receiver = try PostReceiver(answering: "200 OK")
        let server = try served {
            $0.telemetry.otlpEndpoint = "http://127.0.0.1:\(receiver.port)"
        }
        defer { server.stop() }
        func ask(_ trace: Character, _ flags: String, version: String = "00") {
            let parent = String(repeating: trace, count: 32) + "-00f067aa0ba902b7-\(flags)"
            _ = server.connection.send(
                "POST", "/database/1/iCloud.a/production/public/records/query", "{}",
                "traceparent: \(version)-\(parent)\r\n")
        }
        // What is left out comes first: it would have come with what is not.
        ask("a", "00")
        ask("0", "01")
        ask("b", "01", version: "ff")
        ask("c", "1")
        ask("d", "01")
        let post = try receiver.next()
        #expect(post.head.hasPrefix("POST /v1/traces HTTP/1.1\r\n"))
        let text = String(decoding: post.body, as: UTF8.self)
        #expect(text.components(separatedBy: "\"traceId\"").count == 2)
        #expect(text.contains(#""traceId":"\#(String(repeating: "d", count: 32))""#))
        #expect(text.contains(#""parentSpanId":"00f067aa0ba902b7","name":"records/query""#))
        #expect(text.contains(#""key":"lenticular.code","value":{"stringValue":"#))
        _ = try JSONSerialization.jsonObject(with: post.body)
    }

    @Test(
        "Alerts that say nothing are refused",
        arguments: [
            ["--metric", "p95", "--above", "1"],
            ["--metric", "p95", "--above", "1", "--below", "1", "--mail", "a@b.example"],
            ["--metric", "p96", "--above", "1", "--mail", "a@b.example"],
            ["--metric", "p95", "--above", "-1", "--mail", "a@b.example"],
            ["--metric", "p95", "--above", "nan", "--mail", "a@b.example"],
            ["--metric", "p95", "--above", "1", "--mail", "nobody"],
            ["--metric", "p95", "--above", "1", "--minutes", "1441", "--mail", "a@b.example"],
            [
                "--metric", "p95", "--above", "1", "--container", "iCloud.no", "--mail",
                "a@b.example",
            ],
            ["--metric", "p95", "--above", "1", "--url", "file:///etc/passwd"],
        ])
    func refused(arguments: [String]) throws {
        let server = try served()
        defer { server.stop() }
        #expect(throws: (any Error).self) {
            try run(["alert", "add", "a"] + arguments, on: server)
        }
        #expect(try run(["alert", "list"], on: server).text == "no alerts")
    }

    @Test("Metrics tell of containers, of items that failed and of credentials that were refused")
    func metrics() throws {
        let server = try served()
        defer { server.stop() }
        try ask(2, of: server)
        _ = try server.ask(
            "/database/1/iCloud.a/development/public/records/lookup?ckAPIToken=wrong", [:])
        try Wait.until {
            String(decoding: server.server.metrics.page(), as: UTF8.self)
                .contains(#"lenticular_authentication_failures_total{reason="apiTokenUnknown"} 1"#)
        }
        try pass(minutes: 1, on: server)
        let page = String(decoding: server.server.metrics.page(), as: UTF8.self)
        let labels = #"{container="icloud.a",environment="development"}"#
        for line in [
            "lenticular_container_requests_total\(labels) 3",
            "lenticular_container_errors_total\(labels) 1",
            "lenticular_container_records\(labels) 0",
            #"lenticular_item_faults_total{operation="records/lookup",code="NOT_FOUND"} 2"#,
            #"lenticular_authentication_failures_total{reason="apiTokenUnknown"} 1"#,
        ] { #expect(page.contains("\n\(line)\n"), "\(line)") }
    }

    @Test(
        "A slow request has a line in the log that says where its time went, and a fast one has none"
    )
    func slow() {
        let sink = OperatingLogTests.Sink()
        let log = Log(format: .json, descriptor: sink.descriptor, clock: .system)
        let recorder = RequestRecorder(
            metrics: Metrics(version: "1", startedAt: 0), log: log, slowMilliseconds: 100)
        func observe(_ id: String, milliseconds: UInt64, waiting: UInt64) {
            var request = RequestObservation(
                requestID: id, operation: "records/query", status: 200,
                durationNanoseconds: milliseconds * 1_000_000)
            request.stages.waiting = waiting * 1_000_000
            request.stages.reading = (milliseconds - waiting) * 1_000_000
            recorder.observe(request)
        }
        observe("fast", milliseconds: 99, waiting: 0)
        observe("held", milliseconds: 25_000, waiting: 24_950)
        observe("slow", milliseconds: 130, waiting: 20)
        log.flush(withinSeconds: 60)
        let lines = sink.lines().filter { $0.contains("slow request") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains(#""request":"slow""#) == true)
        #expect(lines.first?.contains(#""reading":110.000"#) == true, "\(lines)")
    }
}
