import ChildProcesses
import Cryptography
import Foundation
import Testing

@testable import Server

/// A server with two people, whose data is imported, backed up, spoilt and taken out of the backup again.
final class RestoreHome {
    static let ann = "ann@a.example"
    static let bea = "bea@a.example"
    static let asset = Array("the bytes of a picture".utf8)
    static let checksum = Base64.encode([1] + SHA256.digest(asset).prefix(20))
    static let location = ["iCloud.a", "development"]

    let folder: TemporaryFolder
    private(set) var server: ServerProcess

    init() throws {
        folder = try TemporaryFolder()
        server = try ServerProcess(data: folder.path("data"))
        try done(["container", "create", "iCloud.a"])
        for email in [Self.ann, Self.bea] { try done(["user", "create", email]) }
    }

    /// Runs a command on the server's data.
    func run(_ arguments: [String], input: String = "") throws -> Program.Outcome {
        try Program.run(arguments + ["--data", server.data], input: input)
    }

    /// Runs a command that must succeed; what it prints as JSON.
    @discardableResult
    func done(_ arguments: [String]) throws -> [String: Any] {
        let outcome = try run(arguments + ["--json"])
        try #require(outcome.status == 0, "\(arguments): \(outcome.error) \(outcome.output)")
        return outcome.object
    }

    /// Ends the server, and starts it again on the same data.
    func killAndStart(
        _ signal: Int32 = SIGKILL, _ environment: [String: String] = [:]
    ) throws {
        server.signal(signal)
        _ = server.wait()
        server = try ServerProcess(data: folder.path("data"), environment: environment)
    }

    /// Imports records for somebody, or into the public database.
    func importing(_ lines: String, of email: String? = nil, update: Bool = false) throws {
        let file = folder.path("\(UUID()).jsonl")
        try lines.write(toFile: file, atomically: true, encoding: .utf8)
        let assets = "\(file).assets"
        try FileManager.default.createDirectory(
            atPath: assets, withIntermediateDirectories: true)
        let name = Self.checksum.replacing("/", with: "_").replacing("+", with: "-")
        try Data(Self.asset).write(to: URL(filePath: "\(assets)/\(name)"))
        try done(
            ["import"] + Self.location + [file] + (email.map { ["--user", $0] } ?? [])
                + (update ? ["--update"] : []))
    }

    /// What somebody's private database holds, or the public one: type, fields and parent by zone and name.
    func contents(of email: String? = nil) throws -> [String: String] {
        let file = folder.path("\(UUID()).jsonl")
        try done(
            ["export"] + Self.location + [file] + (email.map { ["--user", $0] } ?? []))
        let text = try String(contentsOfFile: file, encoding: .utf8)
        var found: [String: String] = [:]
        for line in text.split(separator: "\n") {
            let read = try JSONSerialization.jsonObject(with: Data(line.utf8))
            guard let record = read as? [String: Any], record["kind"] == nil else { continue }
            let zone = (record["zoneID"] as? [String: Any])?["zoneName"] ?? ""
            let parts = ["recordType", "fields", "parent"].map { record[$0] ?? "" }
            let data = try JSONSerialization.data(withJSONObject: parts, options: .sortedKeys)
            let key = "\(zone)/\(record["recordName"] ?? "")"
            #expect(found[key] == nil, "twice: \(key)")
            found[key] = String(decoding: data, as: UTF8.self)
        }
        return found
    }

    /// Makes a copy of everything.
    func backup() throws -> String {
        let path = folder.path("backup-\(UUID())")
        try done(["backup", path])
        return path
    }

    /// Deletes records of a private zone.
    func delete(_ names: [String], zone: String, of email: String) throws {
        try done(
            ["record", "delete"] + Self.location + ["private"] + names
                + ["--zone", zone, "--user", email, "--yes"])
    }

    /// The feed of Ann's zone after a token, and its next token.
    func changes(
        _ zone: String, after token: String? = nil
    ) throws -> (names: [String], token: String) {
        let api = try done(["api-token", "create"] + Self.location)
        let web = try done(["web-token", "create"] + Self.location + [Self.ann])
        let query =
            "ckAPIToken=\(try #require(api["apiToken"] as? String))"
            + "&ckWebAuthToken=\(try #require(web["webAuthToken"] as? String))"
        let after = token.map { #","syncToken":"\#($0)""# } ?? ""
        let answer = try server.request(
            "/database/1/iCloud.a/development/private/changes/zone?\(query)",
            ["-d", #"{"zones":[{"zoneID":{"zoneName":"\#(zone)"}\#(after)}]}"#])
        let read = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
        let zones = (read as? [String: Any])?["zones"] as? [[String: Any]]
        let records = zones?.first?["records"] as? [[String: Any]] ?? []
        return (
            records.compactMap { $0["recordName"] as? String }.sorted(),
            try #require(zones?.first?["syncToken"] as? String, "\(answer.body)")
        )
    }
}
