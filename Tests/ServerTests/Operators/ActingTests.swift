import Administration
import Awaiting
import ChildProcesses
import CloudModel
import Foundation
import Storage
import Synchronization
import Testing

@testable import Commands
@testable import Server

@Suite("Acting as somebody: a state of the operator's session")
final class ActingTests {
    private static let idle: Milliseconds = 600_000
    private static let ann = "ann@a.example"
    private static let bea = "bea@a.example"
    private static let cy = "cy@a.example"
    private static let place = #""container":"iCloud.a","environment":"development""#

    private let temporary: TemporaryFolder
    private let server: FolderServer

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
        for name in ["iCloud.a", "iCloud.b"] { _ = try local.perform(CreateContainer(name)) }
        for person in [Self.bea, Self.cy] { _ = try local.perform(CreateAccount(email: person)) }
        try makeOperator(Self.ann)
    }

    deinit { server.stop() }

    private var local: Administrator {
        Administrator(.commandLine(userNumber: 0), on: server.folder)
    }

    private func makeOperator(
        _ email: String, containers: [String] = [], isReadOnly: Bool = false,
        password: [UInt8]? = Array("correct horse".utf8)
    ) throws {
        _ = try local.perform(
            CreateOperator(
                email, rights: NamedRights(containers: containers, isReadOnly: isReadOnly),
                password: password))
    }

    /// An operator's browser.
    private final class Browser: Sendable {
        let cookie: String
        private let page: String
        private let address: String

        init(_ address: String, _ email: String, after former: Browser? = nil) throws {
            self.address = address
            let curl = ChildProcess()
            curl.arguments =
                [
                    "curl", "-s", "-i", "http://\(address)/console/api/session", "-H",
                    "Content-Type: application/json", "-d",
                    #"{"email":"\#(email)","password":"correct horse"}"#,
                ] + (former.map { ["-b", $0.cookie] } ?? [])
            let output = Pipe()
            curl.standardOutput = output
            try curl.run()
            let text = String(decoding: output.readToEnd(), as: UTF8.self)
            curl.waitUntilExit()
            let start = try #require(text.range(of: "lenticular-console="), "\(text)")
            cookie = String(text[start.lowerBound...].prefix { $0 != ";" })
            let secret = try #require(text.range(of: #""page":""#))
            page = String(text[secret.upperBound...].prefix { $0 != "\"" })
        }

        var head: [String] { ["Cookie: \(cookie)", "X-Console-Page: \(page)"] }

        func send(
            _ method: String, _ path: String, _ body: String = "", _ headers: [String] = []
        ) throws -> [String: Any] {
            let lines = (head + ["Content-Type: application/json"] + headers)
                .map { $0 + "\r\n" }.joined()
            let answer = WireConnection(address: address)
                .send(method, "/console/api" + path, body, lines)
            guard case .answered(_, let bytes) = answer else {
                Issue.record("\(answer)")
                return [:]
            }
            let object = try JSONSerialization.jsonObject(with: bytes)
            return try #require(object as? [String: Any])
        }

        func run(
            _ command: String, _ body: String = "{}", _ headers: [String] = []
        ) throws -> [String: Any] { try send("POST", "/" + command, body, headers) }

        @discardableResult
        func act(as email: String, in place: String = ActingTests.place) throws -> [String: Any] {
            try send("POST", "/session/acting", "{\"email\":\"\(email)\",\(place)}")
        }

        /// As whom the server says that it acts.
        var acted: [String: Any]? {
            get throws { try send("GET", "/session")["acting"] as? [String: Any] }
        }
    }

    private func signIn(_ email: String = ann, after former: Browser? = nil) throws -> Browser {
        try Browser(
            try #require(server.server.consoleAddress).description, email, after: former)
    }

    private static func save(_ name: String, _ database: String = "private") -> String {
        let record = #"{\"recordName\":\"\#(name)\",\"recordType\":\"Note\"}"#
        return #"{"database":"\#(database)","file":"\#(record)"}"#
    }

    private func error(_ answer: [String: Any]) -> String? { answer["error"] as? String }

    private func names(_ answer: [String: Any]) -> [String] {
        (answer["records"] as? [[String: Any]] ?? []).compactMap { $0["recordName"] as? String }
    }

    private func noted(_ action: String) throws -> [String] {
        try server.folder.auditPage(before: nil, since: .min, prefix: "", limit: 100).entries
            .filter { $0.what == action }.map { "\($0)" }
    }

    @Test(
        "What an operator does then is for the person, until they stop; it is noted once, with whom and where"
    )
    func acting() throws {
        let browser = try signIn()
        #expect(try browser.acted == nil)
        let begun = try #require(try browser.act(as: Self.bea)["acting"] as? [String: Any])
        #expect(begun["user"] as? String == Self.bea)
        #expect(begun["container"] as? String == "iCloud.a")
        #expect(begun["environment"] as? String == "development")
        let told = try browser.send("GET", "")["acting"] as? [String: Any]
        #expect(told?["user"] as? String == Self.bea)
        #expect(error(try browser.run("record/save", Self.save("r"))) == nil)
        #expect(names(try browser.run("record/list", #"{"database":"private"}"#)) == ["r"])
        #expect(try noted("act as").count == 1)
        _ = try browser.send("DELETE", "/session/acting")
        #expect(try browser.acted == nil)
        let place = #"{"database":"private",\#(Self.place),"user":"\#(Self.bea)"}"#
        #expect(error(try browser.run("record/list", place)) == "NOT_ACTING")
        let entry = try #require(try noted("act as").first)
        let bea = try server.folder.users.find(email: Self.bea).id
        for part in ["iCloud.a", "development", bea.text] { #expect(entry.contains(part)) }
        let looks = try server.folder.accountUseCases.catalog.looks(at: bea, limit: 9)
        #expect(looks.contains { $0.action == "act as" })
    }

    @Test("The rules of the public database hold for the operator as for the person")
    func publicRules() throws {
        let browser = try signIn()
        let other = try signIn()
        _ = try browser.act(as: Self.bea)
        #expect(error(try browser.run("record/save", Self.save("p", "public"))) == nil)
        _ = try other.act(as: Self.cy)
        // Who did not make a record does not delete it.
        let refused = try other.run(
            "record/delete", #"{"database":"public","name":["p"],"yes":true}"#)
        let records = try #require(refused["records"] as? [[String: Any]])
        #expect(records.first?["serverErrorCode"] as? String != nil, "\(refused)")
        #expect(names(try browser.run("record/list", #"{"database":"public"}"#)) == ["p"])
    }

    @Test(
        "Somebody else's, another place's, and what is nobody's to change are refused until they stop"
    )
    func refusals() throws {
        let browser = try signIn()
        _ = try browser.act(as: Self.bea)
        for (command, body) in [
            ("record/list", #"{"database":"private","user":"\#(Self.cy)"}"#),
            ("record/list", #"{"database":"private","container":"iCloud.b"}"#),
            ("record/list", #"{"database":"private","environment":"production"}"#),
            ("share/list", #"{"email":"\#(Self.cy)"}"#),
            ("user/create", #"{"email":"new@a.example"}"#),
            ("web-token/create", #"{\#(Self.place),"email":"\#(Self.bea)"}"#),
            ("schema/reset", #"{"container":"iCloud.a","yes":true}"#),
            ("check", #"{"remove-damaged":true}"#),
            ("user/sync", #"{\#(Self.place),"email":"\#(Self.cy)"}"#),
        ] {
            let answer = try browser.run(command, body)
            #expect(error(answer) == "ACTING", "\(command) \(answer)")
            #expect((answer["reason"] as? String)?.contains(Self.bea) == true)
        }
        for (command, body) in [
            ("container/list", "{}"), ("user/list", "{}"),
            ("user/sync", #"{\#(Self.place),"email":"\#(Self.bea)"}"#),
            ("schema/export", #"{"container":"iCloud.a"}"#),
        ] {
            #expect(error(try browser.run(command, body)) == nil, "\(command)")
        }
    }

    @Test("It ends with the idle time, goes on with each command, and a look at it is none")
    func idling() throws {
        let browser = try signIn()
        _ = try browser.act(as: Self.bea)
        for _ in 0..<3 {
            server.time.now.withLock { $0 += Self.idle - 1 }
            #expect(error(try browser.run("record/list", #"{"database":"private"}"#)) == nil)
        }
        server.time.now.withLock { $0 += Self.idle - 1 }
        #expect(try browser.acted != nil)
        server.time.now.withLock { $0 += 1 }
        #expect(try browser.acted == nil)
        // The proof is old as well.
        #expect(error(try browser.act(as: Self.bea)) == "PROOF_NEEDED")
    }

    @Test("It ends with the session: by signing out, with the role, and with other rights")
    func endings() throws {
        var browser = try signIn()
        _ = try browser.act(as: Self.bea)
        _ = try browser.send("DELETE", "/session")
        #expect(error(try browser.run("record/list")) == "UNAUTHENTICATED")
        browser = try signIn()
        #expect(try browser.acted == nil)
        _ = try browser.act(as: Self.bea)
        try makeOperator(Self.ann, containers: ["iCloud.b"], password: nil)
        #expect(error(try browser.run("record/list")) == "UNAUTHENTICATED")
        browser = try signIn()
        #expect(try browser.acted == nil)
        #expect(error(try browser.act(as: Self.bea)) == "FORBIDDEN")
        #expect(error(try browser.act(as: "none@a.example")) == "FORBIDDEN")
    }

    @Test(
        "Each session acts for itself, and a page that takes itself for another is told before anything is done"
    )
    func sessions() throws {
        let (one, two) = (try signIn(), try signIn())
        let first = try #require(try one.act(as: Self.bea)["acting"] as? [String: Any])
        #expect(try two.acted == nil)
        _ = try two.act(as: Self.cy)
        #expect(error(try one.run("record/save", Self.save("b"))) == nil)
        #expect(names(try two.run("record/list", #"{"database":"private"}"#)).isEmpty)
        let id = try #require(first["id"] as? String)
        let shown = ["X-Console-Acting: \(id)"]
        #expect(error(try one.run("record/save", Self.save("c"), shown)) == nil)
        for wrong in [["X-Console-Acting: none"], ["X-Console-Acting: "], ["X-Console-Acting: x"]] {
            #expect(error(try one.run("record/save", Self.save("d"), wrong)) == "ACTING_CHANGED")
        }
        _ = try one.send("DELETE", "/session/acting")
        #expect(error(try one.run("container/list", "{}", shown)) == "ACTING_CHANGED")
        _ = try one.act(as: Self.bea)
        #expect(error(try one.run("record/save", Self.save("d"), shown)) == "ACTING_CHANGED")
        #expect(
            names(try one.run("record/list", #"{"database":"private"}"#)).sorted() == ["b", "c"])
    }

    @Test("Who signs in again in the same browser goes on; somebody else there does not")
    func proving() throws {
        try makeOperator("other@a.example")
        let browser = try signIn()
        _ = try browser.act(as: Self.bea)
        let again = try signIn(after: browser)
        #expect(try again.acted?["user"] as? String == Self.bea)
        #expect(error(try browser.run("record/list")) == "UNAUTHENTICATED")
        let other = try signIn("other@a.example", after: again)
        #expect(try other.acted == nil)
    }

    @Test("Who may only look acts and changes nothing, and a script has no session to act in")
    func lookers() throws {
        try makeOperator("look@a.example", isReadOnly: true)
        let browser = try signIn("look@a.example")
        #expect(try browser.act(as: Self.bea)["acting"] != nil)
        #expect(error(try browser.run("record/list", #"{"database":"private"}"#)) == nil)
        #expect(error(try browser.run("record/save", Self.save("r"))) == "FORBIDDEN")
        let token = try local.perform(
            CreateOperatorToken(
                name: "job", rights: NamedRights(containers: [], isReadOnly: false), seconds: 60)
        ).token
        let address = try #require(server.server.consoleAddress).description
        let answer = WireConnection(address: address).send(
            "POST", "/console/api/session/acting",
            "{\"email\":\"\(Self.bea)\",\(Self.place)}", "Authorization: Bearer \(token)\r\n")
        guard case .answered(403, _) = answer else {
            Issue.record("\(answer)")
            return
        }
    }

    @Test("A feed that was begun on somebody's behalf ends with it")
    func streams() throws {
        let browser = try signIn()
        let address = try #require(server.server.consoleAddress).description
        for end in ["/session/acting", "/session"] {
            _ = try browser.act(as: Self.bea)
            let made = try browser.run("record/list", #"{"database":"public"}"#)
            #expect(error(made) == nil)
            let file = temporary.path("feed\(end.count)")
            let curl = ChildProcess()
            curl.arguments =
                [
                    "curl", "-sS", "-N", "-o", file, "-D", "\(file).head",
                    "http://\(address)/console/api/record/changes", "-H",
                    "Content-Type: application/json", "-d",
                    #"{"database":"public","follow":true}"#,
                ] + browser.head.flatMap { ["-H", $0] }
            try curl.run()
            defer { curl.signal(SIGKILL) }
            try Wait.until {
                // NB: nothing has come while there is no file.
                let head = try? String(contentsOfFile: "\(file).head", encoding: .utf8)
                return head?.contains(" 200 ") == true
            }
            _ = try browser.send("DELETE", end)
            curl.waitUntilExit()
        }
    }

    @Test(
        "Of 64 who begin, act and stop at once in one session, each is done for one person whole, or refused"
    )
    func crowd() throws {
        let browser = try signIn()
        let errors = Mutex<Set<String>>([])
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 64) { number in
            do {
                let answer: [String: Any]
                switch number % 4 {
                case 0: answer = try browser.act(as: Self.bea)
                case 1: answer = try browser.act(as: Self.cy)
                case 2: answer = try browser.send("DELETE", "/session/acting")
                default:
                    // For bea alone, whoever the session acts as.
                    let body = Self.save("n\(number)").dropFirst()
                    answer = try browser.run(
                        "record/save",
                        "{\(Self.place),\"user\":\"\(Self.bea)\",\(body)")
                }
                if let error = answer["error"] as? String {
                    _ = errors.withLock { $0.insert(error) }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 }.isEmpty)
        #expect(errors.withLock { $0 }.isSubset(of: ["ACTING", "NOT_ACTING"]))
        _ = try browser.act(as: Self.cy)
        #expect(names(try browser.run("record/list", #"{"database":"private"}"#)).isEmpty)
        _ = try browser.act(as: Self.bea)
        let saved = names(try browser.run("record/list", #"{"database":"private"}"#))
        #expect(saved.allSatisfy { $0.hasPrefix("n") })
    }
}
