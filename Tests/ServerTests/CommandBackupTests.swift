import ChildProcesses
import Foundation
import Testing

@testable import Server

@Suite("Backup, restore and check")
struct CommandBackupTests {
    private let folder: TemporaryFolder
    private let server: ServerProcess
    private let query: String
    private let base = "/database/1/iCloud.a/development/private"

    init() throws {
        folder = try TemporaryFolder()
        server = try ServerProcess(data: folder.path("data"))
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
        try #require(try post(server, "zones/modify", zone).status == 200)
    }

    private func post(
        _ server: ServerProcess, _ operation: String, _ body: String
    ) throws -> (status: Int, body: String, text: String) {
        try server.request("\(base)/\(operation)?\(query)", ["-d", body])
    }

    private func save(_ server: ServerProcess, _ name: String) throws -> Int {
        try post(
            server, "records/modify",
            #"{"zoneID":{"zoneName":"z"},"operations":[{"operationType":"create","record":{"#
                + #""recordType":"Note","recordName":"\#(name)","fields":{"t":{"value":"x"}}}}]}"#
        ).status
    }

    /// The names in the feed after a token, and the feed's next token.
    private func changes(
        _ server: ServerProcess, after token: String? = nil
    ) throws -> (names: [String], token: String, text: String) {
        let after = token.map { #","syncToken":"\#($0)""# } ?? ""
        let answer = try post(
            server, "changes/zone", #"{"zones":[{"zoneID":{"zoneName":"z"}\#(after)}]}"#)
        let object = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
        let zones = (object as? [String: Any])?["zones"] as? [[String: Any]]
        let records = zones?.first?["records"] as? [[String: Any]] ?? []
        return (
            records.compactMap { $0["recordName"] as? String },
            zones?.first?["syncToken"] as? String ?? "", answer.body
        )
    }

    @Test("A backup of a running server restores to what it was, and later tokens have expired")
    func backupAndRestore() throws {
        #expect(try save(server, "before") == 200)
        let kept = try changes(server)
        #expect(kept.names == ["before"])
        let copy = folder.path("copy")
        let made = try server.command("backup", copy, "--json")
        #expect(made.output == "{\"ok\":true,\"problems\":[],\"securityKey\":true}\n")
        #expect(try save(server, "after") == 200)
        let lost = try changes(server)
        #expect(lost.names == ["before", "after"])

        let again = try server.command("backup", copy)
        #expect(again.status == 1)
        #expect(again.error.contains("nothing is overwritten"))
        server.signal(SIGTERM)
        #expect(server.wait() == 0)

        let target = folder.path("restored")
        #expect(try Program.run(["restore", copy, "--data", target]).status == 1)
        let restored = try Program.run(["restore", copy, "--yes", "--json", "--data", target])
        #expect(restored.output == "{\"ok\":true,\"problems\":[],\"erasedAgain\":0}\n")
        #expect(try Program.run(["restore", copy, "--yes", "--data", target]).status == 1)
        #expect(try Program.run(["check", "--data", target]).output == "no problems\n")

        let second = try ServerProcess(data: target)
        #expect(try changes(second).names == ["before"])
        // A token of before the copy goes on; one of after it is refused, not misread.
        #expect(try save(second, "new") == 200)
        #expect(try changes(second, after: kept.token).names == ["new"])
        let refused = try changes(second, after: lost.token)
        #expect(refused.text.contains("change token expired"))
        #expect(try second.command("check").output == "no problems\n")
    }

    @Test("A folder that is no backup, or not empty, is not restored from or into")
    func refusals() throws {
        let nothing = folder.path("nothing")
        try FileManager.default.createDirectory(atPath: nothing, withIntermediateDirectories: true)
        let target = folder.path("restored")
        let noBackup = try Program.run(["restore", nothing, "--yes", "--data", target])
        #expect(noBackup.status == 1)
        #expect(noBackup.error.contains("no catalog.sqlite"))
        // What the engine has written last may lie in its log, which is no part of a backup.
        let data = try Program.run(["restore", server.data, "--yes", "--data", target])
        #expect(data.status == 1 && data.error.contains("is a data folder and no backup"))
        let running = try Program.run(["restore", nothing, "--yes", "--data", server.data])
        #expect(running.status == 1)
        #expect(running.error.contains("is in use"))
    }

    /// Runs SQL on a file behind the server's back.
    private func execute(_ sql: String, on path: String) throws {
        let python = ChildProcess()
        python.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        python.arguments = [
            "python3", "-c",
            "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); "
                + "c.executescript(sys.argv[2]); c.commit(); c.close()", path, sql,
        ]
        try python.run()
        python.waitUntilExit()
        try #require(python.terminationStatus == 0)
    }

    @Test("A database of a newer version stops the start, and stays as it is")
    func newerVersion() throws {
        #expect(try save(server, "a") == 200)
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
        let store = "\(server.data)/containers/icloud.a/development/store.sqlite"
        try execute("INSERT INTO migrations VALUES (99, '0099-later', 0)", on: store)
        let refused = try Program.run(["serve", "--listen", "127.0.0.1:0", "--data", server.data])
        #expect(refused.status == 1)
        #expect(refused.error.hasPrefix("lenticular: \(store): the database is of a newer version"))
        try execute("DELETE FROM migrations WHERE number = 99", on: store)
        let catalog = "\(server.data)/catalog.sqlite"
        try execute("INSERT INTO migrations VALUES (99, '0099-later', 0)", on: catalog)
        let again = try Program.run(["serve", "--listen", "127.0.0.1:0", "--data", server.data])
        #expect(again.status == 1)
        #expect(again.error.contains("newer version"))
        #expect(again.error.split(separator: "\n").count == 1)
    }

    @Test("A folder of an older form is refused with the last commit that reads it, and stays")
    func olderForm() throws {
        #expect(try save(server, "a") == 200)
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
        let store = "\(server.data)/containers/icloud.a/development/store.sqlite"
        let catalog = "\(server.data)/catalog.sqlite"
        let words =
            "the database is of an older form, which this version does not read; the last commit "
            + "that reads it is 072acb1f8680a6e92105afb1a51c1127d285cde8\n"
        let copy = folder.path("copy")
        #expect(try Program.run(["backup", copy, "--data", server.data]).status == 0)
        // The checksum of the first migration that such a file has recorded.
        for (path, inCopy, checksum) in [
            (
                store, "\(copy)/containers/icloud.a/development/store.sqlite",
                -2_165_929_916_641_096_619
            ),
            (catalog, "\(copy)/catalog.sqlite", 8_834_605_471_858_249_203),
        ] {
            for file in [path, inCopy] {
                try execute("UPDATE migrations SET checksum = \(checksum)", on: file)
            }
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            let refused = try Program.run(
                ["serve", "--listen", "127.0.0.1:0", "--data", server.data])
            #expect(refused.status == 1)
            #expect(refused.error == "lenticular: \(path): \(words)")
            let check = try Program.run(["check", "--data", server.data])
            #expect(check.status == 1)
            #expect((check.output + check.error).contains(words))
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
            let restored = folder.path("restored")
            let restore = try Program.run(["restore", copy, "--yes", "--data", restored])
            #expect(restore.status == 1)
            #expect(restore.error.contains(words), "\(restore)")
            #expect(!FileManager.default.fileExists(atPath: "\(restored)/catalog.sqlite"))
        }
    }

    @Test("Check names what is wrong with a damaged store, and ends with 1")
    func damage() throws {
        #expect(try save(server, "a") == 200)
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
        let store = "\(server.data)/containers/icloud.a/development/store.sqlite"
        try execute(
            "UPDATE zones SET record_count = 7 WHERE name = 'z'; DELETE FROM heads", on: store)
        let outcome = try Program.run(["check", "--json", "--data", server.data])
        #expect(outcome.status == 1)
        #expect(outcome.object["ok"] as? Bool == false)
        let problems = outcome.object["problems"] as? [String] ?? []
        #expect(problems.contains("iCloud.a development: zones that miscount their records: 1"))
        #expect(problems.contains("iCloud.a development: records that no name leads to: 1"))
    }

    @Test("Files that cannot be read are named, by check and by the start, and the others checked")
    func unreadable() throws {
        #expect(try save(server, "a") == 200)
        try #require(try server.command("container", "create", "iCloud.b").status == 0)
        try #require(
            try server.command("schema", "export", "iCloud.b", "development").status == 0)
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
        let second = "\(server.data)/containers/icloud.b/development/store.sqlite"
        try execute("UPDATE zones SET record_count = 7", on: second)
        try execute("INSERT INTO client_tokens VALUES (99, 'u', 'd', x'00', 1)", on: second)
        let store = "\(server.data)/containers/icloud.a/development/store.sqlite"
        let whole = try Data(contentsOf: URL(fileURLWithPath: store))
        try overwrite(store, from: 0, with: "no database at all")
        let check = try Program.run(["check", "--json", "--data", server.data])
        #expect(check.status == 1 && check.error.isEmpty)
        let problems = check.object["problems"] as? [String] ?? []
        #expect(
            problems.first?.hasPrefix("iCloud.a development: store.sqlite is damaged") == true,
            "\(problems)")
        #expect(problems.dropFirst().allSatisfy { $0.hasPrefix("iCloud.b development: ") })
        #expect(problems.count > 1)
        let start = try Program.run(["serve", "--listen", "127.0.0.1:0", "--data", server.data])
        #expect(start.status == 1)
        #expect(start.error.hasPrefix("lenticular: \(store) is damaged"), "\(start.error)")
        #expect(start.error.contains("lenticular check"))
        let copy = try Program.run(["backup", folder.path("copy"), "--data", server.data])
        #expect(copy.status == 1 && copy.error.contains("\(store) cannot be copied"), "\(copy)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("copy")))
        try whole.write(to: URL(fileURLWithPath: store))

        let catalog = "\(server.data)/catalog.sqlite"
        try overwrite(catalog, from: 0, with: "no database at all")
        for command in [["check"], ["serve", "--listen", "127.0.0.1:0"]] {
            let refused = try Program.run(command + ["--data", server.data])
            #expect(refused.status == 1)
            #expect(
                refused.error.hasPrefix("lenticular: \(catalog) is damaged"), "\(refused.error)")
            #expect(refused.error.contains("restore a backup"))
        }
    }

    private func overwrite(_ path: String, from offset: UInt64, with text: String) throws {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seek(toOffset: offset)
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }
}
