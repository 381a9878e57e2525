import Accounts
import CloudModel
import Foundation
import Testing

@Suite("Renewal of web tokens")
struct RenewalTests {
    private func query(_ api: String, _ web: String) -> String {
        "ckAPIToken=\(api)&ckWebAuthToken=\(web)"
    }

    @Test("The same token goes back until half of its life is over, then one fresh one")
    func halfLife() throws {
        let server = try TestServer()
        try server.user()
        let api = try server.apiToken().token
        let web = try server.webToken().token
        let made = server.now
        for age: Milliseconds in [0, 1, 900_000] {
            server.now = made + age
            let identified = try #require(server.identify(query: query(api, web)).identified)
            #expect(!identified.isRenewalDue)
            #expect(identified.webToken == web)
            #expect(server.authenticator.renewedWebToken(identified, now: server.now) == web)
        }
        server.now = made + 900_001
        let due = try #require(server.identify(query: query(api, web)).identified)
        #expect(due.isRenewalDue)
        let fresh = try #require(server.authenticator.renewedWebToken(due, now: server.now))
        #expect(fresh != web)
        // Requests after it, and one that was identified before it, get the same fresh one.
        #expect(server.authenticator.renewedWebToken(due, now: server.now) == fresh)
        let later = try #require(server.identify(query: query(api, web)).identified)
        #expect(later.webToken == fresh)
        #expect(!later.isRenewalDue)

        let renewed = try #require(server.identify(query: query(api, fresh)).identified)
        #expect(renewed.caller == due.caller)
        #expect(renewed.webToken == fresh)

        // The old one stays good to its end, the fresh one for a whole life of its own.
        server.now = made + 1_799_999
        #expect(server.identify(query: query(api, web)).fault == nil)
        server.now = made + 1_800_000
        #expect(server.identify(query: query(api, web)).fault?.code == .authenticationRequired)
        server.now = made + 900_001 + 1_799_999
        #expect(server.identify(query: query(api, fresh)).fault == nil)
    }

    @Test("A token with another length of life is renewed for as long")
    func otherLife() throws {
        let server = try TestServer()
        try server.user()
        let api = try server.apiToken().token
        let web = try server.webToken(seconds: server.settings.keptWebTokenSeconds)
        #expect(web.expiresAt - server.now == 14 * 86_400_000)
        server.now += 8 * 86_400_000
        let due = try #require(server.identify(query: query(api, web.token)).identified)
        let fresh = try #require(server.authenticator.renewedWebToken(due, now: server.now))
        server.now += 14 * 86_400_000 - 1
        #expect(server.identify(query: query(api, fresh)).fault == nil)
        server.now += 1
        #expect(server.identify(query: query(api, fresh)).fault != nil)
    }

    @Test("A renewed token is good after a restart")
    func restart() throws {
        let server = try TestServer()
        try server.user()
        let api = try server.apiToken().token
        let web = try server.webToken().token
        server.now += 1_000_000
        let due = try #require(server.identify(query: query(api, web)).identified)
        let fresh = try #require(server.authenticator.renewedWebToken(due, now: server.now))
        let restarted = try server.restarted()
        for token in [web, fresh] {
            let found = restarted.identify(
                Credentials(target: Array("/?\(query(api, token))".utf8)),
                container: server.container, environment: .development, now: server.now)
            #expect(found.identified?.caller == due.caller)
        }
    }

    @Test("One token has one successor, whichever process is asked, and other tokens have others")
    func oneSuccessor() throws {
        let server = try TestServer()
        try server.user()
        let api = try server.apiToken().token
        let (web, other) = (try server.webToken().token, try server.webToken().token)
        server.now += 1_000_000
        func successor(_ authenticator: Authenticator, of token: String) throws -> String {
            let found = authenticator.identify(
                Credentials(target: Array("/?\(query(api, token))".utf8)),
                container: server.container, environment: .development, now: server.now)
            let identified = try #require(found.identified)
            return try #require(authenticator.renewedWebToken(identified, now: server.now))
        }
        let second = try server.restarted()
        let made = try successor(server.authenticator, of: web)
        server.now += 1_000
        #expect(try successor(second, of: web) == made)
        #expect(try successor(try server.restarted(), of: web) == made)
        #expect(made.count == web.count && made != web)
        #expect(try successor(second, of: other) != made)
        // It lives as long as the one that was made first, and is followed by another.
        server.now += 1_000_000
        #expect(try successor(second, of: made) != made)
        server.now += 799_999
        #expect(server.identify(query: query(api, made)).fault?.code == .authenticationRequired)
    }

    @Test("Many requests with one token at once get one fresh token or keep theirs")
    func together() async throws {
        let server = try TestServer()
        try server.user()
        let api = try server.apiToken().token
        let web = try server.webToken().token
        server.now += 1_000_000
        let authenticator = server.authenticator
        let (container, now) = (server.container, server.now)
        let target = Array("/?\(query(api, web))".utf8)
        let answers = await withTaskGroup(of: String?.self, returning: Set<String?>.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    let found = authenticator.identify(
                        Credentials(target: target), container: container,
                        environment: .development, now: now)
                    return found.identified.flatMap {
                        authenticator.renewedWebToken($0, now: now)
                    }
                }
            }
            return await group.reduce(into: []) { $0.insert($1) }
        }
        #expect(!answers.contains(nil))
        #expect(answers.subtracting([web]).count == 1)
        let last = try #require(server.identify(query: query(api, web)).identified)
        #expect(answers.contains(last.webToken))
        #expect(last.webToken != web)
    }

    @Test("Web tokens have at least 100 characters that no encoding spoils")
    func alphabet() throws {
        let server = try TestServer()
        try server.user()
        let token = try server.webToken().token
        #expect(token.utf8.count >= 100)
        #expect(token.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") })
        #expect(try server.webToken().token != token)
    }

    @Test("The life of a web token is at least a second and at most the limit")
    func lifetimes() throws {
        let server = try TestServer()
        try server.user()
        for seconds in [0, -1, server.settings.webTokenSecondsMax + 1, .max, .min] {
            #expect(throws: AccountsRefusal.lifetimeIllegal) {
                try server.webToken(seconds: seconds)
            }
        }
        _ = try server.webToken(seconds: 1)
        _ = try server.webToken(seconds: server.settings.webTokenSecondsMax)
        #expect(throws: AccountsRefusal.userUnknown) { try server.webToken("no@example.org") }
    }
}
