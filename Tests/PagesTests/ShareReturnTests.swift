import Accounts
import Foundation
import HTTP
import Storage
import Testing

@testable import Pages

@Suite("The way back to a share")
struct ShareReturnTests {
    private let server: PageServer
    private let browser: Browser
    private let path = "/share/0abAbCdEfGhIjKlMnOpQrStUv~S-ecret_0"

    init() throws {
        server = try PageServer()
        browser = Browser(server)
    }

    /// The address of a link of the share's page.
    private func link(_ start: String, by browser: Browser) throws -> String {
        let page = try browser.get(path).text
        let found = try #require(page.range(of: "href=\"\(start)?to="))
        return "\(start)?to=" + page[found.upperBound...].prefix { $0 != "\"" }
    }

    /// The path of the last part of the one letter that is due.
    private func letterPath() throws -> String {
        let letter = try #require(try server.letters().first)
        let line = try #require(
            letter.text.body.split(separator: "\n").first { $0.hasPrefix("https://") })
        return String(line.dropFirst("https://sync.example".count))
    }

    private func makeAccount(_ browser: Browser, _ path: String) throws -> Shown {
        try browser.get(path)
        return try browser.post(path, ["given": "Noor", "password": "correct horse"])
    }

    @Test("Who makes an account from the page of a share goes on to the share")
    func newAccount() throws {
        let new = try link("/sign-in/new", by: browser)
        try browser.get(new)
        #expect(try browser.post(new, ["address": "noor@example.org"]).status == 200)
        let welcome = try letterPath()
        #expect(!welcome.contains("?"))
        #expect(try makeAccount(browser, welcome).header("Location") == path)
        #expect(try browser.get(path).text.contains("Noor"))
    }

    @Test("The letter may be opened in another browser, as on a phone")
    func otherBrowser() throws {
        let new = try link("/sign-in/new", by: browser)
        try browser.get(new)
        try browser.post(new, ["address": "noor@example.org"])
        let phone = Browser(server)
        #expect(try makeAccount(phone, letterPath()).header("Location") == path)
    }

    @Test("Who has an account already is led to the share by the letter itself")
    func known() throws {
        try server.user()
        let new = try link("/sign-in/new", by: browser)
        try browser.get(new)
        try browser.post(new, ["address": "ida@example.org"])
        #expect(try letterPath() == path)
    }

    @Test("Who has forgotten their password goes on to the share, by a second factor too")
    func forgotten() throws {
        let ida = try server.user()
        let secret = server.accountUseCases.secondFactors.makeSecret()
        for hasFactor in [false, true] {
            // News of the browser of before.
            _ = try server.letters()
            let visitor = Browser(server)
            let address = try link("/sign-in/forgotten", by: visitor)
            try visitor.get(address)
            try visitor.post(address, ["address": "ida@example.org"])
            let reset = try letterPath()
            try visitor.get(reset)
            if hasFactor {
                _ = try server.accountUseCases.secondFactors.set(
                    secret: secret,
                    code: TimeCodes(secret: secret).code(ofStep: TimeCodes.step(at: server.now)),
                    of: ida.id, now: server.now)
            }
            let done = try visitor.post(reset, ["password": "battery staple"])
            guard hasFactor else {
                #expect(done.header("Location") == path)
                continue
            }
            #expect(done.text.contains("action=\"\(path)\"") && done.text.contains("one-time-code"))
            server.clock.advance(30_000)
            let code = TimeCodes(secret: secret).code(ofStep: TimeCodes.step(at: server.now))
            let pageToken = try #require(done.attribute("name=\"pass\" value"))
            let inside = try visitor.post(path, ["step": "code", "pass": pageToken, "code": code])
            #expect(inside.header("Location") == path)
        }
    }

    @Test("A place that the address says, another browser's and an old one count for nothing")
    func foreign() throws {
        let stolen = try link("/sign-in/new", by: Browser(server))
        let old = try link("/sign-in/new", by: browser)
        server.clock.advance(3_600_000)
        for (number, address) in [
            "/sign-in/new?to=\(path)", "/sign-in/new?to=//evil.example",
            "/sign-in/new?to=https://evil.example", "/sign-in/new?to=", stolen, old,
        ].enumerated() {
            let visitor = address == old ? browser : Browser(server)
            visitor.client = "192.0.2.\(number)"
            try visitor.get(address)
            let asked = try visitor.post(address, ["address": "n\(number)@example.org"])
            #expect(asked.status == 200, "\(address)")
            let welcome = try letterPath()
            #expect(
                try makeAccount(visitor, welcome).header("Location") == "/account", "\(address)")
        }
    }

    @Test(
        "Only the page of a share is such a place",
        arguments: [
            "/share/", "/share", "/sharex/0ab", "/share/0ab/more", "/share/0ab?x", "/share/0ab#x",
            "/share//evil.example", "/share/..%2f", "/share/0ab\r\nX: y", "/share/\\evil", "",
            "//evil.example/share/0ab", "https://evil.example/share/0ab", "/account",
            "/share/é", "/share/\(String(repeating: "a", count: 201))",
        ])
    func others(_ path: String) {
        #expect(ShareReturnPath(path) == nil)
    }

    @Test("What the catalog holds of a place is looked at again before anybody is sent there")
    func kept() throws {
        try server.catalog.add(
            Letter(
                purpose: .invitation, account: nil,
                address: AddressFormat.email("noor@example.org"),
                returnPath: "https://evil.example/", madeAt: server.now), dueAt: server.now)
        #expect(try makeAccount(browser, letterPath()).header("Location") == "/account")
    }
}
