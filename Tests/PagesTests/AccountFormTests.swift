import Accounts
import CloudModel
import Cryptography
import Foundation
import Storage
import Testing

@testable import Pages

@Suite("Forms say what came of them where they are")
struct AccountFormTests {
    private let server: PageServer
    private let browser: Browser

    init() throws {
        server = try PageServer()
        browser = Browser(server)
        try server.user()
    }

    private func signIn(_ browser: Browser) throws {
        try browser.get("/sign-in")
        try browser.signIn("/sign-in")
        try browser.get("/account")
        _ = try server.letters()
    }

    /// The field of a name, with its attributes.
    private func field(_ name: String, _ page: Shown) -> Substring {
        page.text.split(separator: "<input ").first { $0.contains("name=\"\(name)\"") }?
            .prefix { $0 != ">" } ?? ""
    }

    @Test("A refused field is marked, has the focus, and the message stands beside its form")
    func refusals() throws {
        try signIn(browser)
        for (fields, heading, name, message) in [
            (
                ["do": "add-address", "address": "nobody"], "Contact info", "address",
                "Enter a valid e-mail address."
            ),
            (
                ["do": "password", "present": "x", "password": "battery staple"],
                "Change password", "present", "Incorrect password."
            ),
            (
                ["do": "password", "present": "correct horse", "password": "x"],
                "Change password", "password", "Passwords must have 8 to 1024 characters."
            ),
        ] {
            let page = try browser.post("/account", fields)
            #expect(page.title == "\(message) · Your account · Elm &amp; Sync")
            #expect(page.part(heading).contains("role=\"alert\" id=\"said\">\(message)</p>"))
            let field = field(name, page)
            #expect(
                field.contains("aria-invalid=\"true\"") && field.hasSuffix("autofocus"), "\(field)")
            #expect(field.contains("aria-describedby=\"said"), "\(field)")
            #expect(page.focusCount == 1 && page.text.ranges(of: "id=\"said\"").count == 1)
            #expect(page.text.ranges(of: "aria-invalid").count == 1)
        }
    }

    @Test("What was done is said beside its form, which has the focus")
    func notes() throws {
        try signIn(browser)
        for (fields, heading, message) in [
            (["do": "findable", "findable": "1"], "Privacy", "Saved."),
            (
                ["do": "password", "present": "correct horse", "password": "battery staple"],
                "Change password",
                "Password changed. All other devices and apps have been signed out."
            ),
        ] {
            let page = try browser.post("/account", fields)
            #expect(page.title.hasPrefix("\(message) · Your account"))
            #expect(
                page.part(heading).contains(
                    "role=\"status\" id=\"said\" tabindex=\"-1\" autofocus>\(message)"))
            #expect(page.focusCount == 1 && !page.text.contains("aria-invalid"))
        }
    }

    @Test("A wrong present password is said to be that, and nothing is said of an address")
    func presentPassword() throws {
        try signIn(browser)
        let wrong = try browser.post(
            "/account", ["do": "password", "present": "x", "password": "battery staple"])
        #expect(wrong.status == 403 && !wrong.text.contains("Incorrect e-mail"))
    }

    @Test("The form for a code is there again after a visit elsewhere, until the code is over")
    func awaitedCode() throws {
        try signIn(browser)
        let asked = try browser.post(
            "/account", ["do": "add-address", "address": "ida@work.example"])
        let part = asked.part("Contact info")
        #expect(part.contains("Verification code (ida@work.example)"))
        #expect(part.contains("A verification code has been sent"))
        #expect(asked.focusCount == 1 && field("code", asked).hasSuffix("autofocus"))
        // Before the letter has left, and when it has; in another browser, too.
        for _ in 0..<2 {
            let page = try browser.get("/account")
            #expect(page.part("Contact info").contains("Verification code (ida@work.example)"))
            #expect(page.focusCount == 0)
            #expect(page.part("Contact info").contains("value=\"add-address\" formnovalidate>"))
            let letters = try server.letters()
            #expect(letters.allSatisfy { $0.address == "ida@work.example" })
        }
        let wrong = try browser.post(
            "/account", ["do": "prove-address", "address": "IDA@work.example", "code": "1"])
        #expect(wrong.status == 422 && field("code", wrong).contains("aria-invalid=\"true\""))
        #expect(wrong.focusCount == 1)
        // Another code takes the first one's place.
        try browser.post("/account", ["do": "add-address", "address": "ida@work.example"])
        let letter = try #require(try server.letters().first)
        let code = String(letter.text.body.split(separator: "\n").first { $0.count == 9 } ?? "")
        let done = try browser.post(
            "/account", ["do": "prove-address", "address": "ida@work.example", "code": code])
        #expect(done.part("Contact info").contains("<li>ida@work.example</li>"))
        #expect(try !browser.get("/account").text.contains("one-time-code"))
        try browser.post("/account", ["do": "add-address", "address": "late@work.example"])
        _ = try server.letters()
        server.clock.advance(900_000)
        #expect(try !browser.get("/account").text.contains("one-time-code"))
    }

    @Test("Of addresses that wait for a code, another account sees none")
    func othersCodes() throws {
        try signIn(browser)
        try browser.post("/account", ["do": "add-address", "address": "ida@work.example"])
        try server.user("mo@example.org", given: "Mo")
        let mo = Browser(server)
        try mo.get("/sign-in")
        try mo.signIn("/sign-in", "mo@example.org")
        #expect(try !mo.get("/account").text.contains("ida@work.example"))
    }

    @Test("Two sign-ins of one app are told apart by origin, browser and time")
    func apps() throws {
        let api = try server.apiToken()
        for (origin, agent) in [
            ("https://a.example", "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"),
            ("https://b.example", "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0) Safari/605.1"),
        ] {
            let other = Browser(server)
            other.agent = agent
            let path = try server.signInPath(api, origin: origin)
            try other.get(path)
            try other.signIn(path)
            try other.get(path)
            try other.post(path, ["step": "continue"])
            server.clock.advance(120_000)
        }
        try signIn(browser)
        let part = try browser.get("/account").part("Connected apps")
        for text in [
            "https://a.example, Firefox, Linux, signed in 2026-01-01 00:00 UTC, ",
            "https://b.example, Safari, iPhone, signed in 2026-01-01 00:02 UTC, ",
        ] {
            #expect(part.contains("<p class=\"quiet\">\(text)"), "\(text)")
            #expect(part.contains("aria-label=\"Remove access: \(PageServer.container), \(text)"))
        }
    }

    @Test(
        "A token that took another's place keeps where and when its owner signed in, a code's too")
    func renewedApps() throws {
        let api = try server.apiToken(callback: "org.example.tea:/back")
        let verifier = String(repeating: "v", count: 43)
        let challenge = Base64.encode(SHA256.digest(Array(verifier.utf8)), .urlSafe)
        let path = try server.signInPath(
            api, origin: nil,
            query: "?code_challenge=\(challenge)&code_challenge_method=S256")
        try browser.get(path)
        try browser.signIn(path)
        try browser.get(path)
        let done = try browser.post(path, ["step": "continue"])
        let code = try #require(done.header("Location")?.split(separator: "code=").last)
        let traded = try browser.send(
            "/sign-in/token", method: .post,
            body: Array("{\"code\":\"\(code)\",\"code_verifier\":\"\(verifier)\"}".utf8))
        #expect(traded.status == 200)
        let object = try JSONSerialization.jsonObject(with: Data(traded.text.utf8))
        let token = try #require((object as? [String: Any])?["ckWebAuthToken"] as? String)
        server.clock.advance(1_200_000)
        #expect(server.caller(token, api) != nil)
        let account = try #require(try Users(catalog: server.catalog).list().items.first?.id)
        let sessions = try server.catalog.webSessions(
            .account(account), livingAt: .min, ListRequest()
        ).items
        #expect(sessions.count == 1)
        for session in sessions {
            #expect(
                session.source == SignInSource(origin: "org.example.tea:", device: "Firefox, Linux")
            )
            #expect(session.begunAt == session.madeAt.lowerBound)
        }
    }

    @Test("Going looks like what it is")
    func deletion() throws {
        try signIn(browser)
        #expect(
            try browser.get("/account").part("Your data")
                .contains("<a class=\"danger\" href=\"/account/delete\">"))
        let page = try browser.get("/account/delete")
        #expect(page.text.contains("<p class=\"warning\">Your account and your private data"))
        #expect(page.text.contains("<button class=\"danger\">Delete my account</button>"))
        #expect(page.text.contains("<a class=\"button second\" href=\"/account\">Keep my account"))
    }

    @Test("A link that is good no more leads to another one")
    func endedLinks() throws {
        #expect(
            try browser.get("/sign-in/reset/x").text
                .contains("href=\"/sign-in/forgotten\">Request a new link</a>"))
        #expect(
            try browser.get("/sign-in/welcome/x").text
                .contains("href=\"/sign-in/new\">Request a new link</a>"))
        let invited = try Browser(try PageServer(signUp: .invitation)).get("/sign-in/welcome/x")
        #expect(invited.status == 404 && !invited.text.contains("/sign-in/new"))
        #expect(invited.text.contains("Ask the person who invited you for a new link."))
    }

    @Test("On a page that is there for its form, the first field has the focus")
    func focus() throws {
        for (path, name) in [
            ("/sign-in", "address"), ("/sign-in/forgotten", "address"), ("/sign-in/new", "address"),
            ("/share/0ab", "address"),
        ] {
            let page = try browser.get(path)
            #expect(field(name, page).hasSuffix("autofocus") && page.focusCount == 1, "\(path)")
        }
        try browser.get("/sign-in")
        let wrong = try browser.signIn("/sign-in", "ida@example.org", "wrong horse")
        #expect(
            field("password", wrong).contains("aria-invalid=\"true\" aria-describedby=\"said\""))
        #expect(field("address", wrong).contains("aria-invalid=\"true\""))
        #expect(wrong.focusCount == 1 && field("password", wrong).hasSuffix("autofocus"))
        #expect(wrong.title.hasPrefix("Incorrect e-mail or password. · Sign in"))
        try signIn(browser)
        for (path, name) in [("/account/prove", "present"), ("/account/second-factor", "code")] {
            let page = try browser.get(path)
            #expect(field(name, page).hasSuffix("autofocus") && page.focusCount == 1, "\(path)")
        }
        #expect(try browser.get("/account").focusCount == 0)
    }
}
