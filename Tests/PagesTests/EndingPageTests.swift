import Accounts
import CloudModel
import Foundation
import HTTP
import Storage
import Testing

@testable import Pages

@Suite("Taking one's data along, and going")
struct EndingPageTests {
    let server: PageServer
    let browser: Browser

    init() throws {
        server = try PageServer()
        browser = Browser(server)
        try server.user()
        try browser.get("/sign-in")
        try browser.signIn("/sign-in")
    }

    private var account: AccountID {
        get throws { try #require(try Users(catalog: server.catalog).list().items.first?.id) }
    }

    @Test("Who deletes their account is signed out everywhere, and has it back by signing in")
    func takenBack() throws {
        let api = try server.apiToken()
        let web = try WebTokens(catalog: server.catalog).create(
            container: server.container, environment: .development, email: "ida@example.org",
            now: server.now)
        let page = try browser.get("/account/delete")
        #expect(page.text.contains("2026-01-31") && page.text.contains("<legend>"))
        #expect(try browser.post("/account/delete", [:]).status == 422)
        #expect(try browser.post("/account/delete", ["public": "all"]).status == 422)
        #expect(try server.catalog.ending(of: account) == nil)
        let asked = try browser.post("/account/delete", ["public": "anonymous"])
        #expect(asked.status == 200 && asked.text.contains("2026-01-31"))
        #expect(
            try server.catalog.ending(of: account)
                == AccountEnding(
                    account: account, dueAt: server.now + 30 * 86_400_000,
                    publicRecords: .anonymous))
        #expect(server.caller(web.token, api) == nil)
        #expect(try browser.get("/account").header("Location") == "/sign-in")
        server.clock.advance(30 * 86_400_000 - 1)
        try browser.get("/sign-in")
        #expect(try browser.signIn("/sign-in", "ida@example.org", "wrong").status == 403)
        #expect(try server.catalog.ending(of: account) != nil)
        #expect(try browser.signIn("/sign-in").header("Location") == "/account")
        #expect(try server.catalog.ending(of: account) == nil)
        #expect(
            server.noted.all == ["account deletion asked for", "account deletion taken back"])
    }

    @Test("Going, and taking the data along, asks who is there once ten minutes are over")
    func proof() throws {
        server.clock.advance(600_000)
        for page in ["export", "delete"] {
            let prove = "/account/prove?to=\(page)"
            #expect(try browser.get("/account/\(page)").header("Location") == prove)
            #expect(
                try browser.post("/account/\(page)", ["public": "keep"]).header("Location")
                    == prove)
        }
        #expect(try server.catalog.ending(of: account) == nil)
        // A form that is not ours does nothing, whoever is there.
        let forged = try browser.post("/account/delete", ["public": "keep", "guard": "00"])
        #expect(forged.status == 403)
    }

    @Test("Where nobody makes files of it, no page offers one")
    func none() throws {
        #expect(try !browser.get("/account").text.contains("/account/export"))
        #expect(try browser.get("/account/export").status == 404)
    }
}
