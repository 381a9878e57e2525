import Accounts
import CloudModel
import Storage
import Testing

@Suite("When tokens and keys were last used")
struct LastUseTests {
    /// What the lists say of the one API token and the one sign-in that there are.
    private func listed(_ server: TestServer) throws -> [Milliseconds?] {
        let tokens = try APITokens(catalog: server.catalog).list().items
        let sessions = try WebTokens(catalog: server.catalog, settings: server.settings).sessions(
            container: server.container, environment: .development, now: server.now
        ).items
        return try [#require(tokens.first).usedAt, #require(sessions.first).usedAt]
    }

    @Test("Both tokens of a request have its time in their lists, once it was written down")
    func tokens() throws {
        let server = try TestServer()
        try server.user()
        let (api, web) = (try server.apiToken().token, try server.webToken().token)
        let query = "ckAPIToken=\(api)&ckWebAuthToken=\(web)"
        #expect(try listed(server) == [nil, nil])
        let first = server.now
        #expect(server.identify(query: query).identified != nil)
        #expect(try listed(server) == [nil, nil], "a request writes nothing")
        server.authenticator.noteLastUses()
        #expect(try listed(server) == [first, first])

        // Within the minute nothing more is noted.
        server.now += 59_000
        _ = server.identify(query: query)
        server.authenticator.noteLastUses()
        #expect(try listed(server) == [first, first])
        server.now += 1_000
        _ = server.identify(query: query)
        server.authenticator.noteLastUses()
        #expect(try listed(server) == [server.now, server.now])
        #expect(server.reported.count == 0)
    }

    @Test("A token that does not let in is not used, and another one stays as it was")
    func refused() throws {
        let server = try TestServer()
        try server.user()
        let (api, web) = (
            try server.apiToken(origins: ["https://a.example"]).token, try server.webToken().token
        )
        let query = "ckAPIToken=\(api)&ckWebAuthToken=\(web)"
        #expect(server.identify(query: query, origin: "https://b.example").identified == nil)
        server.authenticator.noteLastUses()
        #expect(try listed(server) == [nil, nil])
        _ = server.identify(query: "ckAPIToken=\(api)")
        server.authenticator.noteLastUses()
        #expect(try listed(server) == [server.now, nil])
    }

    @Test(
        "What writes uses ends nothing that was found before, so requests stay as cheap as they are"
    )
    func keepsWhatWasFound() throws {
        let server = try TestServer()
        let api = try server.apiToken().token
        _ = server.identify(query: "ckAPIToken=\(api)")
        let before = server.authenticator.changeCount
        server.authenticator.noteLastUses()
        #expect(server.authenticator.changeCount == before)
        #expect(server.authenticator.checkedTokenCount == 1)
    }

    @Test(
        "A server key has the time of the last request that it signed, and not of a wrong signature"
    )
    func serverKey() throws {
        let server = try TestServer()
        let client = try SignedCallerTests.Client(server)
        func usedAt() throws -> Milliseconds? {
            server.authenticator.noteLastUses()
            return try #require(ServerKeys(catalog: server.catalog).list().items.first).usedAt
        }
        #expect(client.found(client.credentials(signedTarget: "/elsewhere")) == nil)
        #expect(try usedAt() == nil)
        #expect(client.found(client.credentials()) != nil)
        #expect(try usedAt() == server.now)
    }
}
