import Accounts
import Administration
import ChildProcesses
import CloudModel
import Configuration
import Foundation
import Storage
import Synchronization
import Testing

@testable import Commands
@testable import Server

@Suite("The operators' interface")
struct ConsoleTests {
    private let temporary: TemporaryFolder
    private let server: FolderServer

    init() throws {
        temporary = try TemporaryFolder()
        server = try Self.serve(temporary.path("data"))
    }

    private static func serve(
        _ path: String, wantsSecondFactor: Bool = false,
        _ configure: (inout ServerConfiguration) -> Void = { _ in }
    ) throws -> FolderServer {
        try FolderServer(
            data: path,
            console: ConsoleAccess(
                wantsSecondFactor: wantsSecondFactor, streams: CommandConsole().streams,
                answer: CommandConsole().answer)
        ) {
            $0.console.listen = "127.0.0.1:0"
            $0.accounts.passwordCostBits = 12
            configure(&$0)
        }
    }

    private struct Answer {
        let status: Int
        let head: String
        let object: [String: Any]

        var error: String? { object["error"] as? String }
    }

    private func send(
        _ method: String, _ path: String, _ options: [String] = [], body: String? = nil,
        to other: FolderServer? = nil, at address: String? = nil
    ) throws -> Answer {
        let server = other ?? server
        let place = try address ?? #require(server.server.consoleAddress).description
        let curl = ChildProcess()
        curl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        curl.arguments =
            ["curl", "-s", "-i", "--max-time", "60", "-X", method, "http://\(place)\(path)"]
            + options + (body.map { ["--data-binary", $0] } ?? [])
        let output = Pipe()
        curl.standardOutput = output
        try curl.run()
        let text = String(decoding: output.readToEnd(), as: UTF8.self)
        curl.waitUntilExit()
        let words = text.split(separator: " ", maxSplits: 2)
        let parts = text.components(separatedBy: "\r\n\r\n")
        // NB: what is no JSON has no members.
        let object = try? JSONSerialization.jsonObject(with: Data((parts.last ?? "").utf8))
        return Answer(
            status: words.count > 1 ? Int(words[1]) ?? 0 : 0, head: parts.first ?? "",
            object: object as? [String: Any] ?? [:])
    }

    private static let json = ["-H", "Content-Type: application/json"]
    private static let signIn = #"{"email":"ann@a.example","password":"correct horse"}"#

    private func local(_ server: FolderServer) -> Administrator {
        Administrator(.commandLine(userNumber: 0), on: server.folder)
    }

    private func makeOperator(
        _ email: String = "ann@a.example", on other: FolderServer? = nil
    ) throws {
        _ = try local(other ?? server).perform(
            CreateOperator(
                email, rights: NamedRights(containers: [], isReadOnly: false),
                password: Array("correct horse".utf8)))
    }

    private func begin() throws -> (cookie: String, page: String) {
        let answer = try send("POST", "/console/api/session", Self.json, body: Self.signIn)
        #expect(answer.status == 200, "\(answer)")
        let start = try #require(answer.head.range(of: "lenticular-console="))
        let cookie = answer.head[start.lowerBound...].prefix { $0 != ";" }
        return (String(cookie), try #require(answer.object["page"] as? String))
    }

    @Test("The interface is at its own address and at no other")
    func address() throws {
        defer { server.stop() }
        #expect(try send("GET", "/console/api").status == 401)
        let apps = try #require(server.server.addresses.first).description
        #expect(try send("GET", "/console/api", at: apps).status == 404)
        #expect(try send("GET", "/elsewhere").error == "NO_COMMAND")
        #expect(try send("GET", "/console/", at: apps).status == 404)
        let off = try Self.serve(temporary.path("off")) { $0.console.listen = "" }
        #expect(off.server.consoleAddress == nil)
        off.stop()
    }

    @Test("An address that is not allowed gets nothing")
    func allowList() throws {
        defer { server.stop() }
        let other = try Self.serve(temporary.path("other")) { $0.console.allow = [] }
        defer { other.stop() }
        for path in ["/console/api", "/console/api/session", "/"] {
            #expect(try send("POST", path, body: "{}", to: other).error == "ADDRESS_REFUSED")
        }
    }

    @Test(
        "An operator signs in, acts by their own pages alone, and out; each is noted under their account"
    )
    func session() throws {
        defer { server.stop() }
        try makeOperator()
        let (cookie, page) = try begin()
        let asked = try send("POST", "/console/api/session", Self.json, body: Self.signIn).head
        for part in ["HttpOnly", "SameSite=Strict", "Path=/"] { #expect(asked.contains(part)) }
        let create = #"{"id":"iCloud.a"}"#
        let own = ["-H", "X-Console-Page: \(page)"]
        for foreign in [
            Self.json, Self.json + ["-H", "X-Console-Page: \(page)0"],
            own + ["-H", "Content-Type: text/plain"],
            own + Self.json + ["-H", "Origin: https://evil.example"],
            own + Self.json + ["-H", "Sec-Fetch-Site: cross-site"],
        ] {
            let answer = try send(
                "POST", "/console/api/container/create", ["-b", cookie] + foreign, body: create)
            #expect(answer.status == 403)
            #expect(answer.error == "FOREIGN_PAGE")
        }
        let made = try send(
            "POST", "/console/api/container/create", ["-b", cookie] + own + Self.json,
            body: create)
        #expect(made.status == 200)
        #expect(made.object["container"] as? String == "iCloud.a")
        let account = try server.folder.users.find(email: "ann@a.example").id
        let noted = try server.folder.auditPage(before: nil, since: .min, prefix: "", limit: 9)
        #expect(
            noted.entries.filter { $0.what == "container create" }.map(\.who)
                == ["operator \(account.text)"])
        #expect(
            try send("DELETE", "/console/api/session", ["-b", cookie] + own + Self.json).status
                == 200)
        #expect(try send("GET", "/console/api", ["-b", cookie]).error == "UNAUTHENTICATED")
    }

    @Test(
        "The console's document and its files come to allowed addresses, with a policy that runs its own files alone"
    )
    func pages() throws {
        defer { server.stop() }
        let root = try send("GET", "/")
        #expect(root.status == 303)
        #expect(root.head.contains("Location: /console/"))
        let document = try page("/console/data?container=iCloud.a")
        for part in [
            "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self';",
            "require-trusted-types-for 'script'", "X-Frame-Options: DENY",
        ] {
            #expect(document.contains(part))
        }
        let style = try #require(
            document.split(separator: "\"").first { $0.hasSuffix("/console.css") })
        let file = try page(String(style))
        #expect(file.contains("max-age=31536000, immutable"))
        #expect(file.contains("text/css"))
        #expect(try send("GET", String(style) + "x").error == "NO_COMMAND")
        #expect(try send("POST", "/console/", body: "{}").error == "NO_COMMAND")
        let closed = try Self.serve(temporary.path("closed")) { $0.console.allow = [] }
        defer { closed.stop() }
        #expect(try send("GET", "/console/", to: closed).error == "ADDRESS_REFUSED")
    }

    /// An answer with its head, as curl shows it.
    private func page(_ path: String) throws -> String {
        let address = try #require(server.server.consoleAddress).description
        let curl = ChildProcess()
        curl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        curl.arguments = ["curl", "-s", "-i", "--max-time", "60", "http://\(address)\(path)"]
        let output = Pipe()
        curl.standardOutput = output
        try curl.run()
        let text = String(decoding: output.readToEnd(), as: UTF8.self)
        curl.waitUntilExit()
        return text
    }

    @Test("Sessions end with the role, with the password and with their time; an old proof is none")
    func endings() throws {
        defer { server.stop() }
        try makeOperator()
        let list = "/console/api/session"
        var cookie = try begin().cookie
        #expect(try send("GET", list, ["-b", cookie]).status == 200)
        _ = try local(server).perform(SetPassword(Array("correct horse".utf8), of: "ann@a.example"))
        #expect(try send("GET", list, ["-b", cookie]).status == 401)
        cookie = try begin().cookie
        _ = try local(server).perform(RemoveOperator("ann@a.example"))
        #expect(try send("GET", list, ["-b", cookie]).status == 401)
        let refused = try send("POST", list, Self.json, body: Self.signIn)
        #expect(refused.error == "WRONG")
        _ = try local(server).perform(
            CreateOperator(
                "ann@a.example", rights: NamedRights(containers: [], isReadOnly: false)))
        let begun = try begin()
        server.time.now.withLock { $0 += 600_001 }
        let token = try send(
            "POST", "/console/api/operator-token/create",
            ["-b", begun.cookie, "-H", "X-Console-Page: \(begun.page)"] + Self.json, body: "{}")
        #expect(token.error == "PROOF_NEEDED")
        server.time.now.withLock { $0 += 36_000_000 }
        #expect(try send("GET", list, ["-b", begun.cookie]).status == 401)
    }

    @Test(
        "An operator without a second factor is not let in, and no reset letter is for an operator")
    func factors() throws {
        defer { server.stop() }
        let strict = try Self.serve(temporary.path("strict"), wantsSecondFactor: true)
        defer { strict.stop() }
        try makeOperator(on: strict)
        let answer = try send(
            "POST", "/console/api/session", Self.json, body: Self.signIn, to: strict)
        #expect(answer.error == "SECOND_FACTOR_MISSING")
        #expect(!answer.head.contains("Set-Cookie"))
        let useCases = strict.folder.accountUseCases
        let letter = Letter(
            purpose: .reset, account: nil, address: try AddressFormat.email("ann@a.example"),
            detail: "", returnPath: nil, language: "", madeAt: 0)
        #expect(try useCases.letters.contents(of: letter, now: 0) == nil)
    }

    @Test("A token works until it is revoked or expires, and forged ones never do")
    func tokens() throws {
        defer { server.stop() }
        func make(_ name: String) throws -> String {
            try local(server).perform(
                CreateOperatorToken(
                    name: name, rights: NamedRights(containers: [], isReadOnly: true), seconds: 60)
            ).token
        }
        func ask(_ token: String, _ path: String = "/container/list") throws -> Answer {
            try send(
                "POST", "/console/api" + path, ["-H", "Authorization: Bearer \(token)"],
                body: #"{"id":"iCloud.a"}"#)
        }
        let (first, second) = (try make("first"), try make("second"))
        #expect(try ask(first).error == "USAGE")
        #expect(try ask(first, "/container/create").error == "FORBIDDEN")
        #expect(try ask(first, "/serve").error == "NO_COMMAND")
        for forged in [
            "", "lop_", String(first.dropLast()), first + "0", first.uppercased(),
            String(repeating: "a", count: 4_096), "lop_" + String(repeating: "0", count: 64),
        ] {
            #expect(try ask(forged).status == 401, "\(forged.prefix(8))")
        }
        _ = try local(server).perform(RevokeOperatorToken(name: "first"))
        #expect(try ask(first).status == 401)
        #expect(try ask(second).status == 400)
        server.time.now.withLock { $0 += 60_000 }
        #expect(try ask(second).status == 401)
    }

    @Test("A stranger's large body is refused before it comes in, and guesses wait")
    func strangers() throws {
        defer { server.stop() }
        try makeOperator()
        let file = temporary.path("large")
        try Data(count: 20_000).write(to: URL(fileURLWithPath: file))
        for options in [
            [], ["-H", "Content-Encoding: gzip"], ["-H", "Transfer-Encoding: chunked"],
        ] {
            let answer = try send(
                "POST", "/console/api/session", Self.json + options, body: "@\(file)")
            #expect([400, 401].contains(answer.status), "\(options)")
        }
        var last = 0
        for _ in 0..<12 {
            last =
                try send(
                    "POST", "/console/api/session", Self.json,
                    body: #"{"email":"ann@a.example","password":"wrong horse"}"#
                ).status
        }
        #expect(last == 429)
    }

    @Test("Of 64 who take the first operator's link at once, one becomes the operator")
    func firstOperator() throws {
        defer { server.stop() }
        let link = try #require(try server.server.firstOperatorLink())
        let secret = String(try #require(link.split(separator: "#").last))
        #expect(try server.server.firstOperatorLink() == nil)
        let first = server.folder.accountUseCases.firstOperator
        #expect(
            try first.take(
                secret + "0", email: "x@a.example", password: Array("correct horse".utf8), now: 0)
                == nil)
        let made = Mutex(0)
        let now: Milliseconds = 1_800_000_000_000
        DispatchQueue.concurrentPerform(iterations: 64) { number in
            // NB: a failure makes nobody an operator, which the count shows.
            let account = try? first.take(
                secret, email: "a\(number)@a.example", password: Array("correct horse".utf8),
                now: now)
            if account != nil { made.withLock { $0 += 1 } }
        }
        #expect(made.withLock { $0 } == 1)
        let useCases = server.folder.accountUseCases
        #expect(try useCases.catalog.operators(ListRequest()).items.count == 1)
        #expect(try useCases.catalog.accounts(ListRequest()).items.count == 1)
        #expect(try server.server.firstOperatorLink() == nil)
    }
}
