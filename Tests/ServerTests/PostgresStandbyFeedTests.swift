#if PostgreSQL
    import Awaiting
    import ChildProcesses
    import Foundation
    import PostgreSQL
    import PostgreSQLServer
    import Testing

    @Suite("A server whose feeds a standby reads")
    struct PostgresStandbyFeedTests: ServersOnPostgres {
        let folder: TemporaryFolder
        let database: PostgreSQLServer
        let environment: [String: String]

        init() throws {
            folder = try TemporaryFolder()
            database = try PostgreSQLServer()
            var environment = try PostgresServingTests.environment(of: "app", on: database)
            environment["LENTICULAR_STORAGE_POSTGRES_STANDBY_URL"] =
                "postgresql:///app?host=\(database.folder)/standby-socket&user=postgres"
            self.environment = environment
            try database.addStandby()
        }

        private static let zone = #"{"zoneID":{"zoneName":"z"}"#
        /// Each operation that is a feed, with a request from its beginning.
        private static let feeds = [
            ("changes/zone", #"{"zones":[\#(zone)}]}"#), ("changes/database", "{}"),
            ("records/changes", "\(zone)}"), ("zones/changes", "{}"),
        ]
        private static let others = [
            ("records/lookup", #"\#(zone),"records":[{"recordName":"r0"}]}"#),
            (
                "records/query",
                #"\#(zone),"query":{"recordType":"Note","filterBy":[{"fieldName":"t","comparator":"EQUALS","fieldValue":{"value":"x"}}]}}"#
            ),
            ("zones/list", "{}"), ("zones/lookup", #"{"zones":[\#(zone)}]}"#),
        ]

        /// Feeds that the standby has read, and those that the server has read in its stead.
        private struct Counts: Equatable {
            var read: Int
            var passedOn: Int
        }

        private func counts(_ server: ServerProcess) throws -> Counts {
            Counts(
                read: try #require(try metric("lenticular_standby_reads_total", of: server)),
                passedOn: try #require(
                    try metric("lenticular_standby_reads_passed_on_total", of: server)))
        }

        private func ask(
            _ server: ServerProcess, _ query: String, _ operation: String, _ body: String
        ) throws -> String {
            let answer = try post(server, query, operation, body)
            try #require(answer.status == 200, "\(operation): \(answer)")
            try #require(!answer.body.contains("serverErrorCode"), "\(operation): \(answer)")
            return answer.body
        }

        private func makeZone(_ name: String, at server: ServerProcess, _ query: String) throws {
            _ = try ask(
                server, query, "zones/modify",
                #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"\#(name)"}}}]}"#
            )
        }

        private func save(_ name: String, at server: ServerProcess, _ query: String) throws {
            _ = try ask(
                server, query, "records/modify",
                #"\#(Self.zone),"operations":[{"operationType":"create","record":{"recordType":"Note","#
                    + #""recordName":"\#(name)","fields":{"t":{"value":"x"}}}}]}"#)
        }

        /// Asks for a feed until the standby has read it; every time it is counted once.
        private func readByStandby(
            _ feed: (operation: String, body: String), _ server: ServerProcess, _ query: String
        ) throws {
            try Wait.until {
                let before = try counts(server)
                _ = try ask(server, query, feed.operation, feed.body)
                let after = try counts(server)
                let more = Counts(
                    read: after.read - before.read, passedOn: after.passedOn - before.passedOn)
                try #require(more.read + more.passedOn == 1, "\(feed.operation): \(more)")
                return more.read == 1
            }
        }

        @Test("Every feed is read by the standby; lookups, queries and lists are not")
        func feeds() throws {
            let server = try start("a")
            let query = try enter(server)
            try makeZone("z", at: server, query)
            try save("r0", at: server, query)
            for feed in Self.feeds { try readByStandby(feed, server, query) }
            // The standby has all by now, so it could read these, too.
            let before = try counts(server)
            for (operation, body) in Self.others {
                _ = try ask(server, query, operation, body)
                #expect(try counts(server) == before, "\(operation)")
            }
        }

        @Test("While the standby lags the server reads, and every feed shows what was acknowledged")
        func lagging() throws {
            let server = try start("a")
            let query = try enter(server)
            try makeZone("z", at: server, query)
            for feed in Self.feeds { try readByStandby(feed, server, query) }
            let standby = try Connection(
                ConnectionOptions(address: database.standbyAddress(of: "app")))
            _ = try standby.run("SELECT pg_wal_replay_pause()")
            for number in 0..<3 {
                try save("r\(number)", at: server, query)
                try makeZone("zone\(number)", at: server, query)
                for (operation, body) in Self.feeds {
                    let before = try counts(server)
                    let answer = try ask(server, query, operation, body)
                    let shown =
                        operation.contains("database") || operation.contains("zones/")
                        ? "\"zone\(number)\"" : "\"r\(number)\""
                    #expect(answer.contains(shown), "\(operation): \(answer)")
                    let expected = Counts(read: before.read, passedOn: before.passedOn + 1)
                    #expect(try counts(server) == expected, "\(operation)")
                }
            }
            _ = try standby.run("SELECT pg_wal_replay_resume()")
            for feed in Self.feeds { try readByStandby(feed, server, query) }
        }
    }
#endif
