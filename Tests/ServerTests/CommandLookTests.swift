import Awaiting
import EngineUnderTest
import Foundation
import Testing

@testable import Server

@Suite("What operators see of a zone's changes, of a user's apps and of a window of time")
struct CommandLookTests {
    private let folder: TemporaryFolder
    private let place = ["iCloud.a", "development"]

    init() throws {
        folder = try TemporaryFolder()
        try ServerProcess.makeData(folder.path("data"))
        try #require(try run("container", "create", "iCloud.a").status == 0)
        try #require(try run("user", "create", "ann@a.example").status == 0)
    }

    private func run(_ words: String...) throws -> Program.Outcome {
        try Program.run(words + ["--data", folder.path("data"), "--json"])
    }

    private func save(_ name: String) throws {
        let file = folder.path("record.json")
        try #"{"recordName":"\#(name)","recordType":"Bed","fields":{"n":{"value":1}}}"#
            .write(toFile: file, atomically: true, encoding: .utf8)
        let saved = try run("record", "save", place[0], place[1], "public", file)
        #expect(saved.status == 0, "\(saved)")
    }

    private func changes(_ more: [String] = []) throws -> (lines: [String], end: [String: Any]) {
        let words = ["record", "changes"] + place + ["public"] + more
        let outcome = try Program.run(words + ["--data", folder.path("data"), "--json"])
        #expect(outcome.status == 0, "\(outcome)")
        let records = outcome.object["records"] as? [[String: Any]] ?? []
        let lines = records.map { record in
            let name = record["recordName"] as? String ?? ""
            return record["deleted"] as? Bool == true ? "-\(name)" : name
        }
        return (lines, outcome.object)
    }

    @Test("The change feed comes page by page, and its token goes on with what came later")
    func feed() throws {
        for name in ["one", "two", "three"] { try save(name) }
        let first = try changes(["--limit", "2"])
        #expect(first.lines == ["one", "two"])
        #expect(first.end["moreComing"] as? Bool == true)
        let token = try #require(first.end["token"] as? String)
        let second = try changes(["--since", token])
        #expect(second.lines == ["three"] && second.end["moreComing"] as? Bool == false)
        let end = try #require(second.end["token"] as? String)
        #expect(try changes(["--since", end]).lines.isEmpty)
        #expect(
            try run("record", "delete", place[0], place[1], "public", "two", "--yes").status == 0)
        try save("one")
        #expect(try changes(["--since", end]).lines == ["-two", "one"])
        // Who begins now hears nothing of what is gone.
        #expect(try changes().lines == ["three", "one"])
        let named = try run("record", "list", place[0], place[1], "public", "--search", "th")
        let records = named.object["records"] as? [[String: Any]] ?? []
        #expect(records.map { $0["recordName"] as? String } == ["three"])
        let words = ["record", "changes"] + place + ["public", "--since", "nonsense"]
        let refused = try Program.run(words + ["--data", folder.path("data")])
        #expect(refused.status == 1 && refused.error.contains("BAD_REQUEST"), "\(refused)")
    }

    @Test("A list says how many records it leaves out, as they are not what was written")
    func damaged() throws {
        for name in ["one", "two", "three"] { try save(name) }
        let words = ["record", "list"] + place + ["public", "--data", folder.path("data")]
        let whole = try Program.run(words + ["--json"])
        #expect(whole.status == 0 && whole.object["damaged"] == nil, "\(whole)")
        let store = folder.path("data/containers/icloud.a/development/store.sqlite")
        try StoreDecay(store: store).damage("one")
        // It lies behind the end of this page, which leaves out nothing.
        let first = try Program.run(words + ["--json", "--limit", "1"])
        #expect(first.status == 0 && first.object["damaged"] == nil, "\(first)")
        let listed = try Program.run(words + ["--json"])
        let records = listed.object["records"] as? [[String: Any]] ?? []
        #expect(records.map { $0["recordName"] as? String } == ["three", "two"])
        #expect(listed.status == 1 && listed.object["damaged"] as? Int == 1, "\(listed)")
        #expect(try Program.run(words).output.contains("left out, as not what was written: 1;"))
    }

    @Test("Every look as a user is noted of their account, of the public database too")
    func looksAsSomebody() throws {
        let id = try #require(
            try run("user", "list").object["users"].flatMap { $0 as? [[String: Any]] }?
                .first?["accountID"] as? String)
        func looks() throws -> [String] {
            let entries = try run("audit", "list").object["entries"] as? [[String: Any]] ?? []
            return entries.filter { $0["account"] as? String == id }
                .compactMap { $0["what"] as? String }.filter { $0 != "user create" }
        }
        #expect(try looks() == [])
        for database in ["public", "private"] {
            for words in [["zone", "list"], ["record", "list"], ["record", "changes"]] {
                let command = words + place + [database, "--user", "ann@a.example", "--zone", "Z"]
                let known = words[0] == "zone" ? Array(command.dropLast(2)) : command
                _ = try Program.run(known + ["--data", folder.path("data")])
            }
        }
        let each = ["zone list", "record list", "record changes"]
        #expect(try looks().sorted() == (each + each).sorted())
        // What is looked at as an operator is about nobody.
        #expect(try run("record", "list", place[0], place[1], "public").status == 0)
        #expect(try looks().count == 6)
    }

    @Test("A user's apps are told with what each stores for them, their roles and those there are")
    func apps() throws {
        #expect(try run("user", "apps", "ann@a.example").object["apps"] as? [String] == [])
        let schema = folder.path("schema")
        try """
        DEFINE SCHEMA CREATE ROLE Gardener; CREATE ROLE Mason;
        RECORD TYPE Bed ( "___recordID" REFERENCE QUERYABLE, GRANT READ TO Gardener );
        """.write(toFile: schema, atomically: true, encoding: .utf8)
        #expect(try run("schema", "import", "iCloud.a", schema).status == 0)
        #expect(
            try run("user", "role", "add", "ann@a.example", place[0], place[1], "Gardener").status
                == 0)
        let apps = try run("user", "apps", "ann@a.example").object["apps"] as? [[String: Any]]
        let app = try #require(apps?.first { $0["environment"] as? String == "development" })
        #expect(app["container"] as? String == "iCloud.a" && app["usedBytes"] as? Int == 0)
        #expect(app["roles"] as? [String] == ["Gardener"])
        #expect(app["knownRoles"] as? [String] == ["Gardener", "Mason"])
        let name = try #require(app["userRecordName"] as? String)
        #expect(
            try run("user", "named", "iCloud.a", name).object["email"] as? String
                == "ann@a.example")
        #expect(try run("user", "named", "iCloud.a", "_nobody").status == 1)
        #expect(try run("user", "apps", "zoe@a.example").status == 1)
    }

    @Test("Logs and charts end where they are told to")
    func windows() throws {
        let server = try ServerProcess(data: folder.path("data"))
        _ = try server.request("/database/1/iCloud.a/development/public/records/query", [])
        func count(_ more: String...) throws -> Int? {
            let words = ["logs", "--json"] + more
            let outcome = try Program.run(words + ["--data", folder.path("data")])
            return (outcome.object["requests"] as? [Any])?.count
        }
        // A line is kept a moment after the answer.
        try Wait.until { try count() == 1 }
        #expect(try count("--until", "2999-01-01") == 1)
        #expect(try count("--until", "2001-01-01") == 0)
        let chart = try run(
            "telemetry", "show", place[0], place[1], "--until", "2001-01-01T10:00:00Z")
        #expect(chart.object["to"] as? Int == 978_343_200_000)
        let wrong = try run("telemetry", "show", place[0], place[1], "--until", "then")
        #expect(wrong.status == 2 && wrong.error.contains("--until takes"), "\(wrong)")
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
    }

    @Test("The first operator is told where the console is, wherever there is one")
    func greeting() throws {
        for (listen, isTold) in [("127.0.0.1:0", true), ("", false)] {
            let data = folder.path("new\(isTold)")
            let server = try ServerProcess(
                data: data, environment: ["LENTICULAR_CONSOLE_LISTEN": listen])
            server.signal(SIGTERM)
            #expect(server.wait() == 0)
            let lines = server.log()
            #expect(lines.contains { $0.contains("/sign-in/first#") })
            let told = lines.filter {
                $0.hasPrefix("and then signs in at the console: http://127.0.0.1:")
                    && $0.hasSuffix("/console/")
            }
            #expect(told.count == (isTold ? 1 : 0), "\(lines)")
        }
    }
}
