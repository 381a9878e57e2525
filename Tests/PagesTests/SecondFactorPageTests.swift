import Accounts
import CloudModel
import Cryptography
import Foundation
import QRCode
import Storage
import Testing

@testable import Pages

@Suite("Two-factor authentication on the pages")
struct SecondFactorPageTests {
    let server: PageServer
    let browser: Browser

    init() throws {
        server = try PageServer()
        browser = Browser(server)
        try server.user()
        try browser.get("/sign-in")
        try browser.signIn("/sign-in")
    }

    @Test("A code counts also after a password that is hashed anew by that sign-in")
    func outdatedHash() throws {
        let mo = try Users(
            catalog: server.catalog,
            costs: PasswordHash.Costs(bits: 9, blockSize: 8, parallelism: 1)
        ).create(email: "mo@example.org", password: Array("correct horse".utf8), now: server.now)
        let factors = server.accountUseCases.secondFactors
        let secret = factors.makeSecret()
        let (codes, step) = (TimeCodes(secret: secret), TimeCodes.step(at: server.now))
        let recovery = try factors.set(
            secret: secret, code: codes.code(ofStep: step - 1), of: mo.id, now: server.now)
        #expect(recovery != nil)
        let browser = Browser(server)
        try browser.get("/sign-in")
        let asked = try browser.signIn("/sign-in", "mo@example.org")
        let pageToken = try #require(asked.attribute("name=\"pass\" value"))
        let done = try browser.post(
            "/sign-in", ["step": "code", "pass": pageToken, "code": codes.code(ofStep: step)])
        #expect(done.header("Location") == "/account")
    }

    /// What the page shows that is between two texts.
    private func piece(_ shown: Shown, after start: String, before end: String) throws -> String {
        let from = try #require(shown.text.range(of: start)?.upperBound)
        let to = try #require(shown.text[from...].range(of: end)?.lowerBound)
        return String(shown.text[from..<to])
    }

    /// Sets the second factor up, as its owner does.
    private func setUp() throws -> (codes: TimeCodes, recovery: [String], shown: Shown) {
        let page = try browser.get("/account/second-factor")
        let text = try piece(page, after: "Setup key: <code>", before: "</code>")
        #expect(page.text.contains("<svg"))
        let codes = TimeCodes(secret: Self.decoded(text))
        // Apps show it by the server's name, as the pages do.
        let address = codes.address(issuer: "Elm & Sync", account: "ida@example.org")
        let picture = QRCode(address)?.svg(label: Phrase.factorPicture.text)
        #expect(page.text.contains(picture ?? "no picture"))
        let pageToken = try #require(page.attribute("name=\"pass\" value"))
        let path = "/account/second-factor"
        #expect(
            try browser.post(path, ["do": "set", "pass": pageToken, "code": "000000"]).status == 422
        )
        let done = try browser.post(
            path, ["do": "set", "pass": pageToken, "code": code(codes)])
        #expect(done.status == 200)
        let shown = try piece(done, after: "<pre id=\"codes\">", before: "</pre>")
            .split(separator: "\n").map(String.init)
        #expect(shown.count == 10)
        // The pass that was used sets nothing a second time.
        try browser.get("/account")
        #expect(
            try browser.post(path, ["do": "set", "pass": pageToken, "code": "1"]).status == 303)
        return (codes, shown, done)
    }

    /// What an app reads from the secret that is shown (RFC 4648 §6).
    private static func decoded(_ text: String) -> [UInt8] {
        var (bits, count, bytes) = (UInt32(0), 0, [UInt8]())
        for letter in text {
            let value = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567").firstIndex(of: letter) ?? 0
            bits = bits << 5 | UInt32(value)
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }

    private func code(_ codes: TimeCodes) -> String {
        codes.code(ofStep: TimeCodes.step(at: server.now))
    }

    /// A browser whose owner has typed the right password, and the pass that it got.
    private func halfway(
        _ path: String = "/sign-in", keep: Bool = false
    ) throws -> (browser: Browser, pageToken: String) {
        let other = Browser(server)
        try other.get(path)
        let asked = try other.signIn(path, keep: keep)
        #expect(asked.status == 200 && asked.text.contains("one-time-code"))
        #expect(other.cookies["__Host-lenticular-session"] == nil)
        return (other, try #require(asked.attribute("name=\"pass\" value")))
    }

    @Test("Who has set it up is asked for a code after the password, and nobody comes in without")
    func asked() throws {
        let (codes, recovery, _) = try setUp()
        server.clock.advance(60_000)
        _ = try server.letters()
        let (other, pageToken) = try halfway()
        #expect(try other.get("/account").header("Location") == "/sign-in")
        #expect(try server.letters().isEmpty)
        let wrong = try other.post(
            "/sign-in", ["step": "code", "pass": pageToken, "code": "123456"])
        #expect(wrong.status == 403 && wrong.text.contains("one-time-code"))
        let right = try other.post(
            "/sign-in", ["step": "code", "pass": pageToken, "code": code(codes)])
        #expect(right.header("Location") == "/account")
        #expect(try other.get("/account").text.contains("10 recovery codes are left"))
        #expect(try server.letters().map(\.text.subject) == ["New sign-in to your account"])
        // The same code and the same pass let nobody else in.
        #expect(
            try other.post("/sign-in", ["step": "code", "pass": pageToken, "code": code(codes)])
                .status
                == 403)
        let (third, again) = try halfway()
        #expect(
            try third.post("/sign-in", ["step": "code", "pass": again, "code": recovery[0]])
                .header("Location") == "/account")
    }

    @Test("A pass of another browser, of before a new password, or that is too old is none")
    func foreign() throws {
        let codes = try setUp().codes
        server.clock.advance(60_000)
        let (_, pageToken) = try halfway()
        let thief = Browser(server)
        try thief.get("/sign-in")
        for (who, given) in [(thief, pageToken), (thief, ""), (thief, "nonsense")] {
            let refused = try who.post(
                "/sign-in", ["step": "code", "pass": given, "code": code(codes)])
            #expect(refused.status == 403 && refused.text.contains("has timed out"))
        }
        let (late, old) = try halfway()
        server.clock.advance(300_000)
        #expect(
            try late.post("/sign-in", ["step": "code", "pass": old, "code": code(codes)])
                .text.contains("has timed out"))
        let (previous, before) = try halfway()
        _ = try Users(catalog: server.catalog, costs: server.settings.passwordCosts).setPassword(
            Array("battery staple".utf8), email: "ida@example.org")
        #expect(
            try previous.post("/sign-in", ["step": "code", "pass": before, "code": code(codes)])
                .text.contains("has timed out"))
    }

    @Test("An app's sign-in asks for the code, too, and keeps what was asked before it")
    func ticket() throws {
        let codes = try setUp().codes
        server.clock.advance(60_000)
        let api = try server.apiToken()
        let path = try server.signInPath(api)
        let (other, pageToken) = try halfway(path, keep: true)
        let wrong = try other.post(path, ["step": "code", "pass": pageToken, "code": "1"])
        #expect(wrong.status == 403 && wrong.text.contains("wants to access your account"))
        let right = try other.post(path, ["step": "code", "pass": pageToken, "code": code(codes)])
        #expect(right.header("Location") == path)
        #expect(right.headers.contains { $0.value.contains("Max-Age=2592000") })
        try other.get(path)
        let done = try other.post(path, ["step": "continue"])
        let token = try #require(done.attribute("data-token"))
        #expect(server.caller(token, api) != nil)
    }

    @Test("A link to a new password does not pass the second factor by")
    func reset() throws {
        let codes = try setUp().codes
        server.clock.advance(60_000)
        let other = Browser(server)
        try other.get("/sign-in/forgotten")
        try other.post("/sign-in/forgotten", ["address": "ida@example.org"])
        let letter = try #require(try server.letters().last)
        let line = try #require(
            letter.text.body.split(separator: "\n").first { $0.hasPrefix("https:") })
        let path = String(line.dropFirst("https://sync.example".count))
        try other.get(path)
        let asked = try other.post(path, ["password": "battery staple"])
        #expect(asked.status == 200 && asked.text.contains("action=\"/sign-in\""))
        #expect(try other.get("/account").status == 303)
        let pageToken = try #require(asked.attribute("name=\"pass\" value"))
        try other.get("/sign-in")
        #expect(
            try other.post("/sign-in", ["step": "code", "pass": pageToken, "code": code(codes)])
                .header("Location") == "/account")
    }

    @Test("Setting it up and removing it asks who is there, once ten minutes are over")
    func proof() throws {
        let codes = try setUp().codes
        #expect(server.noted.all == ["second factor added"])
        server.clock.advance(600_000)
        let path = "/account/second-factor"
        let prove = "/account/prove?to=second-factor"
        #expect(try browser.get(path).header("Location") == prove)
        #expect(try browser.post(path, ["do": "remove"]).header("Location") == prove)
        try browser.get(prove)
        #expect(
            try browser.post(prove, ["present": "wrong", "code": code(codes)]).text
                .contains("Incorrect password or code."))
        // The password alone is not enough any more.
        #expect(try browser.post(prove, ["present": "correct horse"]).status == 403)
        let proved = try browser.post(prove, ["present": "correct horse", "code": code(codes)])
        #expect(proved.header("Location") == path)
        #expect(try browser.get(path).text.contains("10 recovery codes are left"))
        #expect(try browser.post(path, ["do": "remove"]).header("Location") == "/account")
        #expect(server.noted.all == ["second factor added", "second factor removed"])
        #expect(try browser.get("/account").text.contains("Two-factor authentication is off."))
        let other = Browser(server)
        try other.get("/sign-in")
        #expect(try other.signIn("/sign-in").header("Location") == "/account")
        // What comes after it is no address of others.
        try browser.get("/account/prove?to=//evil.example")
        let elsewhere = try browser.post(
            "/account/prove?to=//evil.example", ["present": "correct horse"])
        #expect(elsewhere.header("Location") == "/account")
        #expect(try Browser(server).get(prove).header("Location") == "/sign-in")
    }

    @Test("Recovery codes can be copied and downloaded, and are not sent anywhere for it")
    func recoveryCodes() throws {
        let (_, recovery, set) = try setUp()
        #expect(set.text.contains("hidden data-copies=\"codes\""))
        #expect(set.header("Content-Security-Policy")?.contains("script-src 'self'") == true)
        let file = try piece(set, after: "charset=utf-8;base64,", before: "\"")
        let bytes = try #require(Base64.decode(file))
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == "Elm & Sync\n\n\(recovery.joined(separator: "\n"))\n")
        #expect(set.text.contains("<a class=\"button second\" download=\"recovery-codes.txt\""))
        #expect(try browser.get("/sign-in/copy.js").text.contains("navigator.clipboard"))
    }

    @Test("What cannot be noted is not done")
    func unnoted() throws {
        struct Full: Error {}
        let settings = server.settings
        let accountUseCases = try AccountUseCases(
            catalog: server.catalog, secrets: .forTests(), settings: settings, signUp: .open,
            letterKinds: [.email], publicBaseURL: "https://sync.example",
            note: { _, _, _ in throw Full() })
        _ = try setUp()
        let id = try #require(try Users(catalog: server.catalog).list().items.first?.id)
        let responder = try PagesResponder(
            accountUseCases, clock: Clock { [clock = server.clock] in clock.now }, observe: { _ in }
        )
        try browser.get("/account/second-factor")
        let refused = try browser.through(responder) {
            try $0.post("/account/second-factor", ["do": "remove"])
        }
        #expect(refused.status == 500)
        #expect(try server.catalog.secondFactor(of: id) != nil)
    }
}
