import ChildProcesses
import Foundation
import Testing

@testable import Server

/// Backups that a server makes by itself, and what can be made of them.
@Suite("Backups by themselves")
struct BackupRoundsTests {
    private let folder: TemporaryFolder
    private let key: String

    init() throws {
        folder = try TemporaryFolder()
        key = folder.path("backup.key")
        try Data((String(repeating: "ab", count: 32) + "\n").utf8).write(
            to: URL(fileURLWithPath: key))
    }

    private var environment: [String: String] {
        ["LENTICULAR_BACKUPS_TO": folder.path("backups"), "LENTICULAR_BACKUPS_KEY_FILE": key]
    }

    /// Makes a container with a person's record and an asset; the address to ask for their changes.
    private func fill(_ server: ServerProcess) throws -> String {
        try #require(try server.command("container", "create", "iCloud.a").status == 0)
        try #require(try server.command("user", "create", "ann@a.example").status == 0)
        let api = try server.command("api-token", "create", "iCloud.a", "development", "--json")
        let web = try server.command(
            "web-token", "create", "iCloud.a", "development", "ann@a.example", "--json")
        let query =
            "ckAPIToken=\(try #require(api.object["apiToken"] as? String))"
            + "&ckWebAuthToken=\(try #require(web.object["webAuthToken"] as? String))"
        let base = "/database/1/iCloud.a/development/private"
        let zone =
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"z"}}}]}"#
        try #require(
            try server.request("\(base)/zones/modify?\(query)", ["-d", zone]).status == 200)
        let record =
            #"{"zoneID":{"zoneName":"z"},"operations":[{"operationType":"create","record":{"#
            + #""recordType":"Note","recordName":"whisper","fields":{"t":{"value":"murmur"}}}}]}"#
        try #require(
            try server.request("\(base)/records/modify?\(query)", ["-d", record]).status == 200)
        return "\(base)/changes/zone?\(query)"
    }

    @Test(
        "One is made at the start, restores after the data are gone, shows nothing without its key, and is checked by itself"
    )
    func startToRestore() throws {
        let data = folder.path("data")
        let first = try ServerProcess(data: data)
        let changes = try fill(first)
        first.signal(SIGTERM)
        #expect(first.wait() == 0)
        #expect(first.log().contains { $0.contains("no backups are made: backups.to is not set") })

        let second = try ServerProcess(data: data, environment: environment)
        let good = second.waitForLine { $0.contains("the last backup was restored and is good") }
        try #require(good != nil)
        #expect(try second.metrics().contains("lenticular_backup_bad_checks_total 0"))
        second.signal(SIGTERM)
        #expect(second.wait() == 0)
        #expect(second.log().contains { $0.contains("backups.to is on the disk of the data") })
        try FileManager.default.removeItem(atPath: data)

        let backups = folder.path("backups")
        for file in try #require(FileManager.default.enumerator(atPath: backups)) {
            guard let bytes = FileManager.default.contents(atPath: "\(backups)/\(file)") else {
                continue
            }
            for word in ["whisper", "murmur", "iCloud.a"] {
                #expect(bytes.range(of: Data(word.utf8)) == nil, "\(file)")
            }
        }
        let withoutKey = try Program.run(["restore", backups, "--yes", "--data", data])
        #expect(withoutKey.status == 1)
        #expect(withoutKey.error.contains("backups.keyFile must name their key"))
        let tooEarly = try Program.run(
            ["restore", backups, "--at", "2020-01-01", "--yes", "--data", data],
            environment: environment)
        #expect(tooEarly.error.contains("there is no backup from then or before"))
        #expect(
            try Program.run(
                ["backup", "--verify", backups, "--data", data], environment: environment
            )
            .output == "the backup is good\n")
        let restored = try Program.run(
            ["restore", backups, "--yes", "--json", "--data", data], environment: environment)
        #expect(restored.output == "{\"ok\":true,\"problems\":[],\"erasedAgain\":0}\n")

        // The key of sealed secrets is in no backup: it has to be kept apart.
        let refused = try Program.run(["serve", "--listen", "127.0.0.1:0", "--data", data])
        #expect(refused.error.contains("which seals this folder's secrets: put it back"))
        try FileManager.default.removeItem(atPath: "\(data)/sealed-by")
        let third = try ServerProcess(data: data)
        let found = try third.request(changes, ["-d", #"{"zones":[{"zoneID":{"zoneName":"z"}}]}"#])
        #expect(found.body.contains("whisper") && found.body.contains("murmur"))
        #expect(try third.command("check").output == "no problems\n")
    }

    @Test("One is made when it is due, and no sooner")
    func due() throws {
        let hourly = try ServerProcess(data: folder.path("data"), environment: environment)
        try #require(hourly.waitForLine { $0.contains("backup made") } != nil)
        try #require(hourly.waitForLine { $0.contains("restored and is good") } != nil)
        hourly.signal(SIGTERM)
        #expect(hourly.wait() == 0)
        let moments = folder.path("backups/backups")
        let first = try FileManager.default.contentsOfDirectory(atPath: moments)
        #expect(first.count == 1)
        let again = try ServerProcess(data: folder.path("data"), environment: environment)
        again.signal(SIGTERM)
        #expect(again.wait() == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: moments) == first)
        let everyMinute = try ServerProcess(
            data: folder.path("data"),
            environment: environment.merging(["LENTICULAR_BACKUPS_EVERY_MINUTES": "1"]) { $1 })
        try #require(everyMinute.waitForLine { $0.contains("backup made") } != nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: moments).count == 2)
    }

    @Test("A restored server does not add to the backups of the one that it came from")
    func twoServers() throws {
        let first = try ServerProcess(data: folder.path("data"), environment: environment)
        try #require(first.waitForLine { $0.contains("backup made") } != nil)
        let second = try ServerProcess(data: folder.path("other"), environment: environment)
        try #require(
            second.waitForLine { $0.contains("there are backups of another server") } != nil)
    }
}
