import Foundation
import SQLite
import Testing

@Suite("Commands that list much")
struct LongListCommandTests {
    private static let count = 100_000
    private let folder: TemporaryFolder
    private var data: String { folder.path("data") }

    init() throws { folder = try TemporaryFolder() }

    private func fill(_ count: Int) throws {
        let connection = try Connection(path: "\(data)/catalog.sqlite", mode: .readWrite)
        let numbers = """
            WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < \(count))
            """
        try connection.execute(
            """
            BEGIN;
            \(numbers) INSERT INTO accounts
            SELECT printf('a%05d', i), NULL, NULL, NULL, i, 0 FROM n;
            \(numbers) INSERT INTO addresses SELECT printf('a%05d', i), 'email',
            printf('p%05d@x.example', i), printf('P%05d@x.example', i), 1, 1 FROM n;
            COMMIT;
            """)
    }

    private func residentBytes(_ server: ServerProcess) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(server.identifier)/statm", encoding: .utf8)
        return try #require(Int(text.split(separator: " ")[1])) * Int(getpagesize())
    }

    @Test("A server lists 100,000 accounts page by page, and its memory does not grow with them")
    func memory() throws {
        guard FileManager.default.fileExists(atPath: "/proc/self/statm") else { return }
        try ServerProcess.makeData(data)
        try fill(Self.count)
        let server = try ServerProcess(data: data)
        var (seen, after, first) = (Set<String>(), String?.none, 0)
        repeat {
            let listed = try Program.run(
                ["user", "list", "--json", "--limit", "5000", "--data", data]
                    + (after.map { ["--after", $0] } ?? []))
            let found = try #require(listed.object["accountID"] as? [String])
            #expect(found.count == 5_000 && seen.isDisjoint(with: found))
            seen.formUnion(found)
            after = listed.object["after"] as? String
            if first == 0 { first = try residentBytes(server) }
        } while after != nil
        #expect(seen.count == Self.count)
        let grown = try residentBytes(server) - first
        // All of them take more than 100 MB in a list, and one page of them 5.
        #expect(grown < 32 << 20, "\(grown) bytes more")
    }

    @Test("What a page leaves out is told to people and to programs, and how to go on")
    func pages() throws {
        try ServerProcess.makeData(data)
        try fill(1_001)
        func run(_ arguments: String...) throws -> Program.Outcome {
            try Program.run(arguments + ["--data", data])
        }
        let page = try run("user", "list")
        let lines = page.output.split(separator: "\n")
        #expect(lines.count == 1_001)
        let more = try #require(lines.last)
        #expect(more.hasPrefix("more: --after "))
        let rest = try run("user", "list", "--after", String(more.split(separator: " ")[2]))
        #expect(rest.output == "P01000@x.example  a01000\n")
        #expect(try run("user", "list", "--limit", "1001", "--json").object["after"] == nil)
        let found = try run("user", "list", "--search", "p0009", "--json")
        #expect((found.object["email"] as? [String])?.first == "P00090@x.example")
        #expect((found.object["email"] as? [String])?.count == 10 && found.object["after"] == nil)
        #expect(try run("user", "list", "--search", "p0009%").output.isEmpty)
        for limit in ["0", "10001", "few", ""] {
            let refused = try run("user", "list", "--limit", limit)
            #expect(refused.status == 2 && refused.error.contains("--limit"))
        }
        let refused = try run("user", "list", "--after", "x")
        #expect(refused.status == 1)
        #expect(refused.error.contains("the cursor is none that this list has given"))
        for list in [
            ["container", "list"], ["api-token", "list"], ["server-key", "list"],
            ["audit", "list"],
        ] {
            let none = try Program.run(
                list + ["--search", "x", "--limit", "5", "--json", "--data", data])
            #expect(none.status == 0 && none.object["after"] == nil)
            let refused = try Program.run(list + ["--after", "audit.00", "--data", data])
            #expect(refused.status == 1 && refused.error.contains("cursor"))
        }
    }

    @Test("The audit log is listed from its end, page by page")
    func audit() throws {
        try ServerProcess.makeData(data)
        for number in 0..<5 {
            let made = try Program.run(["container", "create", "iCloud.n\(number)", "--data", data])
            #expect(made.status == 0)
        }
        let arguments = ["audit", "list", "--json", "--limit", "2", "--data", data]
        var (details, after): ([[String]], String?) = ([], nil)
        repeat {
            let page = try Program.run(arguments + (after.map { ["--after", $0] } ?? []))
            let entries = try #require(page.object["entries"] as? [[String: Any]])
            #expect((page.object["lastHash"] != nil) == (after == nil))
            details.append(entries.compactMap { $0["detail"] as? String })
            after = page.object["after"] as? String
        } while after != nil
        #expect(
            details == [
                ["iCloud.n3", "iCloud.n4"], ["iCloud.n1", "iCloud.n2"], ["iCloud.n0"],
            ])
    }
}
