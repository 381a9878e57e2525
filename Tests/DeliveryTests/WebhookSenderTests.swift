import CloudModel
import Cryptography
import HTTPClient
import Testing

@testable import Delivery

@Suite("Webhooks, as they are sent")
struct WebhookSenderTests {
    private let key = [UInt8](repeating: 7, count: WebhookSignature.keyBytes)
    private let postman = Postman()

    private func secrets() throws -> SealedSecrets {
        try #require(SealedSecrets(keys: [[UInt8](repeating: 1, count: 32)], random: .system))
    }

    private func address() throws -> WebhookAddress {
        let container = try #require(ContainerID("iCloud.example"))
        let url = try #require(TargetURL("https://hooks.example:8443/in?x=1"))
        let sealed = try secrets().seal(
            key, for: WebhookAddress.subject(container, .development))
        return try #require(WebhookAddress(name: "hook", url: url, sealedKey: sealed))
    }

    private func sender() throws -> WebhookSender {
        WebhookSender(
            secrets: try secrets(), agent: "lenticular/test", atOnceMax: 3, send: postman.send)
    }

    @Test("The body is posted as it is, with an id, the time, and a signature by the webhook's key")
    func signed() throws {
        let maker = NoticeMaker(kind: .webhook, address: try address().bytes)
        #expect(try maker.outcome(of: sender(), "{\"a\":1}") == .delivered)
        let request = try #require(postman.requests.first)
        #expect(request.method == "POST" && "\(request.url)" == "https://hooks.example:8443/in?x=1")
        #expect(request.body == Array("{\"a\":1}".utf8))
        #expect(postman.field("content-type") == "application/json")
        #expect(postman.field("user-agent") == "lenticular/test")
        let identifier = "0b1f8c3e-7a57-4a34-9d54-0d9f1c0a7a11"
        #expect(postman.field("webhook-id") == identifier)
        #expect(postman.field("webhook-timestamp") == "1700000000")
        let signed = Array("\(identifier).1700000000.{\"a\":1}".utf8)
        #expect(
            postman.field("webhook-signature")
                == "v1,\(Base64.encode(HMACSHA256(key: key).code(for: signed)))")
        #expect(try sender().noticesAtOncePerDestinationMax == 3)
    }

    @Test("The trace of the request that made the change goes on with the post")
    func traced() throws {
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let maker = NoticeMaker(kind: .webhook, address: try address().bytes)
        #expect(try maker.outcome(of: sender(), trace: trace) == .delivered)
        #expect(postman.field("traceparent") == trace)
        #expect(try maker.outcome(of: sender()) == .delivered)
        #expect(postman.field("traceparent") == nil)
    }

    @Test("Only 2xx is success; 410 ends it, all else is tried again, when the receiver says so")
    func outcomes() throws {
        let maker = NoticeMaker(kind: .webhook, address: try address().bytes)
        for status in [200, 201, 202, 204, 299] {
            postman.answers(Postman.answer(status))
            #expect(try maker.outcome(of: sender()) == .delivered)
        }
        for status in [301, 302, 307, 308] {
            postman.answers(
                Postman.answer(status, [("location", "https://elsewhere.example/")]))
            #expect(
                try maker.outcome(of: sender())
                    == .later(
                        reason: "answered with \(status), and redirects are not followed"))
        }
        for status in [400, 401, 404, 429, 500, 503] {
            postman.answers(Postman.answer(status))
            #expect(
                try maker.outcome(of: sender()) == .later(reason: "answered with \(status)"))
        }
        postman.answers(Postman.answer(503, [("retry-after", "17")]))
        #expect(
            try maker.outcome(of: sender()) == .later(reason: "answered with 503", seconds: 17))
        for date in ["Wed, 21 Oct 2015 07:28:00 GMT", "-1", "99999999999999999999"] {
            postman.answers(Postman.answer(503, [("retry-after", date)]))
            #expect(try maker.outcome(of: sender()) == .later(reason: "answered with 503"))
        }
        postman.answers(Postman.answer(410))
        #expect(try maker.outcome(of: sender()) == .gone(reason: "answered with 410"))
        // No request went anywhere else.
        #expect(Set(postman.requests.map { "\($0.url)" }).count == 1)
    }

    @Test("What cannot be reached, or may not be, is tried again")
    func failures() throws {
        let maker = NoticeMaker(kind: .webhook, address: try address().bytes)
        let failures: [ClientFailure] = [
            .timedOut, .unreachable("x"), .untrusted("x"), .broken("x"), .overloaded,
            .refused(.notPublic(address: "127.0.0.1")), .refused(.notSecure),
        ]
        for failure in failures {
            postman.answers(.failure(failure))
            #expect(try maker.outcome(of: sender()) == .later(reason: "\(failure)"))
        }
    }

    @Test("A key that was sealed for another container, or by another server, opens nothing")
    func sealed() throws {
        var maker = NoticeMaker(kind: .webhook, address: try address().bytes)
        maker.container = "iCloud.other"
        let closed = DeliveryOutcome.later(reason: "the webhook's signing key does not open")
        #expect(try maker.outcome(of: sender()) == closed)
        let others = try #require(
            SealedSecrets(keys: [[UInt8](repeating: 2, count: 32)], random: .system))
        let sender = WebhookSender(
            secrets: others, agent: "x", atOnceMax: 1, send: postman.send)
        maker.container = "iCloud.example"
        #expect(try maker.outcome(of: sender) == closed)
        #expect(postman.requests.isEmpty)
        maker.address = Array("{}".utf8)
        #expect(
            try maker.outcome(of: self.sender())
                == .later(reason: "the webhook's address cannot be read"))
    }

    @Test("A webhook's name is letters, digits, dots, hyphens and lines")
    func names() throws {
        let url = try #require(TargetURL("https://a.example/"))
        for name in ["", "a b", "a/b", "ä", String(repeating: "x", count: 65), "a\n"] {
            #expect(WebhookAddress(name: name, url: url, sealedKey: [1]) == nil)
        }
        let kept = try #require(
            WebhookAddress(name: "A.b-c_9", url: url, sealedKey: [0, 255]))
        let read = try #require(WebhookAddress(bytes: kept.bytes))
        #expect(read.name == kept.name && read.url == url && read.sealedKey == [0, 255])
    }
}
