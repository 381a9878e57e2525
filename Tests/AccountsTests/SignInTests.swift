import Accounts
import CloudModel
import Cryptography
import Testing

@Suite("Addresses to sign in at")
struct SignInTests {
    @Test("The ticket in the redirect says which API token, for 15 minutes and on this server only")
    func ticket() throws {
        let server = try TestServer()
        let token = try server.apiToken().record
        let fault = server.authenticator.authenticationRequired(for: token, now: server.now)
        #expect(fault.code == .authenticationRequired)
        #expect(fault.code.httpStatus == 421)
        #expect(fault.reason == "request needs authorization")
        let url = try #require(fault.redirectURL)
        let start = "https://sync.example/sign-in/"
        #expect(url.hasPrefix(start))
        let ticket = String(url.dropFirst(start.count))
        #expect(
            ticket.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) })

        func tickets(_ server: TestServer) throws -> SignInTickets {
            try SignInTickets(
                catalog: server.catalog, random: .system, settings: server.settings)
        }
        let reader = try tickets(server)
        #expect(reader.contents(of: ticket, now: server.now)?.apiTokenHash == token.hash)
        #expect(reader.contents(of: ticket, now: server.now + 899_999)?.apiTokenHash == token.hash)
        #expect(reader.contents(of: ticket, now: server.now + 900_000) == nil)
        #expect(try tickets(TestServer()).contents(of: ticket, now: server.now) == nil)
    }

    @Test("A caller of the wrong kind is sent to sign in with tokens, and refused with a key")
    func wrongKind() throws {
        let server = try TestServer()
        let api = try server.apiToken()
        let world = try #require(server.identify(query: "ckAPIToken=\(api.token)").identified)
        let required = server.authenticator.wrongKind(world, now: server.now)
        #expect(
            required
                == server.authenticator.authenticationRequired(for: api.record, now: server.now))
        let client = try SignedCallerTests.Client(server)
        let signed = try #require(server.identify(client.credentials()).identified)
        #expect(
            server.authenticator.wrongKind(signed, now: server.now)
                == Fault(.authenticationFailed, "Authentication failed"))
    }

    @Test("A ticket with any bit changed, cut or lengthened is refused")
    func changedTicket() throws {
        let server = try TestServer()
        let tickets = try SignInTickets(
            catalog: server.catalog, random: .system, settings: server.settings)
        let ticket = tickets.ticket(for: try server.apiToken().record, now: server.now)
        let bytes = try #require(Base64.decode(ticket, .urlSafe))
        for bit in 0..<(8 * bytes.count) {
            var changed = bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            let text = Base64.encode(changed, .urlSafe)
            #expect(tickets.contents(of: text, now: server.now) == nil)
        }
        for text in ["", "A", ticket + "A", String(ticket.dropLast()), ticket + "=", "é"] {
            #expect(tickets.contents(of: text, now: server.now) == nil)
        }
    }

    @Test("Asking for a sign-in address changes nothing in the catalog")
    func noSideEffect() throws {
        let server = try TestServer()
        let token = try server.apiToken().record
        let before = server.catalog.version
        for _ in 0..<3 {
            _ = server.authenticator.authenticationRequired(for: token, now: server.now)
        }
        #expect(server.catalog.version == before)
        #expect(try APITokens(catalog: server.catalog).list().items == [token])
    }
}
