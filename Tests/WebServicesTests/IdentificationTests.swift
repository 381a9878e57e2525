import Accounts
import CloudModel
import Testing

@Suite("A request is identified once")
struct IdentificationTests {
    @Test("A signed request that a worker takes over has its signature verified once")
    func verifiedOnce() throws {
        let server = try WireServer()
        let key = try server.key()
        // The first request has the store opened, by a thread of its own.
        #expect(try key.send("public/records/lookup", #"{"records":[]}"#).status == 200)
        #expect(server.web.verificationCount == 1)
        // No query is answered on an event loop.
        let query = try key.send("public/records/query", #"{"query":{"recordType":"Cup"}}"#)
        #expect(query.code == "NOT_FOUND", "\(query.text)")
        #expect(server.web.verificationCount == 2)
        // What a caller of another kind is refused is verified, too.
        #expect(try key.send("private/zones/list", "{}").code == "AUTHENTICATION_FAILED")
        #expect(server.web.verificationCount == 3)
    }

    @Test("A key that ends while its request is under way lets it no further")
    func revokedMeanwhile() throws {
        let opening = OpeningAction()
        let server = try WireServer(opening: opening)
        let key = try server.key()
        guard case .key(let keyID, _) = key.credential else { throw WireFailure("no key") }
        let keys = ServerKeys(catalog: server.catalog)
        opening.set { try? keys.revoke(keyID: keyID) }
        let answer = try key.send("public/records/lookup", #"{"records":[]}"#)
        #expect(answer.code == "AUTHENTICATION_FAILED", "\(answer.text)")
        #expect(try keys.list().items.isEmpty)
    }

    @Test("A web token that is revoked while its request is under way lets it no further")
    func tokenRevokedMeanwhile() throws {
        let opening = OpeningAction()
        let server = try WireServer(opening: opening)
        let ida = try server.user()
        let tokens = try WebTokens(catalog: server.catalog)
        let email = ida.email
        opening.set { try? tokens.revokeAll(email: email) }
        let answer = try ida.send("private/zones/list", "{}")
        #expect(answer.code == "AUTHENTICATION_REQUIRED", "\(answer.text)")
    }
}
