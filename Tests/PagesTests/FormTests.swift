import Accounts
import Cryptography
import Foundation
import Seeding
import Testing

@testable import Pages

@Suite("Forms, cookies and markup")
struct FormTests {
    @Test("A form counts only from the browser that it was shown to, sent by our own page")
    func guarded() throws {
        let server = try PageServer()
        try server.user()
        let (browser, other) = (Browser(server), Browser(server))
        let shown = try browser.get("/sign-in")
        try other.get("/sign-in")
        let fields = [
            "step": "sign-in", "address": "ida@example.org", "password": "correct horse",
        ]
        func status(
            _ guardField: String, _ headers: [(name: String, value: String)] = [],
            by sender: Browser
        ) throws -> Int {
            try sender.post(
                "/sign-in", fields.merging(["guard": guardField]) { $1 }, headers: headers
            ).status
        }
        let token = try #require(shown.guardField)
        #expect(try status(token, by: other) == 403)
        #expect(try status(token, by: Browser(server)) == 403)
        for bad in ["", "00", String(token.dropLast()), token + "00", "é"] {
            #expect(try status(bad, by: browser) == 403, "\(bad)")
        }
        for site in ["cross-site", "same-site", "none"] {
            #expect(try status(token, [("Sec-Fetch-Site", site)], by: browser) == 403)
        }
        for origin in ["https://evil.example", "null", "https://sync.example.evil.example"] {
            #expect(try status(token, [("Origin", origin)], by: browser) == 403)
        }
        #expect(
            try status(
                token, [("Origin", "https://sync.example"), ("Sec-Fetch-Site", "same-origin")],
                by: browser) == 303)
    }

    @Test("No page may be framed, cached, or run what is not ours; cookies are for us alone")
    func headers() throws {
        let server = try PageServer()
        let browser = Browser(server)
        for path in [
            "/sign-in", "/sign-in/forgotten", "/sign-in/new", "/sign-in/AAAA", "/account",
            "/sign-in/reset/x", "/sign-in/welcome/x", "/account/x", "/sign-in/token",
        ] {
            let page = try browser.get(path)
            let policy = page.header("Content-Security-Policy") ?? ""
            #expect(policy.hasPrefix("default-src 'none'; style-src 'self';"), "\(path)")
            for part in [
                "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'",
                "require-trusted-types-for 'script'", "trusted-types 'none'",
            ] {
                #expect(policy.contains(part), "\(path): \(part)")
            }
            #expect(!policy.contains("unsafe"))
            // The page with passkeys runs the one script of ours, and no other page any.
            let scripts = policy.split(separator: ";").filter { $0.contains("script-src") }
            #expect(scripts == (path == "/sign-in" ? [" script-src 'self'"] : []), "\(path)")
            #expect(page.header("X-Frame-Options") == "DENY")
            #expect(page.header("X-Content-Type-Options") == "nosniff")
            #expect(page.header("Cache-Control") == "no-store")
            #expect(page.header("Cross-Origin-Opener-Policy") == nil)
            #expect(page.header("Access-Control-Allow-Origin") == nil)
        }
        let cookie = try #require(try Browser(server).get("/sign-in").header("Set-Cookie"))
        #expect(cookie.hasPrefix("__Host-lenticular-form="))
        for part in ["; Path=/", "; HttpOnly", "; SameSite=Lax", "; Secure"] {
            #expect(cookie.contains(part))
        }
        let plain = try PageServer(base: "http://127.0.0.1:8080")
        let open = try #require(try Browser(plain).get("/sign-in").header("Set-Cookie"))
        #expect(open.hasPrefix("lenticular-form=") && !open.contains("Secure"))
    }

    @Test("Names and addresses never become markup")
    func markup() throws {
        let server = try PageServer()
        let name = "<script>alert(1)</script>\"'&"
        try server.user(given: name)
        let browser = Browser(server)
        try browser.get("/sign-in")
        try browser.signIn("/sign-in")
        let page = try browser.get("/account")
        #expect(!page.text.contains("<script"))
        #expect(
            page.text.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp; Roe"))
        let stranger = Browser(server)
        try stranger.get("/sign-in")
        let again = try stranger.signIn("/sign-in", "\"><b>x</b>@example.org", "x")
        #expect(!again.text.contains("<b>") && again.text.contains("&quot;&gt;&lt;b&gt;"))
        let odd = try stranger.get("/sign-in?\"><b>")
        #expect(!odd.text.contains("<b>"))
    }

    @Test("What is too long, or comes by another method, is refused")
    func limits() throws {
        let server = try PageServer()
        let browser = Browser(server)
        let long = [UInt8](repeating: 65, count: 65_537)
        #expect(try browser.send("/sign-in", method: .post, body: long).status == 413)
        let answer = try browser.send("/sign-in", method: .delete)
        #expect(answer.status == 405 && answer.header("Allow") == "GET, HEAD, POST")
        for path in [
            "/sign-in", "/sign-in/", "/sign-in?x", "/account", "/account/x", "/favicon.ico",
        ] {
            #expect(PagesResponder.isBelow(Array(path.utf8)), "\(path)")
        }
        for path in ["/", "/sign-inn", "/accounts/1/x", "/database", "", "/favicon.icon"] {
            #expect(!PagesResponder.isBelow(Array(path.utf8)), "\(path)")
        }
    }

    @Test("Form fields are read as browsers write them")
    func fields() {
        let fields = FormFields(Array("a=1+2&b=%C3%A9%2B&c&d=%zz%4&a=3&=x&e=%ff&f=a%3Db=c".utf8))
        #expect(fields["a"] == "1 2" && fields["b"] == "é+" && fields["c"] == "")
        #expect(fields["d"] == "%zz%4" && fields["e"] == nil && fields["f"] == "a=b=c")
        #expect(FormFields(Array("a=+%20x%09+".utf8)).filled("a") == "x")
        #expect(FormFields(Array("a=+".utf8)).filled("a") == nil)
        let many = (0..<100).map { "k\($0)=v" }.joined(separator: "&")
        #expect(FormFields(Array(many.utf8))["k99"] == nil)
    }

    @Test("Any bytes are read as a form, a cookie header and a target without harm")
    func fuzz() throws {
        var random = SeededRandom("forms")
        let pieces = ["a=", "&", "%", "%4", "=", "+", ";", " ", "lenticular-form=", "é", "\u{0}"]
        for _ in 0..<20_000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0..<12, using: &random) {
                if Bool.random(using: &random) {
                    bytes += Array((pieces.randomElement(using: &random) ?? "").utf8)
                } else {
                    bytes.append(UInt8.random(in: 0...255, using: &random))
                }
            }
            let fields = FormFields(bytes)
            _ = fields.filled("a")
            _ = Cookies(header: String(decoding: bytes, as: UTF8.self), areSecure: false)[.form]
            _ = PagesResponder.isBelow(bytes)
        }
    }
}
