import Accounts
import CloudModel
import Cryptography
import Dispatch
import Foundation
import Storage
import Synchronization
import Testing

@testable import Pages

/// An authenticator of the tests' own.
struct StandInAuthenticator {
    let key = P256PrivateKey()
    let id: [UInt8]
    let origin: String

    init(id: UInt8 = 3, origin: String = "https://sync.example") {
        self.id = [UInt8](repeating: id, count: 16)
        self.origin = origin
    }

    private func clientData(_ type: String, _ challenge: String) -> [UInt8] {
        Array(
            "{\"type\":\"\(type)\",\"challenge\":\"\(challenge)\",\"origin\":\"\(origin)\"}".utf8)
    }

    private func data(flags: UInt8, count: UInt8, rest: [UInt8] = []) -> [UInt8] {
        SHA256.digest(Array("sync.example".utf8)) + [flags, 0, 0, 0, count] + rest
    }

    private static func text(_ bytes: [UInt8]) -> String { Base64.encode(bytes, .urlSafe) }

    /// What a page sends that had a passkey made.
    func made(_ challenge: String) -> [String: String] {
        let point = key.publicKey.point
        let cose: [UInt8] =
            [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20] + point[1..<33]
            + [0x22, 0x58, 0x20] + point[33...]
        let credential = [UInt8](repeating: 0, count: 16) + [0, UInt8(id.count)] + id + cose
        let data = data(flags: 0x45, count: 0, rest: credential)
        let object: [UInt8] =
            [0xA3, 0x63] + Array("fmt".utf8) + [0x64] + Array("none".utf8) + [0x67]
            + Array("attStmt".utf8) + [0xA0, 0x68] + Array("authData".utf8)
            + [0x58, UInt8(data.count)] + data
        return [
            "id": Self.text(id), "data": Self.text(object), "signature": "",
            "client-data": Self.text(clientData("webauthn.create", challenge)),
        ]
    }

    /// What a page sends that had it used.
    func used(_ challenge: String, isVerified: Bool = true, count: UInt8 = 0) -> [String: String] {
        let client = clientData("webauthn.get", challenge)
        let data = data(flags: isVerified ? 0x05 : 0x01, count: count)
        return [
            "id": Self.text(id), "data": Self.text(data), "client-data": Self.text(client),
            "signature": Self.text(key.sign(data + SHA256.digest(client))),
        ]
    }
}

@Suite("Passkeys on the pages")
struct PasskeyPageTests {
    let server: PageServer
    let browser: Browser
    let authenticator = StandInAuthenticator()

    init() throws {
        server = try PageServer()
        browser = Browser(server)
        try server.user()
        try browser.get("/sign-in")
        try browser.signIn("/sign-in")
    }

    private func question(_ shown: Shown) throws -> (challenge: String, pageToken: String) {
        (
            try #require(shown.attribute("data-challenge")),
            try #require(shown.attribute("name=\"pass\" value"))
        )
    }

    private func register() throws {
        let asked = try question(browser.get("/account/passkeys"))
        let done = try browser.post(
            "/account/passkeys",
            authenticator.made(asked.challenge).merging(["do": "add", "pass": asked.pageToken]) {
                $1
            })
        #expect(done.header("Location") == "/account/passkeys", "\(done.text)")
    }

    /// Signs in at another browser.
    private func use(
        _ other: Browser, _ with: StandInAuthenticator? = nil, isVerified: Bool = true,
        count: UInt8 = 0
    ) throws -> Shown {
        let asked = try question(other.get("/sign-in"))
        let answer = (with ?? authenticator).used(
            asked.challenge, isVerified: isVerified, count: count)
        return try other.post(
            "/sign-in", answer.merging(["step": "passkey", "pass": asked.pageToken]) { $1 })
    }

    @Test("A passkey that was made on the account page signs its owner in without a password")
    func signIn() throws {
        try register()
        #expect(server.noted.all == ["passkey added"])
        #expect(try browser.get("/account/passkeys").text.contains("Firefox, Linux"))
        let other = Browser(server)
        #expect(try use(other).header("Location") == "/account")
        #expect(try other.get("/account").text.contains("Ida Roe"))
        let page = try Browser(server).get("/sign-in")
        #expect(page.text.contains("/sign-in/passkey.js"))
        #expect(
            page.header("Content-Security-Policy")?.contains("script-src 'self';") == true)
        #expect(try browser.get("/sign-in/passkey.js").text.contains("navigator.credentials"))
    }

    @Test("Who ticks it stays signed in by a passkey, and nobody else does")
    func kept() throws {
        try register()
        for (keep, isKept) in [("1", true), ("", false)] {
            let other = Browser(server)
            let asked = try question(other.get("/sign-in"))
            let done = try other.post(
                "/sign-in",
                authenticator.used(asked.challenge).merging([
                    "step": "passkey", "pass": asked.pageToken, "keep": keep,
                ]) { $1 })
            let cookie = done.headers.first { $0.value.contains("lenticular-session=") }?.value
            #expect(try #require(cookie).contains("; Max-Age=2592000") == isKept)
        }
        #expect(try browser.get("/sign-in/passkey.js").text.contains("set('keep'"))
    }

    @Test("Another key, another page, another browser's question and a used one let nobody in")
    func refused() throws {
        try register()
        for stranger in [
            StandInAuthenticator(), StandInAuthenticator(id: 4),
            StandInAuthenticator(origin: "https://sync.example.evil"),
        ] {
            let other = Browser(server)
            #expect(try use(other, stranger).status == 403)
            #expect(try other.get("/account").status == 303)
        }
        let asked = try question(Browser(server).get("/sign-in"))
        let thief = Browser(server)
        try thief.get("/sign-in")
        let answer = authenticator.used(asked.challenge)
            .merging(["step": "passkey", "pass": asked.pageToken]) { $1 }
        #expect(try thief.post("/sign-in", answer).status == 403)
        // A question of the account page is none of the sign-in page.
        let own = try question(browser.get("/account/passkeys"))
        try browser.get("/sign-in/forgotten")
        let mixed = authenticator.used(own.challenge)
            .merging(["step": "passkey", "pass": own.pageToken]) { $1 }
        #expect(try browser.post("/sign-in", mixed).status == 403)
        // One whose time is over.
        let late = Browser(server)
        let old = try question(late.get("/sign-in"))
        server.clock.advance(600_000)
        let stale = authenticator.used(old.challenge)
            .merging(["step": "passkey", "pass": old.pageToken]) { $1 }
        #expect(try late.post("/sign-in", stale).status == 403)
    }

    @Test("One answer of an authenticator lets one of 64 in")
    func race() throws {
        try register()
        let first = Browser(server)
        let asked = try question(first.get("/sign-in"))
        let answer = authenticator.used(asked.challenge)
            .merging(["step": "passkey", "pass": asked.pageToken]) { $1 }
            .merging(["guard": first.last?.guardField ?? ""]) { $1 }
        let cookies = first.cookies
        let arrived = Mutex(0)
        let server = server
        DispatchQueue.concurrentPerform(iterations: 64) { number in
            let one = Browser(server)
            one.take(cookies)
            one.client = "192.0.2.\(number)"
            if (try? one.post("/sign-in", answer))?.header("Location") == "/account" {
                arrived.withLock { $0 += 1 }
            }
        }
        #expect(arrived.withLock { $0 } == 1)
    }

    @Test("A counter that does not go on is a copied key's")
    func counter() throws {
        try register()
        #expect(try use(Browser(server), count: 5).header("Location") == "/account")
        #expect(try use(Browser(server), count: 5).status == 403)
        #expect(try use(Browser(server), count: 4).status == 403)
        #expect(try use(Browser(server), count: 6).header("Location") == "/account")
    }

    @Test("A passkey that asked who is there is both factors; one that did not is the first")
    func factors() throws {
        try register()
        let id = try #require(try Users(catalog: server.catalog).list().items.first?.id)
        let secret = server.accountUseCases.secondFactors.makeSecret()
        _ = try server.accountUseCases.secondFactors.set(
            secret: secret,
            code: TimeCodes(secret: secret).code(ofStep: TimeCodes.step(at: server.now)),
            of: id, now: server.now)
        #expect(try use(Browser(server)).header("Location") == "/account")
        let asked = try use(Browser(server), isVerified: false)
        #expect(asked.status == 200 && asked.text.contains("one-time-code"))
    }

    @Test("Passkeys are removed by their owner alone, and the last way in stays")
    func removal() throws {
        try register()
        let name = String(repeating: "03", count: 16)
        try server.user("mo@example.org", given: "Mo")
        let mo = Browser(server)
        try mo.get("/sign-in")
        try mo.signIn("/sign-in", "mo@example.org")
        try mo.get("/account/passkeys")
        try mo.post("/account/passkeys", ["do": "remove", "name": name])
        #expect(try use(Browser(server)).header("Location") == "/account")
        // Nor does a second account get the same passkey.
        let asked = try question(mo.get("/account/passkeys"))
        let taken = try mo.post(
            "/account/passkeys",
            authenticator.made(asked.challenge).merging(["do": "add", "pass": asked.pageToken]) {
                $1
            })
        #expect(taken.status == 422)
        try browser.get("/account/passkeys")
        #expect(
            try browser.post("/account/passkeys", ["do": "remove", "name": name])
                .header("Location") == "/account/passkeys")
        #expect(try use(Browser(server)).status == 403)
        server.clock.advance(600_000)
        #expect(
            try browser.get("/account/passkeys").header("Location")
                == "/account/prove?to=passkeys")
    }

    @Test("Where the server is known by a number, no passkeys are offered")
    func numbers() throws {
        for base in ["http://127.0.0.1:8080", "http://[::1]:8080"] {
            let server = try PageServer(base: base)
            #expect(try !Browser(server).get("/sign-in").text.contains("data-passkey"))
        }
    }
}
