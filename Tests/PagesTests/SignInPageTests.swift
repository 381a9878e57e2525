import Accounts
import CloudModel
import Cryptography
import Foundation
import HTTP
import JSON
import Storage
import Synchronization
import Testing

@testable import Pages

/// From an answer 421 to a web token in the app's hands (rulings.md 54 and 55).
@Suite("The sign-in page of an app")
struct SignInPageTests {
    let server: PageServer
    let browser: Browser

    init() throws {
        server = try PageServer()
        browser = Browser(server)
        try server.user()
    }

    @Test("Signing in, agreeing once, and the token goes to exactly the page's origin")
    func message() throws {
        let api = try server.apiToken(origins: ["https://app.example"])
        let path = try server.signInPath(api)
        let form = try browser.get(path)
        #expect(form.status == 200)
        #expect(form.text.contains(PageServer.container))
        #expect(form.text.contains("https://app.example"))
        #expect(form.header("Content-Security-Policy")?.contains("form-action 'self';") == true)
        #expect(try browser.signIn(path).header("Location") == path)
        let asked = try browser.get(path)
        #expect(asked.text.contains("Ida Roe") && asked.text.contains("See your name"))
        let done = try browser.post(path, ["step": "continue"])
        #expect(done.status == 200)
        #expect(done.attribute("data-origin") == "https://app.example")
        let token = try #require(done.attribute("data-token"))
        let caller = try #require(server.caller(token, api))
        #expect(caller.account == (try Users(catalog: server.catalog).list().items.first?.id))
        #expect(done.header("Content-Security-Policy")?.contains("script-src 'self'") == true)
        #expect(!done.text.contains("<script>"))

        // The second time nobody is asked any more; the ticket still opens, and gives another token.
        let again = try browser.get(path)
        #expect(!again.text.contains("See your name"))
        let second = try browser.post(path, ["step": "continue"]).attribute("data-token")
        #expect(second != nil && second != token)
        // Of another browser the sign-in itself is enough, as the person has agreed.
        let other = Browser(server)
        try other.get(path)
        #expect(try other.signIn(path).attribute("data-token") != nil)
    }

    @Test("A new pair of account and app, or origin, asks again")
    func consent() throws {
        let api = try server.apiToken()
        let path = try server.signInPath(api)
        try browser.get(path)
        try browser.signIn(path)
        try browser.get(path)
        try browser.post(path, ["step": "continue"])
        let elsewhere = try server.signInPath(api, origin: "https://other.example")
        #expect(try browser.get(elsewhere).text.contains("See your name"))
        let app = try server.signInPath(server.apiToken(name: "b"))
        #expect(try browser.get(app).text.contains("See your name"))
        try server.user("mo@example.org")
        let mo = Browser(server)
        try mo.get(path)
        #expect(try mo.signIn(path, "mo@example.org").status == 303)
        #expect(try mo.get(path).text.contains("See your name"))
    }

    @Test("Wrong, unknown and locked are said so that nobody learns who has an account")
    func refused() throws {
        let path = try server.signInPath(server.apiToken())
        try browser.get(path)
        let wrong = try browser.signIn(path, "ida@example.org", "wrong")
        let unknown = try browser.signIn(path, "ina@example.org", "wrong")
        #expect(wrong.status == 403 && unknown.status == 403)
        // Each page asks an authenticator another question.
        func rest(_ shown: Shown) throws -> String {
            let pageToken = try #require(shown.attribute("name=\"pass\" value"))
            let challenge = try #require(shown.attribute("data-challenge"))
            return shown.text.replacing(pageToken, with: "P\(pageToken.count)")
                .replacing(challenge, with: "C\(challenge.count)")
        }
        #expect(try rest(wrong).replacing("ida@", with: "ina@") == rest(unknown))
        #expect(wrong.text.contains("role=\"alert\""))
        #expect(wrong.header("Set-Cookie") == nil)
        for _ in 0..<4 { try browser.signIn(path, "ina@example.org", "wrong") }
        let locked = try browser.signIn(path, "ina@example.org", "wrong")
        #expect(locked.status == 429 && locked.header("Retry-After") == "1")
        #expect(server.caller(String(repeating: "a", count: 104), try server.apiToken()) == nil)
    }

    @Test(
        "A ticket that is changed, late, foreign, of a revoked token or a foreign origin opens nothing"
    )
    func tickets() throws {
        let api = try server.apiToken(origins: ["https://app.example"], name: "app")
        let path = try server.signInPath(api)
        let foreign = try server.signInPath(api, origin: "https://evil.example")
        let elsewhere = try PageServer()
        let stranger = try elsewhere.signInPath(elsewhere.apiToken())
        let other: Substring = path.dropFirst(40).first == "A" ? "B" : "A"
        for bad in [
            "\(path.prefix(40))\(other)\(path.dropFirst(41))", foreign, stranger, "/sign-in/AAAA",
            path + "/x",
        ] {
            let answer = try browser.get(bad)
            #expect(answer.status == 404, "\(bad)")
            #expect(!answer.text.contains("password"))
        }
        server.clock.advance(899_999)
        #expect(try browser.get(path).status == 200)
        server.clock.advance(1)
        #expect(try browser.get(path).status == 404)
        let fresh = try server.signInPath(api)
        #expect(try browser.get(fresh).status == 200)
        try APITokens(catalog: server.catalog).revoke(name: "app")
        #expect(try browser.get(fresh).status == 404)
    }

    @Test("Without an origin and a callback there is nobody to hand anything to")
    func nobody() throws {
        let api = try server.apiToken()
        for origin in [nil, "null"] as [String?] {
            let path = try server.signInPath(api, origin: origin)
            let answer = try browser.get(path)
            #expect(answer.status == 400 && answer.text.contains(refusal(.signInNoOrigin)))
            #expect(try browser.post(path, ["step": "continue"]).status != 200)
        }
    }

    private func refusal(_ phrase: Phrase) -> String { "<p class=\"note\">\(phrase.rawValue)</p>" }

    @Test(
        "A page that cannot sign people in tells the app's developer what is wrong, and where to read on",
        arguments: [
            (nil, nil, "", .signInNoOrigin),
            (nil, "https://a.example", "?callback=https%3A%2F%2Fa.example", .signInNoCallback),
            (nil, nil, "?code_challenge=x", .signInNoCallback),
            ("myapp:done", nil, "?callback=myapp%3Aother", .signInOtherCallback),
            (
                "http://127.0.0.1:1/x", nil, "?callback=http%3A%2F%2F127.0.0.1%3A2%2Fx",
                .signInNoChallenge
            ),
            ("myapp:done", nil, "?code_challenge=x", .signInBadChallenge),
            (
                "myapp:done", nil, "?code_challenge=\(SignInPageTests.challenge)",
                .signInBadChallenge
            ),
            (
                "myapp:done", nil,
                "?callback=myapp%3Adone&state=" + String(repeating: "s", count: 1_025),
                .signInLongState
            ),
        ] as [(String?, String?, String, Phrase)])
    func forDevelopers(
        _ callback: String?, _ origin: String?, _ query: String, _ problem: Phrase
    ) throws {
        let api = try server.apiToken(callback: callback)
        let answer = try browser.get(server.signInPath(api, origin: origin, query: query))
        #expect(answer.status == 400 && answer.text.contains(refusal(problem)))
        // Where it is documented is a place in this repository that is there.
        let page = try #require(Pages.documentation.split(separator: "#").first)
        #expect(answer.text.contains("<code>\(Pages.documentation)</code>"))
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: page), encoding: .utf8)
        #expect(text.contains("\n## Signing in\n"))
    }

    @Test("A registered callback gets both tokens in its query, as Apple's do")
    func redirect() throws {
        let api = try server.apiToken(callback: "https://app.example/back?x=1#part")
        let path = try server.signInPath(api)
        let form = try browser.get(path)
        #expect(
            form.header("Content-Security-Policy")?.contains(
                "form-action 'self' https://app.example;") == true)
        try browser.signIn(path)
        try browser.get(path)
        let done = try browser.post(path, ["step": "continue"])
        #expect(done.status == 303)
        let target = try #require(done.header("Location"))
        let url = try #require(URLComponents(string: target))
        let items = Dictionary(
            uniqueKeysWithValues: (url.queryItems ?? []).map { ($0.name, $0.value ?? "") })
        #expect(target.hasPrefix("https://app.example/back?x=1&ckWebAuthToken="))
        #expect(url.fragment == "part")
        #expect(items["ckWebAuthToken"] == items["ckSession"])
        #expect(server.caller(items["ckSession"] ?? "", api) != nil)
        let cancelled = try browser.post(path, ["step": "cancel"])
        #expect(
            cancelled.header("Location")
                == "https://app.example/back?x=1&errorMessage=accessError#part")
    }

    private static let verifier = String(repeating: "v", count: 43)
    private static var challenge: String {
        Base64.encode(SHA256.digest(Array(verifier.utf8)), .urlSafe)
    }

    private func wish(_ callback: String, challenge: String = Self.challenge) -> String {
        let encoded = callback.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return "?callback=\(encoded)&state=s%20t&code_challenge=\(challenge)"
            + "&code_challenge_method=S256"
    }

    /// Goes through the pages to a code.
    private func code(_ path: String) throws -> String {
        try browser.get(path)
        if try browser.signIn(path).header("Location") == path { try browser.get(path) }
        let done = try browser.post(path, ["step": "continue"])
        let url = try #require(URLComponents(string: done.header("Location") ?? ""))
        #expect(url.queryItems?.first { $0.name == "state" }?.value == "s t")
        return try #require(url.queryItems?.first { $0.name == "code" }?.value)
    }

    private func trade(_ code: String, _ verifier: String = verifier) throws -> Shown {
        try browser.send(
            "/sign-in/token", method: .post,
            body: Array("{\"code\":\"\(code)\",\"code_verifier\":\"\(verifier)\"}".utf8))
    }

    @Test("A program gets a code, and trades it once for tokens within a minute")
    func codes() throws {
        let api = try server.apiToken(callback: "http://127.0.0.1/done")
        let path = try server.signInPath(
            api, origin: nil, query: wish("http://127.0.0.1:51234/done"))
        let first = try code(path)
        let answer = try trade(first)
        #expect(answer.status == 200)
        let json = try JSONDocument(parsing: Array(answer.text.utf8)).root
        #expect(
            json.members.map { $0.key.string } == [
                "ckWebAuthToken", "ckSession", "userRecordName", "expires",
            ])
        let token = try #require(json["ckWebAuthToken"]?.string)
        #expect(json["ckSession"]?.string == token)
        #expect(
            server.caller(token, api)?.userRecordName?.text == json["userRecordName"]?.string)
        #expect(answer.header("Access-Control-Allow-Origin") == nil)
        #expect(try trade(first).status == 400)
        // A wrong verifier ends a code, and so does time.
        let second = try code(path)
        #expect(try trade(second, String(repeating: "w", count: 43)).status == 400)
        #expect(try trade(second).status == 400)
        let third = try code(path)
        server.clock.advance(60_000)
        #expect(try trade(third).status == 400)
        for body in ["", "{}", "[]", #"{"code":7,"code_verifier":8}"#] {
            let refused = try browser.send(
                "/sign-in/token", method: .post, body: Array(body.utf8))
            #expect(refused.status == 400 && refused.text.contains("BAD_REQUEST"))
        }
        #expect(try browser.get("/sign-in/token").status == 405)
    }

    @Test("Of 64 who trade one code at once, one gets tokens")
    func race() throws {
        let api = try server.apiToken(callback: "myapp:done")
        let code = try code(server.signInPath(api, origin: nil, query: wish("myapp:done")))
        let (handOver, now) = (server.accountUseCases.handOver, server.now)
        let count = Atomic<Int>(0)
        DispatchQueue.concurrentPerform(iterations: 64) { _ in
            let made = try? handOver.trade(code: code, verifier: Self.verifier, now: now)
            if made != nil { count.add(1, ordering: .relaxed) }
        }
        #expect(count.load(ordering: .relaxed) == 1)
    }

    @Test(
        "A callback that is not the registered one receives nothing",
        arguments: [
            "https://evil.example/back", "https://app.example/back/", "https://app.example/bac",
            "https://app.example:444/back", "http://app.example/back", "javascript:alert(1)",
            "https://app.example/back?x", "https://app.example/back#x", "//app.example/back",
            "https://app.example@evil.example/back", "data:text/html,x", "",
            "https://app.example/back\r\nX: y",
        ])
    func foreignCallback(callback: String) throws {
        let api = try server.apiToken(callback: "https://app.example/back")
        let encoded = callback.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        for query in ["?callback=\(encoded)", wish(callback)] {
            let answer = try browser.get(server.signInPath(api, query: query))
            #expect(answer.status == 400, "\(query)")
            #expect(answer.header("Location") == nil)
            #expect(
                answer.header("Content-Security-Policy")?.contains("form-action 'self';") == true)
        }
    }

    @Test(
        "Loopback callbacks may have any port, with a challenge; nothing else about them may differ"
    )
    func loopback() throws {
        let api = try server.apiToken(callback: "http://127.0.0.1:1/done")
        func status(_ query: String) throws -> Int {
            try browser.get(server.signInPath(api, query: query)).status
        }
        for good in [
            "http://127.0.0.1:1/done", "http://127.0.0.1:65535/done", "http://127.0.0.1/done",
        ] {
            #expect(try status(wish(good)) == 200, "\(good)")
        }
        for bad in [
            "http://127.0.0.1:0/done", "http://127.0.0.1:65536/done", "http://127.0.0.1:2/other",
            "http://localhost:1/done", "http://127.0.0.1.evil.example/done",
            "http://127.0.0.1:1@evil.example/done", "https://127.0.0.1:1/done",
        ] {
            #expect(try status(wish(bad)) == 400, "\(bad)")
        }
        // Tokens themselves go to the very address alone.
        #expect(try status("?callback=http%3A%2F%2F127.0.0.1%3A2%2Fdone") == 400)
        for challenge in ["", "AAAA", String(repeating: "A", count: 44)] {
            #expect(try status(wish("http://127.0.0.1:1/done", challenge: challenge)) == 400)
        }
        #expect(
            try status(
                wish("http://127.0.0.1:1/done").replacing("=S256", with: "=plain")) == 400)
    }

    @Test("Who stays signed in gets tokens of 14 days, others of 30 minutes")
    func keep() throws {
        let api = try server.apiToken()
        let path = try server.signInPath(api)
        for (keep, seconds) in [(false, 1_800), (true, 1_209_600)] {
            let browser = Browser(server)
            try browser.get(path)
            if try browser.signIn(path, keep: keep).status == 303 { try browser.get(path) }
            let token = try #require(
                try browser.last?.attribute("data-token")
                    ?? browser.post(path, ["step": "continue"]).attribute("data-token"))
            let hash = SHA256.digest(Array(token.utf8))
            let record = try #require(try server.catalog.webToken(hash: hash))
            #expect(record.expiresAt - record.madeAt == Int64(seconds) * 1_000)
        }
    }

    @Test("Another account can be used, and nobody need be signed in")
    func another() throws {
        let path = try server.signInPath(server.apiToken())
        try browser.get(path)
        try browser.signIn(path)
        try browser.get(path)
        #expect(try browser.post(path, ["step": "switch"]).status == 303)
        #expect(browser.cookies["__Host-lenticular-session"] == nil)
        #expect(try browser.get(path).text.contains("type=\"password\""))
        let cancelled = try browser.post(path, ["step": "cancel"])
        #expect(cancelled.attribute("data-error") == "accessError")
        #expect(cancelled.attribute("data-token") == nil)
    }
}
