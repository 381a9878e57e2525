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
            let ranges = Mutex<[ClosedRange<UInt32>]>([])
            let away = ServerConnector(ConnectionOptions(address: "host=/nowhere dbname=app")) {
                range in ranges.withLock { $0.append(range) }
            }
            for _ in 0..<9 { #expect(throws: PostgreSQLError.self) { try away.connect() } }
            #expect(ranges.withLock { $0.allSatisfy { $0.lowerBound == 0 } })
            #expect(
                ranges.withLock { $0.map(\.upperBound) } == [
                    40, 80, 160, 320, 640, 1_000, 1_000, 1_000,
                ])
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
