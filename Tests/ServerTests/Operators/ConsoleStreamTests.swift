import Administration
import Awaiting
import ChildProcesses
import CloudModel
import Foundation
import Testing

@testable import Commands
@testable import Server

@Suite("What streams at the operators' interface")
final class ConsoleStreamTests {
    private static let person = "bea@a.example"
    private static var located: [String: Any] {
        ["container": "iCloud.a", "environment": "development"]
    }
    private static let streamsMax = 16

    private let temporary: TemporaryFolder
    private let server: FolderServer
    private let access: [String]
    private var isStopped = false

    init() throws {
        temporary = try TemporaryFolder()
        server = try FolderServer(
            data: temporary.path("data"),
            console: ConsoleAccess(
                wantsSecondFactor: false, streams: CommandConsole().streams,
                answer: CommandConsole().answer)
        ) {
            $0.console.listen = "127.0.0.1:0"
            $0.accounts.passwordCostBits = 12
        }
        let local = Administrator(.commandLine(userNumber: 0), on: server.folder)
        _ = try local.perform(CreateContainer("iCloud.a"))
        _ = try local.perform(CreateAccount(email: Self.person))
        _ = try local.perform(
            CreateOperator(
                "ann@a.example", rights: NamedRights(containers: [], isReadOnly: false),
                password: Array("correct horse".utf8)))
        let place = try #require(server.server.consoleAddress).description
        let curl = ChildProcess()
        curl.arguments = [
            "curl", "-s", "-i", "http://\(place)/console/api/session", "-H",
            "Content-Type: application/json", "-d",
            #"{"email":"ann@a.example","password":"correct horse"}"#,
        ]
        let output = Pipe()
        curl.standardOutput = output
        try curl.run()
        let text = String(decoding: output.readToEnd(), as: UTF8.self)
        curl.waitUntilExit()
        let start = try #require(text.range(of: "lenticular-console="), "\(text)")
        let cookie = text[start.lowerBound...].prefix { $0 != ";" }
        let page = try #require(text.range(of: #""page":""#))
        access = [
            "-b", String(cookie), "-H",
            "X-Console-Page: \(text[page.upperBound...].prefix { $0 != "\"" })",
        ]
    }

    deinit { if !isStopped { server.stop() } }

    /// A request on its way, whose answer goes to a file.
    private final class Asked {
        let curl = ChildProcess()
        let file: String
        private let code = Pipe()

        init(_ url: String, _ options: [String], file: String, input: Pipe? = nil) throws {
            self.file = file
            curl.arguments =
                ["curl", "-sS", "-N", "-X", "POST", "-D", "\(file).head", "-o", file, url]
                + ["-w", "%{http_code} %header{content-type}"] + options
            curl.standardInput = input
            curl.standardOutput = code
            try curl.run()
        }

        deinit { curl.signal(SIGKILL) }

        /// What has come of the head so far.
        var head: String {
            // NB: nothing has come while there is no file.
            (try? String(contentsOfFile: "\(file).head", encoding: .utf8)) ?? ""
        }

        var body: String {
            // NB: as above.
            (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        }

        /// The status and the type, once the answer is whole.
        func wait() -> String {
            let text = String(decoding: code.readToEnd(), as: UTF8.self)
            curl.waitUntilExit()
            return text
        }
    }

    private func ask(
        _ command: String, _ body: [String: Any], _ options: [String]? = nil
    ) throws -> Asked {
        let text = try JSONSerialization.data(withJSONObject: body)
        return try Asked(
            try url(command),
            (options ?? access) + [
                "-H", "Content-Type: application/json", "-d",
                String(decoding: text, as: UTF8.self),
            ], file: temporary.path("\(UUID())"))
    }

    /// Sends an import, from a file or as a pipe is written to.
    private func send(
        _ source: String, _ arguments: [String: Any], _ options: [String]? = nil,
        input: Pipe? = nil
    ) throws -> Asked {
        let text = try JSONSerialization.data(withJSONObject: arguments)
        let query = try #require(
            String(decoding: text, as: UTF8.self).addingPercentEncoding(
                withAllowedCharacters: .alphanumerics))
        return try Asked(
            try url("import") + "?arguments=\(query)", (options ?? access) + ["-T", source],
            file: temporary.path("\(UUID())"), input: input)
    }

    private func url(_ command: String) throws -> String {
        "http://\(try #require(server.server.consoleAddress).description)/console/api/\(command)"
    }

    private static func line(_ name: String, _ text: String) -> String {
        #"{"recordName":"\#(name)","recordType":"Note","fields":{"text":{"value":"\#(text)"}}}"#
            + "\n"
    }

    @Test("An import takes what is longer than any body, and an export gives it back")
    func inAndOut() throws {
        let file = temporary.path("notes.jsonl")
        let text = String(repeating: "x", count: 200_000)
        // Each is far below what a record may have, all are above what a body may have elsewhere.
        try (0..<100).map { Self.line("n\($0)", text) }.joined()
            .write(toFile: file, atomically: true, encoding: .utf8)
        let owned = Self.located.merging(["user": Self.person]) { $1 }
        let done = try send(file, owned)
        #expect(done.wait().hasPrefix("200 "), "\(done.body)")
        #expect(done.body.contains(#""records":100"#) && done.body.contains(#""failed":0"#))
        let again = try send(file, owned)
        #expect(again.wait().hasPrefix("200 ") && again.head.contains("X-Exit-Status: 1"))
        let out = try ask("export", owned)
        #expect(out.wait() == "200 application/x-ndjson")
        let lines = out.body.split(separator: "\n")
        #expect(lines.filter { $0.contains(#""recordType":"Note""#) }.count == 100)
        #expect(lines.last?.contains(#""kind":"end""#) == true)
        let table = try ask("export", owned.merging(["type": "Note", "format": "csv"]) { $1 })
        #expect(table.wait() == "200 text/csv; charset=utf-8")
        #expect(table.body.split(separator: "\n").count == 101)
        let person = try ask("user/export", ["email": Self.person])
        #expect(person.wait() == "200 application/zip")
        #expect(try Data(contentsOf: URL(filePath: person.file)).starts(with: Array("PK".utf8)))
    }

    @Test(
        "A check tells where it is, and its outcome in the last line; without, it is one object as ever"
    )
    func checks() throws {
        let plain = try ask("check", [:])
        #expect(plain.wait() == "200 application/json; charset=utf-8")
        #expect(plain.body.hasPrefix(#"{"ok":true,"#))
        let told = try ask("check", ["progress": true])
        #expect(told.wait() == "200 application/x-ndjson")
        let lines = told.body.split(separator: "\n")
        #expect(lines.first == #"{"progress":"0 % the catalog"}"#, "\(told.body)")
        #expect(lines.last?.hasPrefix(#"{"ok":true,"#) == true, "\(told.body)")
        #expect(lines.dropLast().allSatisfy { $0.hasPrefix(#"{"progress":""#) })
    }

    @Test("What is refused before anything has come is answered as ever")
    func refusals() throws {
        let file = temporary.path("none.jsonl")
        try Self.line("a", "b").write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try send(file, ["container": "iCloud.a"]).wait().hasPrefix("400 "))
        #expect(try send(file, Self.located, Array(access.prefix(2))).wait().hasPrefix("403 "))
        #expect(try send(file, Self.located, []).wait().hasPrefix("401 "))
        #expect(try ask("export", ["container": "iCloud.a"]).wait().hasPrefix("400 "))
        #expect(
            try ask("export", Self.located.merging(["filter": ["a = 1"]]) { $1 }).wait()
                == "422 application/json; charset=utf-8")
        let token = try Administrator(.commandLine(userNumber: 0), on: server.folder).perform(
            CreateOperatorToken(
                name: "job", rights: NamedRights(containers: [], isReadOnly: false),
                seconds: 1_000))
        let bearer = ["-H", "Authorization: Bearer \(token.token)"]
        let refused = try send(file, Self.located, bearer)
        #expect(refused.wait().hasPrefix("403 ") && refused.body.contains("no operator token"))
        #expect(try ask("export", Self.located, bearer).wait().hasPrefix("403 "))
    }

    @Test("A tail shows what comes, and each client that hangs up makes room for another")
    func tails() throws {
        var tails: [Asked] = []
        for _ in 1..<Self.streamsMax { tails.append(try ask("logs", ["follow": true])) }
        // An import that waits for the rest of its body is one, too.
        let body = Pipe()
        let held = try send("-", Self.located, input: body)
        body.fileHandleForWriting.write(Data(Self.line("a", "b").utf8))
        for tail in tails { try Wait.until { tail.head.contains("200") } }
        try Wait.until {
            let more = try ask("logs", [:])
            return more.wait().hasPrefix("503 ")
        }
        _ = try server.ask("/database/1/iCloud.a/development/public/records/query", [:])
        for tail in tails { try Wait.until { tail.body.contains("records/query") } }
        held.curl.signal(SIGKILL)
        try Wait.until { try ask("logs", [:]).wait().hasPrefix("200 ") }
        for tail in tails { tail.curl.signal(SIGKILL) }
        // As many as ever find room again.
        var next: [Asked] = []
        try Wait.until {
            let tail = try ask("logs", ["follow": true])
            try Wait.until { tail.head.contains("HTTP/1.1") }
            if tail.head.contains(" 200") { next.append(tail) }
            return next.count == Self.streamsMax
        }
    }

    @Test("A server that stops ends its tails")
    func stopping() throws {
        let tail = try ask("logs", ["follow": true])
        try Wait.until { tail.head.contains("200") }
        isStopped = true
        server.stop()
        _ = tail.wait()
        #expect(!tail.curl.isRunning)
    }
}
