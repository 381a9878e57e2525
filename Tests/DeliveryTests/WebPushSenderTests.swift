import Cryptography
import HTTPClient
import JSON
import PythonProgram
import Testing

@testable import Delivery

@Suite("Pushes to browsers, as they are sent")
struct WebPushSenderTests {
    private let postman = Postman(201)
    private let key = P256PrivateKey()

    private func sender() -> WebPushSender {
        WebPushSender(
            PushIdentification(key: key, contact: "mailto:admin@example.com"), random: .system,
            send: postman.send)
    }

    private func object(
        endpoint: String = "https://push.example.net/send/abc", point: [UInt8]? = nil,
        secret: [UInt8] = [UInt8](repeating: 3, count: 16)
    ) -> String {
        let point = point ?? P256PrivateKey().publicKey.point
        return "{\"endpoint\":\"\(endpoint)\",\"p256dh\":\"\(Base64.encode(point, .urlSafe))\","
            + "\"auth\":\"\(Base64.encode(secret, .urlSafe))\"}"
    }

    private func maker(_ object: String) -> NoticeMaker {
        NoticeMaker(kind: .webPush, address: Array(object.utf8))
    }

    @Test("A push goes to the endpoint, sealed, with its life, urgency and topic")
    func request() throws {
        let maker = maker(object())
        #expect(
            try maker.outcome(
                of: sender(), "{\"aps\":{\"alert\":{\"body\":\"x\"}}}", collapseID: "a topic")
                == .delivered)
        let request = try #require(postman.requests.first)
        #expect("\(request.url)" == "https://push.example.net/send/abc")
        #expect(postman.field("content-encoding") == "aes128gcm")
        #expect(postman.field("ttl") == "2419200" && postman.field("urgency") == "high")
        let topic = try #require(postman.field("topic"))
        #expect(topic.utf8.count == 32 && Base64.decode(topic, .urlSafe) != nil)
        #expect(postman.field("authorization")?.hasPrefix("vapid t=") == true)
        #expect(request.body.count == 86 + 30 + 17)
        _ = try maker.outcome(of: sender(), "{\"aps\":{\"content-available\":1}}")
        #expect(postman.field("urgency") == "normal" && postman.field("topic") == nil)
    }

    @Test("One authorization serves an origin for six hours")
    func authorization() throws {
        let sender = sender()
        var maker = maker(object())
        var seen: [String?] = []
        for seconds in [1_700_000_000, 1_700_021_599, 1_700_021_600, 1_700_000_000] as [Int64] {
            maker.seconds = seconds
            _ = try maker.outcome(of: sender)
            seen.append(postman.field("authorization"))
        }
        #expect(seen[0] == seen[1] && seen[1] != seen[2])
        // A clock that was set back has it made anew, too.
        #expect(seen[3] != seen[2])
        maker.address = Array(object(endpoint: "https://other.example/").utf8)
        _ = try maker.outcome(of: sender)
        #expect(postman.field("authorization") != seen[3])
    }

    @Test("404 and 410 end a subscription, 413 and what we did wrong a notice, all else waits")
    func outcomes() throws {
        let maker = maker(object())
        for status in [404, 410] {
            postman.answers(Postman.answer(status))
            #expect(
                try maker.outcome(of: sender()) == .gone(reason: "answered with \(status)"))
        }
        for status in [400, 401, 403, 413] {
            postman.answers(Postman.answer(status))
            #expect(
                try maker.outcome(of: sender()) == .refused(reason: "answered with \(status)"))
        }
        for status in [302, 408, 500, 502] {
            postman.answers(Postman.answer(status))
            #expect(
                try maker.outcome(of: sender()) == .later(reason: "answered with \(status)"))
        }
        postman.answers(Postman.answer(429, [("retry-after", "60")]))
        #expect(
            try maker.outcome(of: sender()) == .later(reason: "answered with 429", seconds: 60))
        postman.answers(.failure(.refused(.notPublic(address: "::1"))))
        guard case .later = try maker.outcome(of: sender()) else {
            Issue.record("a target that may not be reached ended a subscription")
            return
        }
    }

    @Test("Of a notice that is too long the browser hears which subscription has news")
    func long() throws {
        let long = String(repeating: "x", count: 4_000)
        let payload =
            "{\"aps\":{\"alert\":{\"body\":\"\(long)\"}},"
            + "\"ck\":{\"nid\":\"n1\",\"qry\":{\"sid\":\"s1\",\"rid\":\"r\"}}}"
        let short = "{\"aps\":{},\"ck\":{\"p\":1,\"nid\":\"n1\",\"qry\":{\"sid\":\"s1\"}}}"
        #expect(ShortNotice.bytes(of: Array(payload.utf8)) == Array(short.utf8))
        #expect(
            ShortNotice.bytes(of: Array(long.utf8)) == Array("{\"aps\":{},\"ck\":{\"p\":1}}".utf8))
        #expect(try maker(object()).outcome(of: sender(), payload) == .delivered)
        #expect(postman.requests.last?.body.count == 86 + short.utf8.count + 17)
    }

    @Test("A subscription that is none is gone")
    func refused() throws {
        let count = postman.requests.count
        let broken = [
            "", "{}", "[]", "null", object(endpoint: "not a url"), object(point: [4]),
            object(secret: [1]), object(endpoint: "https://user@a.example/"),
        ]
        for object in broken {
            #expect(
                try maker(object).outcome(of: sender())
                    == .gone(reason: "the browser's subscription cannot be read"))
        }
        #expect(postman.requests.count == count)
    }

    @Test("What a subscription keeps is read back the same")
    func kept() throws {
        let read = try #require(WebPushAddress(bytes: Array(object().utf8)))
        let again = try #require(WebPushAddress(bytes: read.bytes))
        #expect(again.bytes == read.bytes && again.key == read.key && again.key.count == 32)
    }

    @Test("Another's implementation opens what was sealed")
    func elsewhere() throws {
        guard
            let program = try PythonProgram(
                """
                import base64, http_ece, sys
                from cryptography.hazmat.primitives.asymmetric import ec
                from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
                key = ec.generate_private_key(ec.SECP256R1())
                point = key.public_key().public_bytes(
                    Encoding.X962, PublicFormat.UncompressedPoint)
                secret = bytes(range(16))
                print(point.hex(), secret.hex(), flush=True)
                for line in sys.stdin:
                    print(http_ece.decrypt(bytes.fromhex(line.strip()), private_key=key,
                        auth_secret=secret, version="aes128gcm").decode(), flush=True)
                """)
        else { return }
        let words = try program.nextLine().split(separator: " ").map(String.init)
        let point: [UInt8] = try #require(Hexadecimal.decode(words[0]))
        let secret: [UInt8] = try #require(Hexadecimal.decode(words[1]))
        let maker = maker(object(point: point, secret: secret))
        for payload in ["{\"aps\":{}}", "", String(repeating: "ü", count: 1_900)] {
            #expect(try maker.outcome(of: sender(), payload) == .delivered)
            try program.send(Hexadecimal.encode(try #require(postman.requests.last).body))
            #expect(try program.nextLine() == payload)
        }
    }
}
