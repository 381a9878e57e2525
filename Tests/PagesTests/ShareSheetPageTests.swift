import Accounts
import Testing

@testable import Pages

@Suite("The page with the share sheet, for frames")
struct ShareSheetPageTests {
    private func answer(
        _ server: PageServer, _ path: String, headers: [(name: String, value: String)] = []
    ) throws -> Shown {
        try Browser(server).send(path, method: .get, headers: headers)
    }

    @Test("Only the origins of its API token may show it; of a token without origins nobody may")
    func ancestors() throws {
        let server = try PageServer()
        let named = try server.apiToken(origins: ["https://a.example", "http://localhost:8000"])
        let page = try answer(server, "/share-sheet?ckAPIToken=\(named.token)")
        #expect(page.status == 200)
        let policy = try #require(page.header("Content-Security-Policy"))
        #expect(policy.contains("frame-ancestors http://localhost:8000 https://a.example;"))
        #expect(policy.contains("script-src 'self';") && policy.contains("trusted-types 'none'"))
        #expect(page.header("X-Frame-Options") == nil)
        #expect(page.header("Set-Cookie") == nil)
        for (path, status) in [
            ("/share-sheet?ckAPIToken=\(try server.apiToken().token)", 200), ("/share-sheet", 404),
            ("/share-sheet?ckAPIToken=\(named.token)0", 404), ("/share-sheet/x", 404),
        ] {
            let page = try answer(server, path)
            #expect(page.status == status, "\(path)")
            let policy = try #require(page.header("Content-Security-Policy"))
            #expect(policy.contains("frame-ancestors 'none';"))
            #expect(page.header("X-Frame-Options") == "DENY")
        }
    }

    @Test("A revoked API token shows it to nobody")
    func revoked() throws {
        let server = try PageServer()
        let token = try server.apiToken(origins: ["https://a.example"], name: "gone")
        try APITokens(catalog: server.catalog).revoke(name: "gone")
        #expect(try answer(server, "/share-sheet?ckAPIToken=\(token.token)").status == 404)
    }

    @Test(
        "It has the texts of the elements in the reader's language, and so have pages of other sites"
    )
    func texts() throws {
        let german = try Phrasebook(
            tag: "de", entries: [("sheetInviteDo", "\"Einladen\" <b>"), ("cancel", "Abbrechen")])
        let server = try PageServer(books: Phrasebooks([german]))
        let token = try server.apiToken(origins: ["https://a.example"]).token
        let page = try answer(server, "/share-sheet?ckAPIToken=\(token)&lang=de")
        #expect(page.text.contains("<html lang=\"de\""))
        #expect(
            page.text.contains("&quot;sheetInviteDo&quot;:&quot;\\&quot;Einladen\\&quot; &lt;b&gt;")
        )
        let texts = try answer(server, "/share-sheet/texts", headers: [("Accept-Language", "de")])
        #expect(texts.header("Access-Control-Allow-Origin") == "*")
        #expect(texts.text.contains("\"cancel\":\"Abbrechen\""))
        #expect(texts.text.contains("\"sheetStop\":\"Stop sharing\""))
    }
}
