import Accounts
import CloudModel
import Cryptography
import Foundation
import HTTP
import JSON
import Synchronization
import Testing
import WebServices

@Suite("What a head decides of its body")
struct BodyDecisionTests {
    private let server: WireServer
    private let ida: WireClient
    private let base = "/database/1/\(WireServer.tea)/development"

    init() throws {
        server = try WireServer()
        ida = try server.user()
    }

    /// A head, and what it decided: the answer that it has, or how the body is to be received.
    private struct Decided {
        var decision: BodyDecision
        var answer: HTTPResponse?

        var bodyOptions: BodyOptions? {
            if case .receive(let bodyOptions) = decision { bodyOptions } else { nil }
        }
    }

    private func request(
        _ target: String, _ method: HTTPRequest.Method = .post,
        headers: [(name: String, value: String)] = []
    ) -> HTTPRequest {
        HTTPRequest(
            id: "11111111-1111-4111-8111-111111111111", method: method,
            target: Array(target.utf8), headers: HTTPHeaders(headers), body: [],
            peer: Peer(address: "192.0.2.7", isLoopback: false, isTLS: false), loop: 0)
    }

    private func decide(_ request: HTTPRequest) -> Decided {
        let answer = Mutex<HTTPResponse?>(nil)
        let reply = HTTPReply { response in answer.withLock { $0 = response } }
        let decision = server.web.decide(on: request, reply: reply)
        return Decided(decision: decision, answer: answer.withLock { $0 })
    }

    private func respond(_ request: HTTPRequest) throws -> HTTPResponse {
        let done = Waiting<HTTPResponse>()
        server.web.respond(to: request, reply: HTTPReply { done.arrive($0) })
        return try done.wait()
    }

    private func tokens(_ client: WireClient) -> String {
        guard case .tokens(let api, let web) = client.credential else { return "" }
        return "ckAPIToken=\(api)" + (web.map { "&ckWebAuthToken=\($0)" } ?? "")
    }

    @Test("What the head shows to be refused is answered there, as it would be with the body")
    func refusals() throws {
        let good = tokens(ida)
        let visitor = tokens(server.visitor())
        let page = [(name: "Origin", value: "https://evil.example")]
        let bound = try APITokens(catalog: server.catalog).create(
            container: WireServer.id(WireServer.tea), environment: .development,
            origins: ["https://tea.example"], now: server.clock.now
        ).token
        let cases: [(HTTPRequest, Int)] = [
            (request("/nothing?\(good)"), 404),
            (request("\(base)/private/no/such?\(good)"), 404),
            (request("\(base)/private/records/modify?\(good)", .delete), 405),
            (request("\(base)/private/records/modify?\(good)", .other("PROPFIND")), 405),
            (request("\(base)/private/records/modify", .options), 200),
            (request("\(base)/private/records/modify"), 400),
            (request("\(base)/private/records/modify?ckWebAuthToken=a"), 400),
            (request("\(base)/private/records/modify?ckAPIToken=a"), 401),
            (request("\(base)/private/records/modify?ckAPIToken=\(bound)", headers: page), 401),
            (request("\(base)/private/records/modify?\(visitor)"), 421),
            (request("\(base)/public/records/modify?\(visitor)"), 421),
            (request("\(base)/private/records/query?\(visitor)&ckWebAuthToken=abc"), 421),
        ]
        for (request, status) in cases {
            let decided = decide(request)
            #expect(decided.bodyOptions == nil)
            let answer = try #require(decided.answer)
            #expect(answer.status == status, "\(String(decoding: request.target, as: UTF8.self))")
            let whole = try respond(request)
            #expect(answer.status == whole.status)
            // A ticket to sign in has its time in it.
            if status != 421 { #expect(answer.body == whole.body) }
            #expect(answer.headers.map(\.name) == whole.headers.map(\.name))
        }
    }

    @Test("A body that tokens vouch for is kept, and counts to whom they are of")
    func tokens() throws {
        let first = decide(request("\(base)/private/records/modify?\(tokens(ida))"))
        let again = decide(request("\(base)/public/records/query?\(tokens(ida))"))
        let other = decide(request("\(base)/public/records/query?\(tokens(server.visitor()))"))
        #expect(first.answer == nil)
        #expect(first.bodyOptions?.keeps == true)
        #expect(first.bodyOptions?.owner == again.bodyOptions?.owner)
        #expect(other.bodyOptions != nil && other.bodyOptions?.owner != first.bodyOptions?.owner)
    }

    @Test("The head tells who sent a request, until credentials change")
    func identifiedOnce() throws {
        let head = request("\(base)/private/records/lookup?\(tokens(ida))")
        let bodyOptions = try #require(decide(head).bodyOptions)
        var whole = head
        whole.body = Array(#"{"records":[{"recordName":"x"}]}"#.utf8)
        whole.bodyWitness = bodyOptions.witness
        // Longer than any token lives: who looked it up again would refuse it.
        server.clock.advance(100 * 365 * 86_400_000)
        #expect(try respond(whole).status == 200)
        try WebTokens(catalog: server.catalog).revokeAll(email: ida.email)
        #expect(try respond(whole).status == 421)
    }

    @Test("A signed body is kept where key, date and form are good, and counts to the address")
    func signed() throws {
        let target = "\(base)/public/records/lookup"
        let body = Array(#"{"records":[{"recordName":"x"}]}"#.utf8)
        guard case .key(let id, let key) = try server.key().credential else { return }
        func headers(
            _ body: [UInt8], id: String, _ now: Milliseconds
        ) -> [(name: String, value: String)] {
            WireClient.signature(of: target, body: body, date: now, id: id, key: key)
                .map { ($0.name.lowercased(), $0.value) }
        }
        /// The answer to a request whose body has come through its witness.
        func finish(_ decided: Decided, _ head: HTTPRequest) throws -> HTTPResponse {
            let bodyOptions = try #require(decided.bodyOptions)
            for piece in [body[..<5], body[5...]] {
                piece.withUnsafeBytes { bodyOptions.witness?.see($0) }
            }
            var request = head
            request.bodyWitness = bodyOptions.witness
            request.body = bodyOptions.keeps ? body : []
            return try respond(request)
        }
        let now = server.clock.now
        let good = request(target, headers: headers(body, id: id, now))
        let decided = decide(good)
        #expect(decided.answer == nil && decided.bodyOptions?.keeps == true)
        #expect(decided.bodyOptions?.owner == .block(good.client))
        #expect(try finish(decided, good).status == 200)

        let wrong = request(target, headers: headers(body + [32], id: id, now))
        #expect(decide(wrong).bodyOptions?.keeps == true)
        let unknown = headers(body, id: String(repeating: "0", count: 64), now)
        let malformed =
            headers(body, id: id, now).dropLast()
            + [("x-apple-cloudkit-request-signaturev1", "AAAA")]
        let doubted = [
            request(target, headers: unknown), request(target, headers: Array(malformed)),
            request(target, headers: headers(body, id: id, now - 700_000)),
            request(target, headers: headers(body, id: id, now + 700_000)),
        ]
        let failed = try finish(decide(wrong), wrong)
        #expect(failed.status == 401)
        for request in doubted {
            let decided = decide(request)
            #expect(decided.answer == nil && decided.bodyOptions?.keeps == false)
            #expect(decided.bodyOptions?.owner == .doubted)
            let answer = try finish(decided, request)
            #expect(answer.status == 401 && answer.body == failed.body)
        }
        // What was thrown away cannot be found good by the time that it has come.
        let early = decide(doubted[3])
        server.clock.advance(200_000)
        #expect(try finish(early, doubted[3]).status == 401)
        #expect(try finish(decide(doubted[3]), doubted[3]).status == 200)
        // Whether an endpoint is there is told to those whose signature is good.
        let missing = request("\(base)/public/no/such", headers: headers(body, id: id, now))
        #expect(decide(missing).bodyOptions?.keeps == false)
    }

    @Test("A body for whose index there is no room is put off")
    func noRoom() throws {
        var request = request("\(base)/private/records/lookup?\(tokens(ida))")
        request.body = Array("{\"records\":[\(String(repeating: "1,", count: 40_000))1]}".utf8)
        let budget = BodyBudget(bytesMax: 400_000)
        let memory = BodyCharge(budget, for: .block(request.client))
        request.bodyMemory = memory
        #expect(try respond(request).status == 503)
        let answer = try respond(request)
        #expect(answer.status == 503)
        #expect(answer.headers.contains { $0.name == "Retry-After" })
        #expect(String(decoding: answer.body, as: UTF8.self).contains("TRY_AGAIN_LATER"))
    }
}
