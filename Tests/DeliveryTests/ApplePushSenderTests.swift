import Background
import CloudModel
import Cryptography
import HTTPClient
import Identity
import Seeding
import Testing

@testable import Delivery

@Suite("Pushes to Apple's devices, as they are sent")
struct ApplePushSenderTests {
    private let postman = Postman()
    private let key = ApplePushKey(
        topic: "org.example.app", team: "TEAM123456", name: "KEY1234567", key: P256PrivateKey())
    private let token = String(repeating: "0a", count: 32)

    private func sender(hasKey: Bool = true) throws -> ApplePushSender {
        let key = key
        return ApplePushSender(
            origins: [
                .production: try #require(HTTPOrigin("https://push.example")),
                .development: try #require(HTTPOrigin("https://sandbox.example:2197")),
            ],
            findKey: { container, topic in
                hasKey && container.name == "iCloud.example" && (topic ?? key.topic) == key.topic
                    ? key : nil
            }, backoff: Backoff(first: 1_000, longest: 60_000) { .max }, send: postman.send)
    }

    private func maker(
        _ gateway: ApplePushAddress.Gateway = .production, topic: String? = nil
    ) throws -> NoticeMaker {
        let address = try #require(
            ApplePushAddress(token: token, gateway: gateway, topic: topic))
        return NoticeMaker(kind: .apns, address: address.bytes)
    }

    @Test("An alert goes out at once, to the app's topic at the service that gave the token")
    func alert() throws {
        let payload = "{\"aps\":{\"alert\":{\"body\":\"x\"},\"content-available\":1}}"
        #expect(
            try maker().outcome(of: sender(), payload, collapseID: "one") == .delivered)
        let request = try #require(postman.requests.first)
        #expect("\(request.url)" == "https://push.example/3/device/\(token)")
        #expect(request.method == "POST" && request.body == Array(payload.utf8))
        #expect(postman.field("apns-push-type") == "alert")
        #expect(postman.field("apns-priority") == "10")
        #expect(postman.field("apns-topic") == "org.example.app")
        #expect(postman.field("apns-collapse-id") == "one")
        #expect(postman.field("apns-id") == "0b1f8c3e-7a57-4a34-9d54-0d9f1c0a7a11")
        #expect(postman.field("apns-expiration") == "1702419195")
        let bearer = try #require(postman.field("authorization"))
        #expect(bearer.hasPrefix("bearer "))
        let claims = try JSONWebToken(String(bearer.dropFirst(7))).claims
        #expect(claims["iss"]?.string == "TEAM123456" && claims["iat"]?.int64 == 1_700_000_000)
        _ = try maker(.development).outcome(of: sender(), payload)
        #expect(
            "\(try #require(postman.requests.last).url)"
                == "https://sandbox.example:2197/3/device/\(token)")
    }

    @Test("What shows nothing goes in the background, with the priority that it must have")
    func background() throws {
        for payload in ["{\"aps\":{\"content-available\":1}}", "{}", "nonsense"] {
            _ = try maker().outcome(of: sender(), payload)
            #expect(postman.field("apns-push-type") == "background")
            #expect(postman.field("apns-priority") == "5")
        }
        for payload in ["{\"aps\":{\"badge\":0}}", "{\"aps\":{\"sound\":\"s\"}}"] {
            _ = try maker().outcome(of: sender(), payload)
            #expect(postman.field("apns-push-type") == "alert")
        }
    }

    @Test("Names that the service would not take are replaced or left out")
    func names() throws {
        for name in [String(repeating: "x", count: 65), "ü", "a\nb", ""] {
            _ = try maker().outcome(of: sender(), collapseID: name)
            #expect(postman.field("apns-collapse-id")?.utf8.count == 32)
        }
        let sender = try sender()
        sender.send(try maker().notice("{}", identifier: "not a UUID")) { _ in }
        #expect(postman.field("apns-id") == nil)
    }

    @Test("A token is used for 45 minutes, and made anew before that only when it has expired")
    func providerTokens() throws {
        let sender = try sender()
        var maker = try maker()
        func bearer(at seconds: Int64) throws -> String? {
            maker.seconds = seconds
            _ = try maker.outcome(of: sender)
            return postman.field("authorization")
        }
        let start: Int64 = 1_700_000_000
        let first = try bearer(at: start)
        #expect(try bearer(at: start + 2_699) == first)
        let second = try bearer(at: start + 2_700)
        #expect(second != first)
        postman.answers(
            Postman.answer(403, [], "{\"reason\":\"ExpiredProviderToken\"}"))
        // Within 20 minutes the service would refuse another.
        #expect(try bearer(at: start + 2_701) == second)
        #expect(try bearer(at: start + 2_700 + 1_199) == second)
        #expect(try bearer(at: start + 2_700 + 1_200) == second)
        #expect(try bearer(at: start + 2_700 + 1_201) != second)
    }

    @Test("Each answer of the service is what Apple's table says it is")
    func outcomes() throws {
        func outcome(_ status: Int, _ reason: String) throws -> DeliveryOutcome? {
            postman.answers(
                Postman.answer(status, [("retry-after", "9")], "{\"reason\":\"\(reason)\"}"))
            return try maker().outcome(of: sender())
        }
        for (status, reason) in [
            (410, "Unregistered"), (410, "ExpiredToken"), (400, "BadDeviceToken"),
            (400, "DeviceTokenNotForTopic"),
        ] {
            #expect(
                try outcome(status, reason) == .gone(reason: "answered with \(status) \(reason)"))
        }
        for (status, reason) in [
            (400, "BadCollapseId"), (400, "PayloadEmpty"), (404, "BadPath"),
            (405, "MethodNotAllowed"), (413, "PayloadTooLarge"),
        ] {
            #expect(
                try outcome(status, reason)
                    == .refused(reason: "answered with \(status) \(reason)"))
        }
        for (status, reason) in [
            (429, "TooManyRequests"), (429, "TooManyProviderTokenUpdates"),
            (500, "InternalServerError"), (503, "ServiceUnavailable"), (503, "Shutdown"),
            (403, "InvalidProviderToken"), (400, "TopicDisallowed"), (302, "Elsewhere"),
        ] {
            #expect(
                try outcome(status, reason)
                    == .later(reason: "answered with \(status) \(reason)", seconds: 9))
        }
        postman.answers(Postman.answer(503, [], "{\"reason\":\"no word <script>\"}"))
        #expect(try maker().outcome(of: sender()) == .later(reason: "answered with 503"))
    }

    @Test("When the service is in trouble, other devices do not try meanwhile")
    func rest() throws {
        let sender = try sender()
        var maker = try maker()
        postman.answers(Postman.answer(503, [("retry-after", "5")], ""))
        #expect(
            try maker.outcome(of: sender) == .later(reason: "answered with 503", seconds: 5))
        #expect(
            try maker.outcome(of: sender)
                == .later(reason: "the push service is left alone for a while", seconds: 5))
        #expect(postman.requests.count == 1)
        // The other service has its own troubles.
        postman.answers(Postman.answer(200))
        #expect(try self.maker(.development).outcome(of: sender) == .delivered)
        maker.seconds += 5
        #expect(try maker.outcome(of: sender) == .delivered)
        // One device's own limit is no trouble of the service.
        postman.answers(Postman.answer(429, [], "{\"reason\":\"TooManyRequests\"}"))
        _ = try maker.outcome(of: sender)
        postman.answers(Postman.answer(200))
        #expect(try maker.outcome(of: sender) == .delivered)
        // What is not reached is left alone for longer each time.
        postman.answers(.failure(.timedOut))
        for wait in [1, 2, 4, 8, 16, 32, 60, 60] as [Int64] {
            _ = try maker.outcome(of: sender)
            maker.seconds += wait - 1
            let count = postman.requests.count
            if wait > 1 { _ = try maker.outcome(of: sender) }
            #expect(postman.requests.count == count)
            maker.seconds += 1
        }
    }

    @Test("Without a key of the app its notices wait")
    func keys() throws {
        let waiting = DeliveryOutcome.later(
            reason: "no push key of the app; `push key add` adds it")
        #expect(try maker().outcome(of: sender(hasKey: false)) == waiting)
        #expect(try maker(topic: "org.example.other").outcome(of: sender()) == waiting)
        #expect(try maker(topic: "org.example.app").outcome(of: sender()) == .delivered)
        #expect(postman.requests.count == 1)
    }

    @Test("Addresses are read back the same, and random bytes are none or one that is")
    func addresses() throws {
        let odd = ["", "0", String(repeating: "0", count: 31), "xyz", token + "g"]
        for token in odd { #expect(ApplePushAddress(token: token, gateway: .production) == nil) }
        #expect(
            ApplePushAddress(token: token.uppercased(), gateway: .production)?.token == token)
        for topic in ["", "a b", "a/b", String(repeating: "x", count: 256)] {
            #expect(
                ApplePushAddress(token: token, gateway: .production, topic: topic) == nil)
        }
        var random = SeededRandom("addresses")
        let pieces = [
            "{", "}", "\"token\":", "\"\(token)\"", "\"gateway\":", "\"production\"", ",",
            "\"topic\":", "\"a.b\"", "null", "\"endpoint\":\"https://a.example/\"", "\"name\":",
            "\"url\":\"https://a\"", "\"key\":\"AA==\"", "[", "]", "\u{0}",
        ]
        for _ in 0..<20_000 {
            let text = (0..<random.below(9)).map { _ in random.one(of: pieces) }.joined()
            let bytes = Array(text.utf8)
            _ = WebPushAddress(bytes: bytes)
            _ = WebhookAddress(bytes: bytes)
            guard let address = ApplePushAddress(bytes: bytes) else { continue }
            #expect(ApplePushAddress(bytes: address.bytes) == address)
        }
        let whole = "{\"token\":\"\(token)\",\"gateway\":\"production\",\"topic\":\"a.b\"}"
        let address = try #require(ApplePushAddress(bytes: Array(whole.utf8)))
        #expect(ApplePushAddress(bytes: address.bytes) == address && address.topic == "a.b")
    }
}
