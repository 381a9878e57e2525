import Cryptography
import Identity
import JSON
import Testing

@testable import Delivery

@Suite("Pushes to browsers")
struct WebPushTests {
    /// RFC 8291, section 5 and appendix A.
    private enum Published {
        static let text = "When I grow up, I want to be a watermelon"
        static let senderKey = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
        static let receiverPoint =
            "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
        static let secret = "BTBZMqHH6r4Tts7J_aSIgg"
        static let salt = "DGv6ra1nlYgDCS1FRnbzlw"
        static let message =
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLoc"
            + "InmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBW"
            + "LVWGNWQexSgSxsj_Qulcy4a-fN"
    }

    private func bytes(_ text: String) throws -> [UInt8] {
        try #require(Base64.decode(text, .urlSafe))
    }

    /// The private key that has this number, by way of SEC 1's form without the public half.
    private func privateKey(_ number: [UInt8]) throws -> P256PrivateKey {
        let curve: [UInt8] = [
            0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
        ]
        let der = [0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20] + number + curve
        return try P256PrivateKey(
            pem: "-----BEGIN EC PRIVATE KEY-----\n\(Base64.encode(der))\n"
                + "-----END EC PRIVATE KEY-----\n")
    }

    private func subscription() throws -> WebPushSubscription {
        try #require(
            WebPushSubscription(
                endpoint: "https://push.example.net/x", key: Published.receiverPoint,
                secret: Published.secret))
    }

    @Test("The published message is made, byte by byte")
    func published() throws {
        let sealed = WebPushMessage.seal(
            Array(Published.text.utf8), for: try subscription(), salt: try bytes(Published.salt),
            sender: try privateKey(bytes(Published.senderKey)))
        #expect(try sealed == bytes(Published.message))
    }

    @Test("Each message has a salt and a key of its own, and fits into 4,096 bytes")
    func fresh() throws {
        let text = [UInt8](repeating: 1, count: WebPushMessage.bytesMax)
        let first = try #require(
            WebPushMessage.seal(text, for: subscription(), random: .system))
        let second = try #require(
            WebPushMessage.seal(text, for: subscription(), random: .system))
        #expect(first.count == 4_096)
        #expect(first[..<16] != second[..<16])
        #expect(first[21..<86] != second[21..<86])
        #expect(try WebPushMessage.seal(text + [1], for: subscription(), random: .system) == nil)
        #expect(
            try WebPushMessage.seal([], for: subscription(), random: .system)?.count
                == 86 + 1 + 16)
    }

    @Test(
        "A subscription needs a point of the curve and 16 bytes",
        arguments: [
            ("", Published.secret), (Published.receiverPoint, ""),
            (Published.receiverPoint, "AAAA"),
            (Published.secret, Published.secret), (Published.receiverPoint + "A", Published.secret),
            ("!" + Published.receiverPoint.dropFirst(), Published.secret),
            (Published.receiverPoint.dropLast() + "8", Published.secret),
        ])
    func subscriptions(key: String, secret: String) {
        #expect(WebPushSubscription(endpoint: "x", key: key, secret: secret) == nil)
    }

    @Test("Padding, which some libraries send, does not matter")
    func padding() {
        #expect(
            WebPushSubscription(
                endpoint: "x", key: Published.receiverPoint + "=",
                secret: Published.secret + "==") != nil)
    }

    @Test("The push service is told who we are, for its own origin and half a day")
    func identification() throws {
        let key = P256PrivateKey()
        let identification = PushIdentification(key: key, contact: "mailto:admin@example.com")
        let header = identification.authorization(
            toward: "https://push.example.net", seconds: 1_000)
        let parts = header.split(separator: " ")
        #expect(parts.count == 3 && parts[0] == "vapid")
        let token = try JSONWebToken(String(parts[1].dropFirst(2).dropLast()))
        #expect(token.claims["aud"]?.string == "https://push.example.net")
        #expect(token.claims["exp"]?.int64 == 44_200)
        #expect(token.claims["sub"]?.string == "mailto:admin@example.com")
        #expect(try bytes(String(parts[2].dropFirst(2))) == key.publicKey.point)
        let point = key.publicKey.point
        let keys =
            "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\","
            + "\"x\":\"\(Base64.encode(Array(point[1..<33]), .urlSafe))\","
            + "\"y\":\"\(Base64.encode(Array(point[33...]), .urlSafe))\"}]}"
        try token.verify(with: #require(JSONWebKeys(Array(keys.utf8))))
    }
}

@Suite("Signatures of webhooks")
struct WebhookSignatureTests {
    @Test("The signature covers id, time and body, with each of the keys")
    func signature() throws {
        let keys = [Array("key one".utf8), Array("key two".utf8)]
        let headers = try #require(
            WebhookSignature.headers(
                identifier: "msg_1", seconds: 1_614_265_330, body: Array("{\"a\":1}".utf8),
                keys: keys))
        #expect(headers.map(\.name) == ["webhook-id", "webhook-timestamp", "webhook-signature"])
        #expect(headers[0].value == "msg_1" && headers[1].value == "1614265330")
        let expected = keys.map {
            "v1,"
                + Base64.encode(
                    HMACSHA256(key: $0).code(for: Array("msg_1.1614265330.{\"a\":1}".utf8)))
        }
        #expect(headers[2].value == expected.joined(separator: " "))
    }

    @Test("Nothing is signed without a key, or under an identifier that could end elsewhere")
    func unsigned() {
        let key = [UInt8](0..<32)
        for (identifier, keys) in [("msg", []), ("a.b", [key]), ("a b", [key])] {
            let headers = WebhookSignature.headers(
                identifier: identifier, seconds: 1, body: [], keys: keys)
            #expect(headers?.count == nil)
        }
    }

    @Test("The signature is that of another implementation")
    func elsewhere() throws {
        // Python's hmac, over the same text and the key 00 01 … 1f.
        let headers = try #require(
            WebhookSignature.headers(
                identifier: "msg_p5jXN8AQM9LWM0D4loKWxJek", seconds: 1_614_265_330,
                body: Array("{\"test\": 2432232314}".utf8), keys: [[UInt8](0..<32)]))
        #expect(headers[2].value == "v1,O4Gjv1HqPqsMrjmczoggs/sWA8gZD0VyHG+fLh4+ktI=")
    }
}
