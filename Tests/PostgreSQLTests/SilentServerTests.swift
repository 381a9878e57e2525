#if PostgreSQL
    import Awaiting
    import Dispatch
    import PostgreSQL
    import PostgreSQLServer
    import Testing

    /// The network does not reach the server any more: what is sent is lost, and no connection is closed.
    @Suite("A PostgreSQL server that falls silent")
    struct SilentServerTests {
        private let proxy: CuttingProxy

        init() throws { proxy = try CuttingProxy(before: PostgreSQLServer.shared()) }

        /// Leads to the server by the proxy.
        private func options() throws -> ConnectionOptions {
            let server = try PostgreSQLServer.shared()
            return ConnectionOptions(
                address: server.address(of: "postgres").replacing(server.folder, with: proxy.folder)
            )
        }

        /// A session that has begun, and waits 200 ms for an answer from now on.
        private func hasty() throws -> Connection {
            let connection = try Connection(options())
            connection.answerMillisecondsMax = 200
            return connection
        }

        /// What a question fails with that is asked in the silence, by a thread of its own.
        private func failure(
            _ connect: @Sendable @escaping () throws -> Connection, deadline: DispatchTime,
            _ bytes: Int
        ) throws -> PostgreSQLError? {
            let told = Awaited<Result<PostgreSQLError?, any Error>>()
            DispatchQueue.global().async { [proxy] in
                told.tell(
                    Result {
                        let connection = try connect()
                        connection.deadline = deadline
                        proxy.fallSilent()
                        let value = Value.bytes([UInt8](repeating: 7, count: bytes))
                        do { _ = try connection.run("SELECT $1::bytea", value) } catch {
                            return error as? PostgreSQLError
                        }
                        return nil
                    })
            }
            defer { proxy.speak() }
            return try told.value().get()
        }

        @Test("Nobody waits for asking it to stop: the connection is given up in time")
        func cancellation() throws {
            let error = try failure(hasty, deadline: .now(), 1)
            #expect(error?.kind == .lost && error?.message == "the server does not answer")
        }

        @Test("Sessions that ask it to stop keep none of another server from being stopped")
        func others() throws {
            let server = try PostgreSQLServer.shared()
            let sessions = try (0..<20).map { _ in try hasty() }
            proxy.fallSilent()
            defer { proxy.speak() }
            for session in sessions {
                session.deadline = .now()
                #expect(throws: PostgreSQLError.self) { try session.run("SELECT 1") }
            }
            let other = try Connection(ConnectionOptions(address: server.address(of: "postgres")))
            other.deadline = .now()
            let error = #expect(throws: PostgreSQLError.self) {
                try other.run("SELECT pg_sleep(600)")
            }
            #expect(error?.kind == .cancelled)
            other.deadline = nil
            #expect(try other.run("SELECT 1").number(0, 0) == 1)
        }

        /// A time limit of TCP: twice what a question may take, or what the address says.
        @Test(
            "What waits without an end of its own ends once TCP has sent in vain for long",
            arguments: [(2_000, ""), (600_000, " tcp_user_timeout=1000")])
        func sending(_ answerMillisecondsMax: Int, _ words: String) throws {
            var options = ConnectionOptions(
                address: "host=127.0.0.1 port=\(proxy.port) dbname=postgres user=postgres"
                    + " sslmode=disable gssencmode=disable" + words)
            options.answerMillisecondsMax = answerMillisecondsMax
            let error = try failure(
                { [options] in try Connection(options) }, deadline: .distantFuture, 64_000_000)
            #expect(error?.kind == .lost)
        }
    }
#endif
