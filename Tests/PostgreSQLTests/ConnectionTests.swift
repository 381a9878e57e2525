#if PostgreSQL
    import Awaiting
    import Dispatch
    import PostgreSQL
    import PostgreSQLServer
    import Testing

    /// A commit has ended otherwise than it had to.
    private struct Unexpected: Error {}

    @Suite("A session with a PostgreSQL server")
    struct ConnectionTests {
        private static func connect(
            _ change: (inout ConnectionOptions) -> Void = { _ in }
        ) throws -> Connection {
            var options = ConnectionOptions(
                address: try PostgreSQLServer.shared().address(of: "postgres"))
            change(&options)
            return try Connection(options)
        }

        private static func kind(_ body: () throws -> Void) throws -> PostgreSQLError.Kind {
            let error = #expect(throws: PostgreSQLError.self) { try body() }
            return try #require(error).kind
        }

        @Test("Numbers, bytes of any value and arrays with gaps come back as they went")
        func values() throws {
            let connection = try Self.connect()
            let numbers: [Int64] = [0, 1, -1, 255, -256, .max, .min]
            for number in numbers {
                let rows = try connection.run(
                    "SELECT $1::bigint, $1::bigint > 0", .number(number))
                #expect(rows.number(0, 0) == number)
                #expect(rows.number(0, 1) == (number > 0 ? 1 : 0))
            }
            let all = [UInt8](0...255)
            for bytes in [[], [0], all, [UInt8](repeating: 0, count: 100_000)] {
                let rows = try connection.run("SELECT $1::bytea", .bytes(bytes))
                #expect(Array(rows.bytes(0, 0)) == bytes && !rows.isNull(0, 0))
            }
            let none = try connection.run("SELECT $1::bytea, $2::bigint", .bytes(nil), .number(nil))
            #expect(none.isNull(0, 0) && none.isNull(0, 1) && none.optionalNumber(0, 1) == nil)
            let rows = try connection.run(
                "SELECT * FROM unnest($1::bigint[], $2::bytea[])", .numbers([1, nil, 3]),
                .byteStrings([[], all, nil]))
            #expect(rows.count == 3 && rows.isNull(1, 0) && rows.isNull(2, 1))
            #expect(rows.number(2, 0) == 3 && Array(rows.bytes(1, 1)) == all)
            let empty = try connection.run("SELECT * FROM unnest($1::bigint[])", .numbers([]))
            #expect(empty.count == 0)
            let small = try connection.run("SELECT 7::smallint, (-7)::int")
            #expect(small.number(0, 0) == 7 && small.number(0, 1) == -7)
        }

        @Test("Queries that go together take one round trip, also those nobody waits for")
        func roundTrips() throws {
            let connection = try Self.connect()
            let before = connection.roundTrips
            let answers = try connection.run((0..<50).map { Query("SELECT \($0)") })
            #expect(answers.map { $0.number(0, 0) } == Array(0..<50))
            #expect(connection.roundTrips == before + 1)
            try connection.runLater([Query("BEGIN"), Query("SELECT 1")])
            #expect(connection.roundTrips == before + 1)
            #expect(try connection.run("SELECT 5").number(0, 0) == 5)
            #expect(connection.roundTrips == before + 2 && connection.isInTransaction)
            try connection.rollBack()
            #expect(!connection.isInTransaction)
        }

        @Test("Megabytes in both directions at once do not block each other")
        func large() throws {
            let connection = try Self.connect()
            let bytes = [UInt8](repeating: 7, count: 3_000_000)
            let queries = (0..<12).map { _ in Query("SELECT $1::bytea", .bytes(bytes)) }
            let answers = try connection.run(queries)
            #expect(answers.allSatisfy { $0.bytes(0, 0).count == bytes.count })
        }

        @Test("What fails ends its call; the session goes on, and prepares what it could not")
        func failures() throws {
            let connection = try Self.connect()
            let kind = try Self.kind {
                _ = try connection.run([
                    Query("SELECT 1"), Query("SELECT 1 / $1::bigint", .number(0)),
                    Query("SELECT 3"),
                ])
            }
            #expect(kind == .condition)
            #expect(try connection.run("SELECT 3").number(0, 0) == 3)
            #expect(try Self.kind { _ = try connection.run("SELECT nothing") } == .other)
            #expect(try connection.run("SELECT 1 / $1::bigint", .number(1)).number(0, 0) == 1)
        }

        @Test("Errors are known by what they mean")
        func kinds() throws {
            let (one, two) = (try Self.connect(), try Self.connect())
            _ = try one.run([
                Query("DROP TABLE IF EXISTS kinds"),
                Query("CREATE TABLE kinds (id bigint PRIMARY KEY, n bigint NOT NULL)"),
                Query("INSERT INTO kinds VALUES (1, 0), (2, 0)"),
            ])
            let again = try Self.kind { _ = try one.run("INSERT INTO kinds VALUES (1, 0)") }
            #expect(again == .unique)
            for connection in [one, two] {
                _ = try connection.run([
                    Query("BEGIN ISOLATION LEVEL REPEATABLE READ"), Query("SELECT * FROM kinds"),
                ])
            }
            _ = try one.run("UPDATE kinds SET n = 1 WHERE id = 1")
            guard case .committed = one.commit(after: []) else { throw Unexpected() }
            let late = try Self.kind { _ = try two.run("UPDATE kinds SET n = 2 WHERE id = 1") }
            #expect(late == .serialization && two.hasFailed)
            try two.rollBack()
            _ = try one.run([Query("BEGIN"), Query("UPDATE kinds SET n = 3 WHERE id = 1")])
            _ = try two.run([Query("BEGIN"), Query("SET LOCAL lock_timeout = 1")])
            let locked = try Self.kind { _ = try two.run("UPDATE kinds SET n = 4 WHERE id = 1") }
            #expect(locked == .lockTimeout)
            try two.rollBack()
            try one.rollBack()
            _ = try one.run([Query("BEGIN READ ONLY")])
            let reading = try Self.kind { _ = try one.run("DELETE FROM kinds") }
            #expect(reading == .readOnly)
            try one.rollBack()
            #expect(PostgreSQLError.Kind.deadlock != .serialization)
        }

        @Test("Of two transactions that wait for each other one is told so")
        func deadlock() throws {
            let (one, two) = (try Self.connect(), try Self.connect())
            _ = try one.run([
                Query("DROP TABLE IF EXISTS ring"),
                Query("CREATE TABLE ring AS SELECT n FROM generate_series(1, 2) n"),
            ])
            for (connection, number) in [(one, 1), (two, 2)] {
                _ = try connection.run([
                    Query("BEGIN"), Query("UPDATE ring SET n = n WHERE n = \(number)"),
                ])
            }
            // Sent, and not waited for: the server is to find the ring.
            try one.runLater([Query("UPDATE ring SET n = n WHERE n = 2")])
            let end = DispatchTime.now() + .seconds(Wait.seconds)
            var found = try? two.run("UPDATE ring SET n = n WHERE n = 1")
            if found != nil {
                // The other one gave way: its next call says so.
                while DispatchTime.now() < end, found != nil { found = try? one.run("SELECT 1") }
                #expect(found == nil && one.hasFailed)
            } else {
                #expect(two.hasFailed)
            }
        }

        @Test("A query that takes too long is stopped, and the session goes on")
        func deadline() throws {
            let connection = try Self.connect()
            connection.deadline = .now()
            #expect(try Self.kind { _ = try connection.run("SELECT pg_sleep(600)") } == .cancelled)
            connection.deadline = nil
            #expect(try connection.run("SELECT 1").number(0, 0) == 1)
        }

        @Test("A condition that does not hold undoes the commit that was sent with it")
        func conditions() throws {
            let connection = try Self.connect()
            _ = try connection.run([
                Query("DROP TABLE IF EXISTS conditions"),
                Query("CREATE TABLE conditions (n bigint)"),
            ])
            for (count, holds) in [(2, false), (1, true)] {
                _ = try connection.run([Query("BEGIN")])
                let end = connection.commit(after: [
                    .requiring(count, "INSERT INTO conditions VALUES ($1)", .number(5))
                ])
                switch end {
                case .committed: #expect(holds)
                case .undone(let error): #expect(!holds && error.kind == .condition)
                case .indeterminate(let error): Issue.record(error)
                }
                try connection.rollBack()
                let rows = try connection.run("SELECT count(*) FROM conditions")
                #expect(rows.number(0, 0) == (holds ? 1 : 0))
            }
        }

        @Test(
            "A session that is ended before the commit was sent has undone, after it nobody knows")
        func lost() throws {
            let other = try Self.connect()
            func end(_ connection: Connection, while body: () -> Void = {}) throws {
                let process = try connection.run("SELECT pg_backend_pid()").number(0, 0)
                body()
                _ = try other.run(
                    "SELECT pg_terminate_backend($1::bigint::int)", .number(process))
                try Wait.until {
                    try other.run(
                        "SELECT 1 FROM pg_stat_activity WHERE pid = $1::bigint::int",
                        .number(process)
                    ).count == 0
                }
            }
            let connection = try Self.connect()
            _ = try connection.run([Query("BEGIN")])
            try end(connection)
            #expect(try Self.kind { _ = try connection.run("SELECT 1") } != .other)
            guard case .undone(let error) = connection.commit(after: []) else {
                throw Unexpected()
            }
            #expect(error.kind == .lost && connection.isLost)
            let late = try Self.connect()
            _ = try late.run([Query("BEGIN")])
            try end(late)
            // This side does not know yet: the commit is sent into nothing.
            guard case .indeterminate = late.commit(after: []) else { throw Unexpected() }
        }

        @Test("A session that is cut off while it waits is lost, and says so in words")
        func cutOff() throws {
            let server = try PostgreSQLServer.shared()
            let proxy = try CuttingProxy(before: server)
            let connection = try Self.connect {
                $0.address = $0.address.replacing(server.folder, with: proxy.folder)
            }
            proxy.cut(.before, at: "cut here")
            let error = #expect(throws: PostgreSQLError.self) {
                try connection.run("SELECT convert_to('cut here', 'UTF8')")
            }
            #expect(error?.kind == .lost)
            #expect(error?.message.contains("server") == true, "\(error?.message ?? "")")
        }

        @Test("Where nobody listens, the connection is not made")
        func nobody() throws {
            let kind = try Self.kind {
                _ = try Connection(ConnectionOptions(address: "host=/nowhere dbname=none"))
            }
            #expect(kind == .lost)
        }

        @Test("A session begins with its settings")
        func settings() throws {
            let connection = try Self.connect { $0.settings = ["SET lock_timeout = '1234ms'"] }
            #expect(try connection.run("SHOW lock_timeout").text(0, 0) == "1234ms")
        }

        @Test("What was acknowledged is there after the server's machine has stopped")
        func crash() throws {
            let server = try PostgreSQLServer()
            let options = ConnectionOptions(address: server.address(of: "postgres"))
            let connection = try Connection(options)
            _ = try connection.run([Query("CREATE TABLE kept (n bigint)")])
            for number in 0..<20 {
                _ = try connection.run([Query("BEGIN")])
                let end = connection.commit(after: [
                    Query("INSERT INTO kept VALUES ($1)", .number(Int64(number)))
                ])
                guard case .committed = end else { throw Unexpected() }
            }
            try server.crash()
            #expect(throws: PostgreSQLError.self) { try connection.run("SELECT 1") }
            let next = try Connection(options)
            #expect(try next.run("SELECT count(*) FROM kept").number(0, 0) == 20)
        }
    }
#endif
