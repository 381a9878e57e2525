#if PostgreSQL
    import PostgreSQL
    import PostgreSQLServer
    import PostgreSQLStorage
    import Synchronization
    import Testing

    @Suite("Connecting again to a PostgreSQL")
    struct ConnectorTests {
        @Test(
            "Each attempt after a failure waits for a time by chance, from a longer range each time"
        )
        func pauses() throws {
            let pauses = Mutex<[Int64]>([])
            let away = ServerConnector(ConnectionOptions(address: "host=/nowhere dbname=app")) {
                milliseconds in pauses.withLock { $0.append(milliseconds) }
            }
            for _ in 0..<9 { #expect(throws: PostgreSQLError.self) { try away.connect() } }
            let longest: [Int64] = [40, 80, 160, 320, 640, 1_000, 1_000, 1_000]
            let made = pauses.withLock { $0 }
            #expect(made.count == longest.count)
            #expect(zip(made, longest).allSatisfy { ($1 / 2...$1).contains($0) }, "\(made)")
        }

        @Test("Nobody waits for a server that has answered")
        func answered() throws {
            let pauses = Atomic<Int>(0)
            let server = try PostgreSQLServer.shared()
            let connector = ServerConnector(
                ConnectionOptions(address: server.address(of: "postgres"))
            ) { _ in pauses.add(1, ordering: .relaxed) }
            for _ in 0..<3 { _ = try connector.connect() }
            #expect(pauses.load(ordering: .relaxed) == 0)
        }
    }
#endif
