import Cryptography
import Foundation
import Testing

@testable import Server

@Suite("Webhooks and push keys by command")
struct CommandDeliveryTests {
    private let folder: TemporaryFolder
    private let server: ServerProcess
    private let location = ["iCloud.a", "development"]

    init() throws {
        folder = try TemporaryFolder()
        server = try ServerProcess(
            data: folder.path("data"),
            environment: ["LENTICULAR_OUTGOING_ALLOWED_NETWORKS": "127.0.0.1"])
        try #require(try server.command("container", "create", "iCloud.a").status == 0)
    }

    private func run(_ words: String...) throws -> Program.Outcome {
        try Program.run(words + ["--data", server.data])
    }

    private func webhook(_ verb: String, _ words: String...) throws -> Program.Outcome {
        try Program.run(["webhook", verb] + location + words + ["--data", server.data])
    }

    @Test("A webhook is added, listed without its key, tried and removed")
    func webhooks() throws {
        let receiver = try PostReceiver(answering: "204 No Content")
        let url = "http://127.0.0.1:\(receiver.port)/hook"
        let made = try webhook("add", url, "--name", "first", "--json")
        let key = try #require(made.object["signingKey"] as? String)
        #expect((made.object["warnings"] as? [String])?.isEmpty == true)
        #expect(made.object["webhook"] as? String == "first")
        #expect(key.hasPrefix("whsec_") && Base64.decode(String(key.dropFirst(6)))?.count == 32)
        let again = try webhook("add", url, "--name", "first")
        #expect(again.status == 1 && again.error.contains("exists"))
        let unnamed = try webhook("add", url, "--json")
        let second = try #require(unnamed.object["webhook"] as? String)
        #expect(second.hasPrefix("webhook-"))
        let list = try webhook("list", "--json")
        #expect(list.object["webhook"] as? [String] == ["first", second])
        let entry = try #require((list.object["webhooks"] as? [[String: Any]])?.first)
        #expect(entry["url"] as? String == url && entry["waiting"] as? Int == 0)
        #expect(!list.output.contains(key.dropFirst(6)))
        #expect(try webhook("test", "first").status == 0)
        #expect(try webhook("replay", "first", "--json").object["notices"] as? Int == 0)
        #expect(try webhook("remove", "first").status == 0)
        for verb in ["test", "replay", "remove"] {
            let refused = try webhook(verb, "first")
            #expect(refused.status == 1 && refused.error.contains("no such webhook"))
        }
    }

    @Test("Adding a webhook says so where nothing would be sent to it as things are")
    func unreachable() throws {
        for (url, why) in [
            ("https://10.0.0.7/in", "10.0.0.7, which is neither on the internet"),
            ("http://9.9.9.9/in", "it is not https"),
            ("https://nobody.invalid/in", "its name cannot be looked up"),
        ] {
            let made = try webhook("add", url, "--json")
            let warnings = try #require(made.object["warnings"] as? [String])
            #expect(made.status == 0 && warnings.count == 1, "\(made)")
            #expect(warnings.first?.contains(why) == true, "\(warnings)")
        }
        #expect(try webhook("add", "https://10.0.0.7/").output.contains("nothing will be sent"))
    }

    @Test("Trying a webhook says why it has not taken it, and a redirect leads nowhere")
    func tried() throws {
        let elsewhere = try PostReceiver(answering: "200 OK")
        let moved = "302 Found\r\nLocation: http://127.0.0.1:\(elsewhere.port)/"
        for (status, reason) in [
            ("500 Oh", "answered with 500"), (moved, "redirects are not followed"),
            ("nonsense", "malformed"),
        ] {
            let receiver = try PostReceiver(answering: status)
            let made = try webhook("add", "http://127.0.0.1:\(receiver.port)/", "--json")
            let name = try #require(made.object["webhook"] as? String)
            let tried = try webhook("test", name)
            #expect(tried.status == 1 && tried.error.contains(reason), "\(tried.error)")
        }
        // `localhost` may be ::1 as well, which is not allowed; 127.0.0.2 is not either.
        for host in ["127.0.0.2", "[::1]", "169.254.169.254", "10.0.0.1"] {
            let made = try webhook("add", "https://\(host)/", "--json")
            let name = try #require(made.object["webhook"] as? String)
            let tried = try webhook("test", name)
            #expect(tried.status == 1 && tried.error.contains("neither on the internet"))
        }
    }

    @Test("What is no URL or no name is refused, and so is one webhook too many")
    func refused() throws {
        for url in ["ftp://a.example/", "https://u@a.example/", "hook", "https://a.example/#x"] {
            #expect(try webhook("add", url).status == 1)
        }
        #expect(try webhook("add", "https://a.example/", "--name", "a b").status == 1)
        for index in 0..<20 {
            #expect(try webhook("add", "https://a.example/", "--name", "n\(index)").status == 0)
        }
        let refused = try webhook("add", "https://a.example/")
        #expect(refused.status == 1 && refused.error.contains("at most 20"))
    }

    @Test("Browsers subscribe with one key of the server's, and the data folder shows none")
    func webPushKey() throws {
        let first = try #require(
            try run("push", "key", "list", "--json").object["webPushKey"] as? String)
        #expect(Base64.decode(first, .urlSafe)?.count == 65)
        #expect(try run("push", "key", "list", "--json").object["webPushKey"] as? String == first)
        let added = try webhook("add", "https://a.example/", "--json")
        let shown = try #require(added.object["signingKey"] as? String)
        let signing = try #require(Base64.decode(String(shown.dropFirst(6))))
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
        let files = FileManager.default.enumerator(atPath: server.data)
        var count = 0
        while let name = files?.nextObject() as? String {
            guard let bytes = FileManager.default.contents(atPath: "\(server.data)/\(name)")
            else { continue }
            count += 1
            #expect(bytes.range(of: Data("PRIVATE KEY".utf8)) == nil, "\(name)")
            #expect(bytes.range(of: Data(signing)) == nil, "\(name)")
        }
        #expect(count > 3)
    }

    @Test("Push keys are added by files alone, in place of the topic's former one")
    func pushKeys() throws {
        let file = folder.path("key.p8")
        try P256PrivateKey().pem.write(toFile: file, atomically: true, encoding: .utf8)
        func add(
            _ topic: String, key: String = file, id: String = "ABC1234567"
        ) throws
            -> Program.Outcome
        {
            try run(
                "push", "key", "add", "iCloud.a", "--topic", topic, "--key", key, "--key-id", id,
                "--team-id", "TEAM123456")
        }
        let made = try add("org.example.app")
        #if ApplePush
            #expect(made.status == 0)
            #expect(try add("org.example.app", id: "DEF1234567").status == 0)
            #expect(try add("org.example.other").status == 0)
            let list = try run("push", "key", "list")
            #expect(list.output.contains("org.example.app  iCloud.a  key=DEF1234567"))
            let topics = try run("push", "key", "list", "--json").object["topic"] as? [String]
            #expect(topics == ["org.example.app", "org.example.other"])
            let wrong = folder.path("wrong.p8")
            try P256PrivateKey().publicKeyPEM.write(
                toFile: wrong, atomically: true, encoding: .utf8)
            #expect(try add("a", key: wrong).error.contains(".p8"))
            #expect(try add("a b").error.contains("bundle ID"))
            #expect(try add("a", id: "short").error.contains("key ID"))
            #expect(try run("push", "key", "remove", "iCloud.a", "org.example.app").status == 0)
            #expect(try run("push", "key", "remove", "iCloud.a", "org.example.app").status == 1)
        #else
            #expect(made.status == 1 && made.error.contains("ApplePush"))
        #endif
    }

    @Test("Subscriptions are listed with whose they are, of everybody or of one user")
    func subscriptions() throws {
        let home = try DeliveryHome(folder.path("home"))
        try home.subscribe(
            "cups",
            #""subscriptionType":"query","firesOn":["create","delete"],"firesOnce":true,"#
                + #""query":{"recordType":"Cup","filterBy":[{"fieldName":"secret","#
                + #""comparator":"EQUALS","fieldValue":{"value":"porcelain"}}]}"#,
            in: "public", by: home.ann)
        try home.subscribe(
            "all", #""subscriptionType":"database""#, in: "shared", by: home.bob)
        let location = [DeliveryHome.container, "development"]
        func list(_ words: String...) throws -> Program.Outcome {
            try Program.run(
                ["subscription", "list"] + location + words + ["--data", home.server.data])
        }
        let lines = try list().output.split(separator: "\n").map(String.init).sorted()
        #expect(
            lines == [
                "ann@a.example  public  query  cups  type=Cup  on=create,delete  once",
                "bob@a.example  shared  database  all",
            ])
        let one = try list("--user", "bob@a.example", "--json")
        #expect(one.object["subscription"] as? [String] == ["all"])
        let entry = try #require((one.object["subscriptions"] as? [[String: Any]])?.first)
        #expect(entry["email"] as? String == "bob@a.example")
        #expect(entry["database"] as? String == "shared")
        let unknown = try list("--user", "cy@a.example")
        #expect(unknown.status == 1 && unknown.error.contains("no such user"))
    }
}
