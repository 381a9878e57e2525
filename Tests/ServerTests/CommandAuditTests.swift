import Configuration
import Foundation
import HTTPClient
import Network
import Testing

@testable import Server

@Suite("What is noted of commands, and what seals secrets")
struct CommandAuditTests {
    private let folder: TemporaryFolder
    private var data: String { folder.path("data") }

    init() throws { folder = try TemporaryFolder() }

    private func run(_ arguments: String...) throws -> Program.Outcome {
        try Program.run(arguments + ["--data", data])
    }

    private func entries() throws -> [[String: Any]] {
        let listed = try run("audit", "list", "--json")
        #expect(listed.status == 0)
        return listed.object["entries"] as? [[String: Any]] ?? []
    }

    @Test("Commands that change something are noted before they run, by whom and whose account")
    func noted() throws {
        try ServerProcess.makeData(data)
        #expect(try run("container", "create", "iCloud.a").status == 0)
        let made = try run("user", "create", "ann@a.example", "--json")
        let id = try #require(made.object["accountID"] as? String)
        #expect(try run("container", "list").status == 0)
        let token = ["web-token", "create", "iCloud.a", "development", "ann@a.example"]
        #expect(try Program.run(token + ["--data", data]).status == 0)
        // What fails was asked for all the same.
        #expect(try run("container", "create", "iCloud.a").status == 1)
        let entries = try entries()
        #expect(
            entries.map { $0["what"] as? String } == [
                "container create", "user create", "web-token create", "container create",
            ])
        #expect(entries.allSatisfy { $0["who"] as? String == "user \(getuid()) of this machine" })
        #expect(entries.map { $0["account"] as? String } == [nil, nil, id, nil])
        #expect(entries[2]["detail"] as? String == "iCloud.a development")
        let text = try String(contentsOfFile: "\(data)/audit.log", encoding: .utf8)
        #expect(!text.contains("ann@a.example"))
        #expect(try run("audit", "list", "--limit", "1").output.contains("container create"))
        #expect(try run("audit", "list", "--since", "2999-01-01").output == "no entries\n")
        #expect(try run("audit", "list", "--since", "yesterday").status == 2)
        #expect(try run("audit", "list", "--limit", "0").status == 2)
    }

    @Test("A running server notes what it is told to do, in the same log")
    func serving() throws {
        let server = try ServerProcess(data: data)
        #expect(try server.command("container", "create", "iCloud.a").status == 0)
        #expect(try entries().map { $0["what"] as? String } == ["container create"])
    }

    @Test("What cannot be noted is not done")
    func refused() throws {
        try ServerProcess.makeData(data)
        // A link in the log's place is not followed.
        try FileManager.default.removeItem(atPath: "\(data)/audit.log")
        try FileManager.default.createSymbolicLink(
            atPath: "\(data)/audit.log", withDestinationPath: folder.path("elsewhere"))
        #expect(try run("container", "create", "iCloud.a").status == 1)
        try FileManager.default.removeItem(atPath: "\(data)/audit.log")
        #expect(try run("container", "list", "--json").object["container"] as? [String] == [])
    }

    @Test("A log that was changed is told by audit list and by check")
    func changed() throws {
        try ServerProcess.makeData(data)
        for name in ["iCloud.a", "iCloud.b", "iCloud.c"] {
            #expect(try run("container", "create", name).status == 0)
        }
        let path = "\(data)/audit.log"
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        try "\(lines[0])\n\(lines[2])\n".write(toFile: path, atomically: true, encoding: .utf8)
        let fault = "of the audit log does not follow on the line before it"
        let listed = try run("audit", "list", "--json")
        #expect(listed.status == 1)
        let start = lines[0].utf8.count + 1
        #expect(listed.object["problems"] as? [String] == ["the line at byte \(start) \(fault)"])
        let checked = try run("check", "--json")
        #expect(checked.object["problems"] as? [String] == ["line 2 \(fault)"])
    }

    @Test("The key that seals secrets is made once, for its owner alone, and must not go missing")
    func keyFile() throws {
        try ServerProcess.makeData(data)
        let key = "\(data)/secrets.key"
        let mode = try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let text = try String(contentsOfFile: key, encoding: .utf8)
        #expect(text.count == 65)
        #expect(try run("container", "list").status == 0)
        #expect(try String(contentsOfFile: key, encoding: .utf8) == text)
        let fresh = String(repeating: "ab", count: 32)
        func replace(_ text: String, mode: Int = 0o600) throws {
            try text.write(toFile: key, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: key)
        }
        try replace("\(fresh)\n")
        #expect(try run("container", "list").error.contains("put it back"))
        try replace(text, mode: 0o604)
        #expect(try run("container", "list").error.contains("chmod 600"))
        try replace("no key\n")
        #expect(try run("container", "list").error.contains("openssl rand -hex 32"))
        // A new key before the old one takes over; then the old one may go.
        try replace("\(fresh)\n\(text)")
        #expect(try run("container", "list").status == 0)
        try replace("\(fresh)\n")
        #expect(try run("container", "list").status == 0)
        try FileManager.default.removeItem(atPath: key)
        #expect(try run("container", "list").error.contains("is not there"))
        try FileManager.default.removeItem(atPath: "\(data)/sealed-by")
        #expect(try run("container", "list").status == 0)
        // What the server seals for itself is made anew.
        try ServerProcess.makeData(data)
    }

    @Test("A backup takes the key along from the data folder, and not from elsewhere")
    func backups() throws {
        try ServerProcess.makeData(data)
        let key = try String(contentsOfFile: "\(data)/secrets.key", encoding: .utf8)
        let copy = folder.path("copy")
        #expect(try run("backup", copy).output.contains("the key of sealed secrets is in it"))
        let again = folder.path("again")
        #expect(try Program.run(["restore", copy, "--yes", "--data", again]).status == 0)
        #expect(try String(contentsOfFile: "\(again)/secrets.key", encoding: .utf8) == key)
        // A restored log goes on where it was.
        #expect(try Program.run(["container", "create", "iCloud.a", "--data", again]).status == 0)
        let listed = try Program.run(["audit", "list", "--json", "--data", again])
        #expect((listed.object["entries"] as? [Any])?.count == 2)
        #expect((listed.object["problems"] as? [Any])?.isEmpty == true)
        let elsewhere = folder.path("own.key")
        try FileManager.default.moveItem(atPath: "\(data)/secrets.key", toPath: elsewhere)
        let settings = ["LENTICULAR_SECURITY_KEY_FILE": elsewhere]
        let without = folder.path("without")
        let made = try Program.run(
            ["backup", without, "--json", "--data", data], environment: settings)
        #expect(made.object["securityKey"] as? Bool == false)
        #expect(!FileManager.default.fileExists(atPath: "\(without)/secrets.key"))
        let third = folder.path("third")
        #expect(try Program.run(["restore", without, "--yes", "--data", third]).status == 0)
        #expect(
            try Program.run(["container", "list", "--data", third]).error.contains("put it back"))
        #expect(
            try Program.run(["container", "list", "--data", third], environment: settings).status
                == 0)
    }

    @Test("Networks that are allowed may be sent to, also in the other form of their addresses")
    func allowedNetworks() throws {
        let loaded = try LoadedConfiguration(
            file: nil, environment: ["LENTICULAR_OUTGOING_ALLOWED_NETWORKS": "10.0.0.0/8"],
            flags: [])
        let policy = loaded.values.targetPolicy
        let origin = try #require(HTTPOrigin("http://hooks.example"))
        for address in ["10.1.2.3", "::ffff:10.1.2.3"] {
            try policy.require(
                origin, namedBy: .operators, at: ResolvedAddress.resolve(host: address, port: 80))
        }
        #expect(throws: TargetRefusal.notPublic(address: "192.168.0.1")) {
            try policy.require(
                origin, namedBy: .operators,
                at: ResolvedAddress.resolve(host: "192.168.0.1", port: 80))
        }
    }
}
