import CloudModel
import Cryptography
import Foundation
import Testing

@testable import Server

@Suite("Credentials by command, while the server runs")
struct CommandCredentialTests {
    private let folder: TemporaryFolder
    private let server: ServerProcess
    private let base = "/database/1/iCloud.a/development"

    init() throws {
        folder = try TemporaryFolder()
        server = try ServerProcess(data: folder.path("data"))
        try #require(try server.command("container", "create", "iCloud.a").status == 0)
        try #require(try server.command("user", "create", "ann@a.example").status == 0)
    }

    private func apiToken(_ name: String, _ options: [String] = []) throws -> String {
        let made = try Program.run(
            ["api-token", "create", "iCloud.a", "development", "--name", name, "--json"] + options
                + ["--data", server.data])
        return try #require(made.object["apiToken"] as? String)
    }

    private func webToken(_ options: String...) throws -> String {
        let made = try Program.run(
            ["web-token", "create", "iCloud.a", "development", "ann@a.example", "--json"] + options
                + ["--data", server.data])
        return try #require(made.object["webAuthToken"] as? String)
    }

    private func caller(_ api: String, _ web: String, _ options: [String] = []) throws -> Int {
        try server.request(
            "\(base)/public/users/caller?ckAPIToken=\(api)&ckWebAuthToken=\(web)", options
        ).status
    }

    @Test("Tokens made by a command work at once, and a revoked one never again")
    func tokens() throws {
        let (api, web) = (try apiToken("first"), try webToken("--expires", "3600"))
        #expect(api.count == 64)
        #expect(web.count >= 100)
        #expect(try caller(api, web) == 200)
        let list = try server.command("api-token", "list", "--json")
        #expect(list.object["apiToken"] as? [String] == ["first"])
        let known = (list.object["apiTokens"] as? [[String: Any]])?.first
        #expect(known?["environment"] as? String == "development")
        #expect(known?["made"] as? Int ?? 0 > 0)
        #expect(!(try server.command("api-token", "list").output.contains(api)))
        let second = try apiToken("second")
        #expect(try server.command("api-token", "revoke", "first").status == 0)
        #expect(try caller(api, web) == 401)
        #expect(try caller(second, web) == 200)
        #expect(try server.command("api-token", "revoke", "first").status == 1)
        #expect(try server.command("user", "delete", "ann@a.example", "--yes").status == 0)
        #expect(try caller(second, web) == 421)
    }

    @Test("Lists say when tokens were last used, also once the server has stopped")
    func lastUses() throws {
        let (api, web) = (try apiToken("first"), try webToken())
        #expect(try server.command("api-token", "list").output.contains("never used"))
        #expect(try caller(api, web) == 200)
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
        let tokens = try server.command("api-token", "list", "--json").object["apiTokens"]
        let sessions = try server.command("web-token", "list", "iCloud.a", "development", "--json")
            .object["webTokens"]
        for listed in [tokens, sessions] {
            let known = (listed as? [[String: Any]])?.first
            let used = try #require(known?["lastUsed"] as? Int)
            #expect(abs(Double(used) / 1_000 - Date().timeIntervalSince1970) < 600)
        }
        #expect(try server.command("api-token", "list").output.contains("last used 20"))
    }

    @Test(
        "Web tokens are listed without being shown, say when they expire, and are revoked at once")
    func webTokens() throws {
        let api = try apiToken("first")
        let location = ["iCloud.a", "development"]
        #expect(try server.command("user", "create", "bob@a.example").status == 0)
        func token(_ email: String) throws -> String {
            let made = try Program.run(
                ["web-token", "create"] + location + [email, "--json", "--data", server.data])
            let seconds = Double(made.object["expires"] as? Int ?? 0) / 1_000
            #expect(abs(seconds - Date().timeIntervalSince1970 - 1_800) < 60)
            return try #require(made.object["webAuthToken"] as? String)
        }
        func listed(_ email: String...) throws -> [[String: Any]] {
            let list = try Program.run(
                ["web-token", "list"] + location + email + ["--json", "--data", server.data])
            return try #require(list.object["webTokens"] as? [[String: Any]])
        }
        func revoke(_ words: String...) throws -> Program.Outcome {
            try Program.run(
                ["web-token", "revoke"] + location + words + ["--json", "--data", server.data])
        }
        let webs = try ["ann@a.example", "ann@a.example", "bob@a.example"].map(token)
        let text = try server.command("web-token", "list", "iCloud.a", "development").output
        #expect(!webs.contains { text.contains($0) })
        #expect(text.split(separator: "\n").count == 3)
        #expect(text.contains("bob@a.example") && text.contains("expires 2"))
        #expect(try listed("bob@a.example").count == 1)
        let first = try #require(try listed("ann@a.example").first?["tokenID"] as? String)
        #expect(try revoke("ann@a.example").status == 2)
        #expect(try revoke("ann@a.example", first, "--all").status == 2)
        #expect(try revoke("bob@a.example", first).status == 1)
        #expect(try revoke("ann@a.example", first).object["webTokens"] != nil)
        #expect(try listed("ann@a.example").count == 1)
        #expect(try webs.map { try caller(api, $0) }.filter { $0 == 200 }.count == 2)
        #expect(try revoke("ann@a.example", "--all").status == 0)
        #expect(try webs.map { try caller(api, $0) } == [421, 421, 200])
        #expect(try revoke("ann@a.example", "--all").status == 0)
        #expect(
            try server.command("web-token", "create", "iCloud.a", "development", "ann@a.example")
                .output.contains(" until 2"))
    }

    @Test("An origin that a token does not list is refused")
    func origins() throws {
        let web = try webToken()
        let api = try apiToken("page", ["--origin", "https://a.example"])
        #expect(try caller(api, web, ["-H", "Origin: https://a.example"]) == 200)
        #expect(try caller(api, web, ["-H", "Origin: https://b.example"]) == 401)
    }

    @Test("A server key signs requests until it is revoked")
    func serverKey() throws {
        let key = P256PrivateKey()
        let file = folder.path("key.pem")
        try key.publicKeyPEM.write(toFile: file, atomically: true, encoding: .utf8)
        let added = try server.command(
            "server-key", "add", "iCloud.a", "development", "--public-key", file, "--json")
        let keyID = try #require(added.object["keyID"] as? String)
        let path = "\(base)/public/users/caller"
        let date = ISO8601DateFormatter().string(from: Date())
        let digest = Base64.encode(SHA256.digest([]))
        let signature = Base64.encode(key.sign(Array("\(date):\(digest):\(path)".utf8)))
        let headers = [
            "-H", "X-Apple-CloudKit-Request-KeyID: \(keyID)", "-H",
            "X-Apple-CloudKit-Request-ISO8601Date: \(date)", "-H",
            "X-Apple-CloudKit-Request-SignatureV1: \(signature)",
        ]
        #expect(try server.request(path, headers).status == 200)
        let keys = try server.command("server-key", "list", "--json")
        #expect(keys.object["keyID"] as? [String] == [keyID])
        #expect(
            (keys.object["serverKeys"] as? [[String: Any]])?.first?["scope"] as? String == "public")
        #expect(try server.command("server-key", "revoke", keyID).status == 0)
        #expect(try server.request(path, headers).status == 401)
        let secretFile = folder.path("private.pem")
        try key.pem.write(toFile: secretFile, atomically: true, encoding: .utf8)
        let wrong = try server.command(
            "server-key", "add", "iCloud.a", "development", "--public-key", secretFile)
        #expect(wrong.status == 1)
        #expect(!wrong.error.contains("BEGIN"))
    }

    @Test("A container goes with its data, and one made again under its name is empty")
    func deletedContainer() throws {
        let (api, web) = (try apiToken("first"), try webToken())
        let save = [
            "-d",
            #"{"operations":[{"operationType":"create","record":{"recordType":"Note","#
                + #""recordName":"n","fields":{"title":{"value":"x"}}}}]}"#,
        ]
        let query = "ckAPIToken=\(api)&ckWebAuthToken=\(web)"
        #expect(try server.request("\(base)/private/records/modify?\(query)", save).status == 200)
        let path = "\(server.data)/containers/icloud.a/development/store.sqlite"
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(try server.command("check").output == "no problems\n")
        let aside = "\(server.data)/containers/icloud.a~deleted"
        // As a crash in an earlier deletion leaves it.
        try FileManager.default.createDirectory(
            atPath: "\(aside)/development", withIntermediateDirectories: true)
        #expect(try server.command("container", "delete", "iCloud.A", "--yes").status == 0)
        #expect(!FileManager.default.fileExists(atPath: aside))
        #expect(!FileManager.default.fileExists(atPath: "\(server.data)/containers/icloud.a"))
        #expect(try server.request("\(base)/private/records/modify?\(query)", save).status == 401)
        #expect(try server.command("container", "create", "iCloud.a").status == 0)
        let again = "ckAPIToken=\(try apiToken("first"))&ckWebAuthToken=\(try webToken())"
        let lookup = ["-d", #"{"records":[{"recordName":"n"}]}"#]
        let found = try server.request("\(base)/private/records/lookup?\(again)", lookup)
        #expect(found.body.contains("NOT_FOUND"))
        #expect(try server.request("\(base)/private/records/modify?\(again)", save).status == 200)
    }

    @Test("No secret that a command or request carries comes into the log")
    func canaries() throws {
        let (api, web) = (try apiToken("first"), try webToken())
        let password = "canary-password-\(UUID().uuidString)"
        _ = try server.command(
            "user", "create", "bea@a.example", "--password-stdin", input: password)
        let content = "canary-content-\(UUID().uuidString)"
        let target = "\(base)/private/records/modify?ckAPIToken=\(api)&ckWebAuthToken=\(web)"
        for body in [
            #"{"operations":[{"operationType":"create","record":{"recordType":"Note","#
                + #""recordName":"\#(content)","fields":{"title":{"value":"\#(content)"}}}}]}"#,
            #"{"operations":[{"operationType":"\#(content)"}]}"#, "{\"\(content)\"", content,
        ] {
            _ = try server.request(target + "&canaryquery=\(content)", ["-d", body])
        }
        let signature = "canarysignature\(UUID().uuidString)"
        _ = try server.request(
            "\(base)/public/users/caller",
            [
                "-H", "X-Apple-CloudKit-Request-KeyID: k", "-H",
                "X-Apple-CloudKit-Request-ISO8601Date: d", "-H",
                "X-Apple-CloudKit-Request-SignatureV1: \(signature)",
            ])
        _ = try server.request("/\(content)/x?\(content)")
        _ = try server.request("\(base)/private/records/modify?ckAPIToken=x&ckWebAuthToken=\(web)")
        _ = try server.request("/healthz", ["-H", "Bad Header: \(content)"])
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
        let log = server.log()
        #expect(log.count { $0.contains("\"message\":\"request\"") } >= 6)
        for secret in [api, web, password, content, signature] {
            #expect(!log.contains { $0.contains(secret) })
        }
    }
}
