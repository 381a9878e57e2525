import Accounts
import CloudModel
import Cryptography
import Dispatch
import Foundation
import Storage
import Synchronization
import Testing

@testable import Pages

@Suite("Signing in by way of an identity provider")
struct ProviderPageTests {
    let provider = StandInProvider()
    let server: PageServer
    let browser: Browser

    init() throws {
        server = try PageServer(fetch: provider)
        browser = Browser(server)
        try add()
    }

    @discardableResult
    private func add(
        to server: PageServer? = nil, trustsEmail: Bool = false, secret: String? = nil,
        formPost: Bool = false
    ) throws -> IdentityProviderRecord {
        try (server ?? self.server).accountUseCases.identityProviders.add(
            name: "Id", issuer: StandInProvider.issuer, client: StandInProvider.client,
            secret: secret.map { Array($0.utf8) }, signingKey: nil, trustsEmail: trustsEmail,
            usesFormPost: formPost, now: 1)
    }

    /// Sends a browser to the provider; the path by which it comes back.
    private func leave(
        _ browser: Browser, target: String = "/account", linking: Bool = false
    ) throws -> String {
        if browser.last?.guardField == nil { try browser.get("/sign-in") }
        let away = try browser.post(
            "/sign-in/with",
            ["provider": "Id", "target": target, "do": linking ? "link" : "sign-in"])
        #expect(away.status == 200, "\(away.text)")
        let (state, code) = try provider.letIn(try #require(address(in: away)))
        return "/sign-in/back?state=\(state)&code=\(code)"
    }

    private func address(in shown: Shown) -> String? {
        guard let start = shown.text.range(of: "href=\"\(StandInProvider.issuer)") else {
            return nil
        }
        let rest = shown.text[start.upperBound...].prefix { $0 != "\"" }
        return StandInProvider.issuer + rest.replacing("&amp;", with: "&")
    }

    private func accounts() throws -> [AccountRecord] {
        try Users(catalog: server.catalog).list().items
    }

    @Test("Who comes back with a token for this sign-in is in, and is the same the next time")
    func signIn() throws {
        #expect(try browser.get("/sign-in").text.contains("Sign in with Id"))
        let back = try browser.get(try leave(browser))
        #expect(back.header("Location") == "/account")
        #expect(try browser.get("/account").text.contains("Ida"))
        let other = Browser(server)
        #expect(try other.get(try leave(other)).header("Location") == "/account")
        #expect(try accounts().count == 1)
        // Another subject is another person.
        provider.say(["sub": "\"subject 2\""])
        let third = Browser(server)
        #expect(try third.get(try leave(third)).header("Location") == "/account")
        #expect(try accounts().count == 2)
    }

    @Test("Who ticks it on the form stays signed in by way of a provider, and nobody else does")
    func kept() throws {
        let form = try browser.get("/sign-in").text
        let start = try #require(form.range(of: "<form method=\"post\" action=\"/sign-in\">"))
        let end = try #require(form.range(of: "</form>", range: start.upperBound..<form.endIndex))
        let fields = form[start.upperBound..<end.lowerBound]
        #expect(fields.contains("name=\"keep\"") && fields.contains("name=\"provider\""))
        for (keep, seconds) in [("1", "; Max-Age=2592000"), ("", nil)] as [(String, String?)] {
            let visitor = Browser(server)
            try visitor.get("/sign-in")
            let away = try visitor.post(
                "/sign-in/with", ["provider": "Id", "target": "/account", "keep": keep])
            let (state, code) = try provider.letIn(try #require(address(in: away)))
            let back = try visitor.get("/sign-in/back?state=\(state)&code=\(code)")
            let cookie = back.headers.first { $0.value.contains("lenticular-session=") }?.value
            #expect(try #require(cookie).contains("; Max-Age=") == (seconds != nil))
            if let seconds { #expect(cookie?.contains(seconds) == true) }
        }
    }

    @Test("An address links nobody, and is verified only where the provider is trusted in that")
    func addresses() throws {
        try server.user("ida@example.org")
        try browser.get(try leave(browser))
        // Somebody else, although the provider calls them ida@example.org.
        let made = try #require(try accounts().first { $0.password == nil })
        #expect(try accounts().count == 2 && made.addresses.isEmpty)
        let trusting = try PageServer(fetch: provider)
        try add(to: trusting, trustsEmail: true)
        for (claims, expected) in [
            (["email_verified": "false", "sub": "\"a\""], []),
            (["sub": "\"b\""], ["ida@example.org"]),
            (["sub": "\"c\""], []),
        ] as [([String: String], [String])] {
            provider.say(claims)
            let visitor = Browser(trusting)
            #expect(try visitor.get(try leave(visitor)).header("Location") == "/account")
            let account = try #require(
                try trusting.catalog.account(
                    of: ProvidedIdentity(
                        issuer: StandInProvider.issuer,
                        subject: claims["sub"]?.replacing("\"", with: "") ?? "")))
            #expect(account.addresses.map(\.address.text) == expected, "\(claims)")
        }
    }

    @Test(
        "What comes back to another browser, later, again or with another state counts for nothing")
    func foreign() throws {
        let path = try leave(browser)
        let thief = Browser(server)
        try thief.get("/sign-in")
        #expect(try thief.get(path).status == 403)
        #expect(try thief.get("/account").status == 303)
        #expect(try browser.get(path.replacing("state=", with: "state=x")).status == 403)
        // The pass went with that answer.
        #expect(try browser.get(path).status == 403)
        let late = try leave(browser)
        server.clock.advance(900_000)
        #expect(try browser.get(late).status == 403)
        let refused = try leave(browser)
        let state = refused.split(separator: "&")[0]
        #expect(try browser.get("\(state)&error=access_denied").status == 403)
        #expect(try accounts().isEmpty)
    }

    @Test("One answer of a provider lets one of 64 in")
    func race() throws {
        let path = try leave(browser)
        let cookies = browser.cookies
        let arrived = Mutex(0)
        let server = server
        DispatchQueue.concurrentPerform(iterations: 64) { number in
            let one = Browser(server)
            one.take(cookies)
            one.client = "192.0.2.\(number)"
            if (try? one.get(path))?.header("Location") == "/account" {
                arrived.withLock { $0 += 1 }
            }
        }
        #expect(arrived.withLock { $0 } == 1)
        #expect(try accounts().count == 1)
    }

    @Test(
        "A token that is not believed lets nobody in, and the log says why",
        arguments: [
            ["iss": "\"https://evil.example\""], ["aud": "\"other\""], ["nonce": "\"other\""],
            ["exp": "1767225500"], ["iat": "1767999999"], ["sub": "\"\""],
        ])
    func refused(claims: [String: String]) throws {
        provider.say(claims)
        #expect(try browser.get(try leave(browser)).status == 403)
        #expect(try accounts().isEmpty)
        #expect(server.log.all.last?.failure?.contains("claim") == true)
    }

    @Test("A token without a signature, by a code or by a key that is not shown is refused")
    func signatures() throws {
        for algorithm in ["none", "HS256", "RS256"] {
            provider.sign(by: algorithm)
            let visitor = Browser(server)
            #expect(try visitor.get(try leave(visitor)).status == 403, "\(algorithm)")
        }
        provider.sign(by: "ES256")
        server.clock.advance(61_000)
        provider.rotate(showing: false)
        let visitor = Browser(server)
        #expect(try visitor.get(try leave(visitor)).status == 403)
        #expect(try accounts().isEmpty)
    }

    @Test(
        "New keys are fetched when a token is by one, and strangers cannot have them fetched often")
    func rotation() throws {
        try browser.get(try leave(browser))
        #expect(provider.asked.count { $0 == "keys" } == 1)
        server.clock.advance(61_000)
        provider.rotate()
        let other = Browser(server)
        #expect(try other.get(try leave(other)).header("Location") == "/account")
        #expect(provider.asked.count { $0 == "keys" } == 2)
        provider.rotate(showing: false)
        for _ in 0..<5 {
            let visitor = Browser(server)
            #expect(try visitor.get(try leave(visitor)).status == 403)
        }
        #expect(provider.asked.count { $0 == "keys" } == 2)
        #expect(provider.asked.count { $0 == "openid-configuration" } == 1)
    }

    @Test("A provider that is silent is told as such, and 20 ways to it are followed by waits")
    func silent() throws {
        provider.fallSilent()
        try browser.get("/sign-in")
        var answers: [Int] = []
        for _ in 0..<22 {
            answers.append(try browser.post("/sign-in/with", ["provider": "Id"]).status)
            try browser.get("/sign-in")
        }
        #expect(answers == Array(repeating: 502, count: 20) + [429, 429])
        #expect(server.log.all.contains { $0.failure?.contains("status 400") == true })
        #expect(try Browser(server).post("/sign-in/with", ["provider": "Id"]).status == 403)
    }

    @Test("An answer as a form, which comes without cookies, is taken where the cookies are")
    func formPost() throws {
        let server = try PageServer(fetch: provider)
        try add(to: server, formPost: true)
        let visitor = Browser(server)
        let path = try leave(visitor)
        let fields = path.split(separator: "?")[1]
        // As another site's page sends it.
        let stranger = Browser(server)
        let sent = try stranger.send(
            "/sign-in/back", method: .post, body: Array("\(fields)&user=%7B%7D".utf8),
            headers: [("Origin", StandInProvider.issuer), ("Sec-Fetch-Site", "cross-site")])
        let next = try #require(sent.header("Location"))
        #expect(sent.status == 303 && next.hasPrefix("/sign-in/back?"))
        #expect(try visitor.get(next).header("Location") == "/account")
    }

    @Test("A secret is kept sealed, and the provider gets it")
    func secret() throws {
        let server = try PageServer(fetch: provider)
        let kept = try add(to: server, secret: "s3cret s3cret")
        #expect(!Data(kept.secret ?? []).contains(Data("s3cret".utf8)))
        provider.demand(secret: "s3cret%20s3cret")
        let visitor = Browser(server)
        #expect(try visitor.get(try leave(visitor)).header("Location") == "/account")
    }

    @Test("A provider that wants its secrets signed, as Apple does, gets them by the sealed key")
    func signedSecret() throws {
        let key = P256PrivateKey()
        let server = try PageServer(fetch: provider)
        let providers = server.accountUseCases.identityProviders
        func add(_ secret: String?) throws -> IdentityProviderRecord {
            try providers.add(
                name: "Id", issuer: StandInProvider.issuer, client: StandInProvider.client,
                secret: secret.map { Array($0.utf8) },
                signingKey: IdentityProviderRecord.SigningKey(team: "TEAM", name: "K1"),
                trustsEmail: false, usesFormPost: true, now: 1)
        }
        for secret in [nil, "", "no key", key.publicKeyPEM] {
            #expect(throws: AccountsRefusal.clientSecretIllegal) { _ = try add(secret) }
        }
        let kept = try add(key.pem)
        #expect(!Data(kept.secret ?? []).contains(Data("PRIVATE".utf8)))
        provider.demand(signatureOf: key)
        let visitor = Browser(server)
        #expect(try visitor.get(try leave(visitor)).header("Location") == "/account")
        provider.demand(signatureOf: P256PrivateKey())
        let other = Browser(server)
        #expect(try other.get(try leave(other)).status == 502)
        for issuer in ["id.example", "ftp://id.example", "https://id.example?x", "https://i#x"] {
            #expect(throws: AccountsRefusal.issuerIllegal) {
                _ = try providers.add(
                    name: "B", issuer: issuer, client: "c", secret: nil, signingKey: nil,
                    trustsEmail: false, usesFormPost: false, now: 1)
            }
        }
    }

    @Test("In a window that an app waits for, the provider is shown in one of its own")
    func apart() throws {
        let path = try server.signInPath(server.apiToken())
        let page = try browser.get(path)
        #expect(
            page.text.contains(
                "formaction=\"/sign-in/with\" formnovalidate formtarget=\"_blank\""))
        #expect(page.text.contains("value=\"/sign-in/done\""))
        let callback = try server.apiToken(callback: "https://app.example/back", name: "b")
        #expect(try !browser.get(server.signInPath(callback)).text.contains("_blank"))
        #expect(try browser.get("/sign-in/done").text.contains("Close this window"))
    }

    @Test("Where accounts are made by invitation, only who has linked the provider comes in by it")
    func invitation() throws {
        let server = try PageServer(signUp: .invitation, fetch: provider)
        try add(to: server)
        try server.user()
        let visitor = Browser(server)
        #expect(try visitor.get(try leave(visitor)).status == 403)
        try visitor.get("/sign-in")
        try visitor.signIn("/sign-in")
        try visitor.get("/account/identities")
        let linked = try visitor.get(try leave(visitor, linking: true))
        #expect(linked.header("Location") == "/account")
        #expect(server.noted.all == ["identity added"])
        let other = Browser(server)
        #expect(try other.get(try leave(other)).header("Location") == "/account")
        #expect(try other.get("/account").text.contains("ida@example.org"))
        // Linking asks who is there, and takes nobody else's.
        try server.user("mo@example.org", given: "Mo")
        let mo = Browser(server)
        try mo.get("/sign-in")
        try mo.signIn("/sign-in", "mo@example.org")
        try mo.get("/account/identities")
        #expect(try mo.get(try leave(mo, linking: true)).status == 409)
        server.clock.advance(600_000)
        try mo.get("/account")
        #expect(
            try mo.post("/sign-in/with", ["provider": "Id", "do": "link"]).header("Location")
                == "/account/prove?to=identities")
    }

    @Test("A second factor is asked for after the provider, too")
    func factor() throws {
        try server.user()
        let id = try #require(try accounts().first?.id)
        try server.catalog.add(
            .identity(ProvidedIdentity(issuer: StandInProvider.issuer, subject: "subject 1")),
            of: id, now: 1)
        let secret = server.accountUseCases.secondFactors.makeSecret()
        let codes = TimeCodes(secret: secret)
        _ = try server.accountUseCases.secondFactors.set(
            secret: secret, code: codes.code(ofStep: TimeCodes.step(at: server.now)), of: id,
            now: server.now)
        let asked = try browser.get(try leave(browser))
        #expect(asked.status == 200 && asked.text.contains("one-time-code"))
        #expect(try browser.get("/account").status == 303)
    }

    @Test("Where somebody goes on afterwards is a page of this server")
    func targets() throws {
        for target in [
            "https://evil.example/", "//evil.example", "/accountant", "/\\evil.example",
            "/account\r\nX: y", "",
        ] {
            let visitor = Browser(server)
            #expect(
                try visitor.get(try leave(visitor, target: target)).header("Location")
                    == "/account", "\(target)")
        }
        let api = try server.apiToken(callback: "https://app.example/back")
        let path = try server.signInPath(api)
        let visitor = Browser(server)
        #expect(try visitor.get(path).text.contains("Sign in with Id"))
        #expect(try visitor.get(try leave(visitor, target: path)).header("Location") == path)
    }
}
