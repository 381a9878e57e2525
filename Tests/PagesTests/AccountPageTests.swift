import Accounts
import CloudModel
import Cryptography
import Foundation
import Storage
import Testing

@testable import Pages

@Suite("The account page and the pages of letters")
struct AccountPageTests {
    let server: PageServer
    let browser: Browser

    init() throws {
        server = try PageServer()
        browser = Browser(server)
        try server.user()
    }

    private func signIn(_ browser: Browser, _ password: String = "correct horse") throws {
        try browser.get("/sign-in")
        #expect(
            try browser.signIn("/sign-in", "ida@example.org", password).header("Location")
                == "/account")
        try browser.get("/account")
    }

    /// The last part of the link in a letter.
    private func secret(_ text: LetterText) throws -> String {
        let line = try #require(text.body.split(separator: "\n").first { $0.hasPrefix("https:") })
        return String(line.split(separator: "/").last ?? "")
    }

    @Test(
        "A password that was forgotten is replaced by a link, and what was signed in is not any more"
    )
    func reset() throws {
        let old = Browser(server)
        try signIn(old)
        _ = try server.letters()
        try browser.get("/sign-in/forgotten")
        let known = try browser.post("/sign-in/forgotten", ["address": "ida@example.org"])
        try browser.get("/sign-in/forgotten")
        let unknown = try browser.post("/sign-in/forgotten", ["address": "no@example.org"])
        #expect(known.status == 200 && known.text == unknown.text)
        let letters = try server.letters()
        #expect(letters.map(\.address) == ["ida@example.org"])
        let secret = try secret(letters[0].text)
        let path = "/sign-in/reset/\(secret)"
        #expect(try browser.get(path).status == 200)
        #expect(try browser.post(path, ["password": "short"]).status == 422)
        let done = try browser.post(path, ["password": "battery staple"])
        #expect(done.header("Location") == "/account")
        #expect(try browser.get("/account").text.contains("Ida Roe"))
        #expect(try browser.get(path).status == 404)
        #expect(try old.get("/account").header("Location") == "/sign-in")
        try signIn(Browser(server), "battery staple")
    }

    @Test("Where signing up is open, a link to the address makes the account")
    func signUp() throws {
        try browser.get("/sign-in/new")
        try browser.post("/sign-in/new", ["address": "noor@example.org"])
        let letters = try server.letters()
        #expect(letters.count == 1)
        let path = "/sign-in/welcome/\(try secret(letters[0].text))"
        #expect(try browser.get(path).text.contains("noor@example.org"))
        let done = try browser.post(path, ["given": "Noor", "password": "password 1"])
        #expect(done.header("Location") == "/account")
        #expect(try browser.get("/account").text.contains("Noor"))
        #expect(try Browser(server).get(path).status == 404)
        // For who has an account the page says the same, and the letter says why.
        let other = Browser(server)
        try other.get("/sign-in/new")
        let again = try other.post("/sign-in/new", ["address": "noor@example.org"])
        #expect(again.status == 200)
        #expect(try server.letters()[0].text.subject == "You already have an account")
    }

    @Test("Where signing up is by invitation or off, nobody asks for an account")
    func closed() throws {
        for mode in [SignUpMode.invitation, .off] {
            let server = try PageServer(signUp: mode)
            let browser = Browser(server)
            #expect(try browser.get("/sign-in/new").status == 404)
            #expect(try !browser.get("/sign-in").text.contains("/sign-in/new"))
            try browser.post("/sign-in/new", ["address": "a@example.org"])
            #expect(try server.letters().isEmpty)
        }
    }

    @Test("Browsers and apps are listed, and signed out one by one or all but this one")
    func sessions() throws {
        let phone = Browser(server)
        phone.agent = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0) Safari/605.1"
        try signIn(phone)
        try signIn(browser)
        let api = try server.apiToken()
        let web = try WebTokens(catalog: server.catalog).create(
            container: server.container, environment: .development, email: "ida@example.org",
            now: server.now)
        let page = try browser.get("/account")
        #expect(page.text.contains("Safari, iPhone, last used 2026-01-01"))
        #expect(page.text.contains("Firefox, Linux (this device)"))
        #expect(page.text.contains("<strong>\(PageServer.container)</strong> (development)"))
        let name = try #require(page.attribute("name=\"name\" value"))
        try browser.post("/account", ["do": "end-browser", "name": name])
        #expect(try phone.get("/account").header("Location") == "/sign-in")
        try signIn(phone)
        #expect(server.caller(web.token, api) != nil)
        try browser.get("/account")
        try browser.post("/account", ["do": "end-all"])
        #expect(server.caller(web.token, api) == nil)
        #expect(try phone.get("/account").status == 303)
        #expect(try browser.get("/account").status == 200)
        try browser.post("/sign-in/out", [:])
        #expect(try browser.get("/account").status == 303)
    }

    @Test("One's own sessions are ended, never another's")
    func others() throws {
        try server.user("mo@example.org", given: "Mo")
        let mo = Browser(server)
        try mo.get("/sign-in")
        try mo.signIn("/sign-in", "mo@example.org")
        let second = Browser(server)
        try second.get("/sign-in")
        try second.signIn("/sign-in", "mo@example.org")
        let name = try #require(try mo.get("/account").attribute("name=\"name\" value"))
        try signIn(browser)
        try browser.post("/account", ["do": "end-browser", "name": name])
        #expect(try mo.get("/account").status == 200 && second.get("/account").status == 200)
    }

    @Test("A new password needs the present one, and guesses at it are counted")
    func password() throws {
        try signIn(browser)
        let wrong = try browser.post(
            "/account", ["do": "password", "present": "x", "password": "battery staple"])
        #expect(wrong.status == 403)
        #expect(
            try browser.post(
                "/account", ["do": "password", "present": "correct horse", "password": "x"]
            ).status == 422)
        let done = try browser.post(
            "/account",
            ["do": "password", "present": "correct horse", "password": "battery staple"])
        #expect(done.status == 200 && done.text.contains("role=\"status\""))
        #expect(try browser.get("/account").status == 200)
        for _ in 0..<5 { try browser.post("/account", ["do": "password", "present": "x"]) }
        #expect(try browser.post("/account", ["do": "password", "present": "x"]).status == 429)
    }

    @Test("A further address becomes one's own by the code in the letter")
    func address() throws {
        try signIn(browser)
        _ = try server.letters()
        let asked = try browser.post(
            "/account", ["do": "add-address", "address": "ida@work.example"])
        #expect(asked.text.contains("one-time-code"))
        let letter = try #require(try server.letters().first)
        #expect(letter.address == "ida@work.example")
        let code = String(letter.text.body.split(separator: "\n").first { $0.count == 9 } ?? "")
        let wrong = try browser.post(
            "/account", ["do": "prove-address", "address": "ida@work.example", "code": "1"])
        #expect(wrong.status == 422)
        let done = try browser.post(
            "/account", ["do": "prove-address", "address": "ida@work.example", "code": code])
        #expect(done.status == 200 && done.text.contains("<li>ida@work.example</li>"))
    }

    @Test("An address is added by who showed lately who they are")
    func addressProof() throws {
        try signIn(browser)
        _ = try server.letters()
        server.clock.advance(600_000)
        let asked = try browser.post(
            "/account", ["do": "add-address", "address": "thief@evil.example"])
        let prove = try #require(asked.header("Location"))
        #expect(prove.hasPrefix("/account/prove"))
        #expect(try server.letters().isEmpty)
        try browser.get(prove)
        let back = try #require(
            try browser.post(prove, ["present": "correct horse"]).header("Location"))
        // What was typed before is there again, in this browser alone.
        let page = try browser.get(back)
        #expect(page.text.contains("value=\"thief@evil.example\" autofocus>"))
        let other = Browser(server)
        try signIn(other)
        #expect(try !other.get(back).text.contains("thief@evil.example"))
        _ = try server.letters()
        try browser.get("/account?address=%3Cb%3E")
        try browser.post("/account", ["do": "add-address", "address": "ida@work.example"])
        #expect(try server.letters().map(\.address) == ["ida@work.example"])
    }

    @Test("Being found by others is off until its owner says so")
    func findable() throws {
        let id = try #require(try Users(catalog: server.catalog).list().items.first?.id)
        try signIn(browser)
        #expect(try server.catalog.account(id)?.isDiscoverable == false)
        try browser.post("/account", ["do": "findable", "findable": "1"])
        #expect(try server.catalog.account(id)?.isDiscoverable == true)
        #expect(try browser.get("/account").text.contains("checked"))
        try browser.post("/account", ["do": "findable"])
        #expect(try server.catalog.account(id)?.isDiscoverable == false)
    }

    @Test("A browser that was not known is told of, one that was is not")
    func newDevice() throws {
        try signIn(browser)
        let letters = try server.letters()
        #expect(letters.map(\.text.subject) == ["New sign-in to your account"])
        #expect(letters[0].text.body.contains("Firefox, Linux"))
        try browser.post("/sign-in/out", [:])
        try signIn(browser)
        #expect(try server.letters().isEmpty)
    }

    @Test("The log knows pages by their names, never by what stands in their addresses")
    func logged() throws {
        let api = try server.apiToken()
        try browser.get(try server.signInPath(api))
        try browser.get("/sign-in/reset/secret-secret")
        try browser.get("/account")
        #expect(
            Set(server.log.all.map(\.page)) == ["sign-in/ticket", "sign-in/reset", "account"])
    }
}
