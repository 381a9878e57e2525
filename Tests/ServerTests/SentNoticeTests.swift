import Awaiting
import ChildProcesses
import Cryptography
import Foundation
import PythonProgram
import Testing

@testable import Server

@Suite("Changes, on their way to webhooks, browsers and Apple's devices")
struct SentNoticeTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("A webhook hears of a change once it is saved: signed, and nothing of its fields")
    func webhook() throws {
        let receiver = try PostReceiver(answering: "204 No Content")
        let home = try DeliveryHome(folder.path("data"), environment: [:])
        let made = try home.server.command(
            "webhook", "add", "iCloud.a", "development", "http://127.0.0.1:\(receiver.port)/in",
            "--json")
        let shown = try #require(made.object["signingKey"] as? String)
        let key = try #require(Base64.decode(String(shown.dropFirst(6))))
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        try home.save("one", by: home.bob, trace: trace)
        // What else a first save makes, such as the users' own records, is told as well.
        var (head, text) = ("", "")
        for _ in 0..<10 where !text.contains("\"recordName\":\"one\"") {
            let request = try receiver.next()
            (head, text) = (request.head, String(decoding: request.body, as: UTF8.self))
        }
        #expect(text.contains("\"recordName\":\"one\"") && text.contains("\"change\":\"create\""))
        // The page on webhooks shows such a body.
        let page = try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appending(path: "../../docs/protocol/webhooks.md"), encoding: .utf8)
        let example = page.split(separator: "```").first { $0.contains("webhook-id:") } ?? ""
        #expect(keys(of: text) == keys(of: String(example)))
        #expect(text.contains("\"database\":\"public\"") && !text.contains("porcelain"))
        #expect(head.hasPrefix("POST /in HTTP/1.1\r\n"))
        func field(_ name: String) -> String? {
            head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("\(name): ") }
                .map { String($0.dropFirst(name.count + 2)) }
        }
        #expect(field("traceparent") == trace)
        let signed = "\(field("webhook-id") ?? "").\(field("webhook-timestamp") ?? "").\(text)"
        #expect(
            field("webhook-signature")
                == "v1,\(Base64.encode(HMACSHA256(key: key).code(for: Array(signed.utf8))))")
    }

    @Test("A browser's pushes go nowhere but to the internet, also where webhooks may go")
    func webPush() throws {
        let receiver = try PostReceiver(answering: "204 No Content")
        let home = try DeliveryHome(folder.path("data"), environment: [:])
        try home.addWebhook(at: receiver.port)
        let point = Base64.encode(P256PrivateKey().publicKey.point, .urlSafe)
        let secret = Base64.encode([UInt8](repeating: 3, count: 16), .urlSafe)
        try home.tell(
            "\"webPush\":{\"endpoint\":\"https://localhost:\(receiver.port)/p\","
                + "\"p256dh\":\"\(point)\",\"auth\":\"\(secret)\"}")
        let deadline = Date(timeIntervalSinceNow: Double(Wait.seconds))
        let failed = #/lenticular_notices_failed_total [1-9]/#
        while try !home.server.metrics().contains(failed), Date() < deadline {}
        #expect(try home.server.metrics().contains(failed))
        try home.save("last", by: home.bob)
        var (heads, text) = ([String](), "")
        for _ in 0..<20 where !text.contains("\"recordName\":\"last\"") {
            let request = try receiver.next()
            heads.append(request.head)
            text = String(decoding: request.body, as: UTF8.self)
        }
        #expect(text.contains("\"recordName\":\"last\""))
        #expect(heads.allSatisfy { $0.hasPrefix("POST /in ") })
    }

    @Test("What is no subscription of a browser and no token of a device is refused by its key")
    func refused() throws {
        let home = try DeliveryHome(folder.path("data"), environment: [:])
        let point = Base64.encode(P256PrivateKey().publicKey.point, .urlSafe)
        let secret = Base64.encode([UInt8](repeating: 3, count: 16), .urlSafe)
        func subscription(_ endpoint: String) -> String {
            "\"webPush\":{\"endpoint\":\"\(endpoint)\",\"p256dh\":\"\(point)\",\"auth\":\"\(secret)\"}"
        }
        for (registration, key) in [
            (subscription("http://push.example/p"), "it is not https"),
            (subscription("https://127.0.0.1/p"), "its host is a number"),
            (subscription("https://2130706433/p"), "its host is a number"),
            (subscription("https://0x7f.1/p"), "its host is a number"),
            (subscription("https://127.0x1/p"), "its host is a number"),
            (subscription("https://[::1]:8443/p"), "its host is a number"),
            ("\"webPush\":{}", "webPush"), ("\"webPush\":[1]", "webPush"),
            ("\"apnsToken\":\"zz\"", "apnsToken"),
            (
                "\"apnsToken\":\"\(String(repeating: "0a", count: 32))\",\"apnsTopic\":\"a b\"",
                "apnsTopic"
            ),
        ] {
            let answer = try home.server.request(
                "/device/1/iCloud.a/development/tokens/register?\(home.ann)",
                ["-d", "{\"apnsEnvironment\":\"development\",\(registration)}"])
            #expect(answer.status == 400 && answer.body.contains(key), "\(answer.body)")
        }
    }

    #if ApplePush
        @Test("A device is pushed to by Apple's service, and forgotten when that says it has gone")
        func applePush() throws {
            guard let service = try HTTP2Server() else { return }
            let home = try DeliveryHome(
                folder.path("data"),
                environment: [
                    "LENTICULAR_OUTGOING_APPLE_PUSH_DEVELOPMENT_URL":
                        "https://localhost:\(service.port)",
                    "LENTICULAR_OUTGOING_ALLOWED_NETWORKS": "127.0.0.0/8,::1",
                    "LENTICULAR_OUTGOING_AUTHORITIES_FILE": service.certificate,
                ])
            let file = folder.path("key.p8")
            try P256PrivateKey().pem.write(toFile: file, atomically: true, encoding: .utf8)
            let added = try home.server.command(
                "push", "key", "add", "iCloud.a", "--topic", "org.example.cups", "--key", file,
                "--key-id", "ABC1234567", "--team-id", "TEAM123456")
            #expect(added.status == 0, "\(added.error)")
            // The stand-in reads from the token what to say: here that the device has gone.
            let token =
                String(repeating: "0", count: 30) + "410" + String(repeating: "0", count: 31)
            try home.tell("\"apnsToken\":\"\(token)\"")
            let text = try service.nextRequest()
            let request = try #require(
                JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            let fields = try #require(request["fields"] as? [String: String])
            #expect(fields[":path"] == "/3/device/\(token)")
            #expect(fields["apns-topic"] == "org.example.cups")
            #expect(fields["apns-push-type"] == "alert" && fields["apns-priority"] == "10")
            #expect(fields["authorization"]?.hasPrefix("bearer ey") == true)
            let body = try #require(request["body"] as? String)
            #expect(body.contains("New cup") && body.contains("\"rid\":\"second\""))
            // The next cup is told to nobody: were the device still known, it would be the next request.
            try home.save("third", by: home.bob)
            let other = String(repeating: "1", count: 64)
            try home.register("\"apnsToken\":\"\(other)\"", by: home.ann)
            try home.save("fourth", by: home.bob)
            #expect(try service.nextRequest().contains("/3/device/\(other)"))
        }
    #endif
}

extension DeliveryHome {
    /// Ann hears of new cups at a device, and Bob makes one.
    fileprivate func tell(_ registration: String) throws {
        try save("first", by: bob)
        try register(registration, by: ann)
        try subscribe(
            "s1",
            #""subscriptionType":"query","firesOn":["create"],"query":{"recordType":"Cup"},"#
                + #""notificationInfo":{"alertBody":"New cup"}"#, in: "public", by: ann)
        try save("second", by: bob)
    }
}

/// The names of all members of a JSON text, in their order.
private func keys(of text: String) -> [Substring] {
    text.matches(of: #/"([A-Za-z]+)":/#).map(\.output.1)
}
