import Accounts
import CloudDatabase
import CloudModel
import Storage
import Testing

/// Whatever is told of changes ends with the session by which it registered (rulings.md 59).
@Suite("Devices whose session has ended")
struct SessionEndTests {
    private static func token(_ digit: Character) -> String { String(repeating: digit, count: 64) }

    private func register(_ token: String, by client: WireClient) throws -> Answer {
        try client.send(
            "tokens/register",
            "{\"apnsEnvironment\":\"development\",\"apnsToken\":\"\(token)\"}", module: "device")
    }

    private func devices(of client: WireClient) throws -> [StoredDestination] {
        let user = try #require(UserRecordName(client.name))
        return try client.server.store().read { try $0.destinations(of: user) }
    }

    private func sessions(_ server: WireServer) -> DestinationSessions {
        let clock = server.clock
        return DestinationSessions(catalog: server.catalog, clock: Clock { clock.now })
    }

    @Test("A device is told until its session is signed out, revoked or over by time")
    func ends() throws {
        let server = try WireServer()
        let (ida, bo) = (try server.user("ida", seconds: 60), try server.user("bo"))
        try #require(register(Self.token("a"), by: ida).status == 200)
        try #require(register(Self.token("b"), by: bo).status == 200)
        let (first, second) = (
            try #require(try devices(of: ida).first), try #require(try devices(of: bo).first)
        )
        let sessions = sessions(server)
        #expect(try !sessions.hasEnded(first) && !sessions.hasEnded(second))
        server.clock.advance(61_000)
        #expect(try sessions.hasEnded(first) && !sessions.hasEnded(second))
        try WebTokens(catalog: server.catalog).revokeAll(email: bo.email)
        #expect(try sessions.hasEnded(second))
    }

    @Test("A device that a server key registered for a user belongs to no session")
    func keys() throws {
        let server = try WireServer()
        let destination = StoredDestination(
            number: DestinationNumber(1), kind: .apns, key: [1], user: UserRecordName("_u"),
            device: nil, address: [], session: nil, madeAt: 0, usedAt: 0)
        #expect(try !sessions(server).hasEnded(destination))
    }

    @Test("Whoever signs in on a device takes it over, with what waits for it thrown away")
    func takenOver() throws {
        let server = try WireServer()
        let (ida, bo) = (try server.user("ida"), try server.user("bo"))
        try #require(register(Self.token("a"), by: ida).status == 200)
        try #require(register(Self.token("a"), by: bo).status == 200)
        #expect(try devices(of: ida).isEmpty)
        #expect(try devices(of: bo).count == 1)
    }

    @Test("Devices whose sessions have ended make room for others")
    func room() throws {
        let server = try WireServer { $0.destinationsPerUserMax = 1 }
        let ida = try server.user("ida")
        try #require(register(Self.token("a"), by: ida).status == 200)
        #expect(try register(Self.token("b"), by: ida).status == 400)
        try WebTokens(catalog: server.catalog).revokeAll(email: ida.email)
        let again = try server.user("ida")
        #expect(try register(Self.token("b"), by: again).status == 200)
        #expect(try devices(of: again).map(\.kind) == [.apns])
        #expect(try devices(of: again).count == 1)
    }
}
