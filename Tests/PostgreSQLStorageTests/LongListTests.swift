#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import PostgreSQLStorage
    import StorageConformance
    import Testing

    @testable import Audit

    @Suite("Lists of 100,000 items on PostgreSQL")
    final class PostgreSQLLongListTests {
        private let location: PostgreSQLLocation

        init() throws { location = try PostgreSQLLocation() }

        deinit { location.remove() }

        /// Runs statements that may take from `n` the numbers from 0 on, and texts that end with five or more digits.
        private func fill(_ inserts: [String]) throws {
            let connection = try Connection(location.connection)
            try connection.run(
                script: """
                    CREATE FUNCTION pg_temp.named(start text, number bigint, digits integer)
                    RETURNS bytea LANGUAGE sql IMMUTABLE
                    AS $$ SELECT convert_to(start || lpad(number::text, digits, '0'), 'UTF8') $$
                    """)
            for insert in inserts {
                try connection.run(
                    script: "\(insert) FROM generate_series(0, \(LongLists.count - 1)) AS n (i)")
            }
            try connection.run(script: "ANALYZE")
        }

        @Test("Each item of the catalog's lists is on one page, and a prefix finds its items")
        func catalog() throws {
            let catalog = try #require(try location.openCatalog() as? PostgreSQLCatalog)
            let user = "convert_to('_' || lpad(to_hex(i), 32, '0'), 'UTF8')"
            try fill([
                """
                INSERT INTO catalog.containers
                SELECT pg_temp.named('c', i, 5), pg_temp.named('C', i, 5), i
                """,
                "INSERT INTO catalog.stores SELECT pg_temp.named('c', i, 5), 'production', '1', i",
                """
                INSERT INTO catalog.api_tokens (hash, name, container, environment, created_at)
                SELECT pg_temp.named('', i, 32), pg_temp.named('t', i, 5), 'c00000', 'production', 1
                """,
                """
                INSERT INTO catalog.server_keys
                SELECT convert_to(lpad(to_hex(i), 64, '0'), 'UTF8'), NULL, 'c00000', 'production',
                    '9', 'public', 1, NULL, \(user)
                """,
                """
                INSERT INTO catalog.accounts
                SELECT pg_temp.named('a', i, 5), NULL, NULL, NULL, i, 0
                """,
                """
                INSERT INTO catalog.addresses
                SELECT pg_temp.named('a', i, 5), 'email', pg_temp.named('p', i, 5) || '@x.y',
                    pg_temp.named('P', i, 5) || '@x.y', 1, 1
                """,
                """
                INSERT INTO catalog.web_tokens
                SELECT pg_temp.named('', i, 32), pg_temp.named('', i, 5), pg_temp.named('a', i, 5),
                    'c00000', 'production', 1, 9, 1, NULL, '', ''
                """,
                """
                INSERT INTO catalog.account_deletions
                SELECT pg_temp.named('d', i, 5), 'c00000', \(user), 'keep'
                """,
            ])
            try LongLists(in: catalog, stores: catalog.stores).check()
        }

        @Test("Each subscription is on one page, and a prefix finds its subscriptions")
        func subscriptions() throws {
            let store = try location.openPostgreSQLStore()
            try fill([
                """
                INSERT INTO stores.subscriptions
                SELECT (SELECT store FROM stores.stores),
                    convert_to('_' || lpad(to_hex(i / 10), 32, '0'), 'UTF8'), 2,
                    pg_temp.named('s', i, 5), 3, '', '', 0, 0, NULL, NULL, 0, '', ''
                """
            ])
            try LongLists.checkSubscriptions(store)
        }

        @Test("Each line of the audit log is on one page, and a prefix finds its lines")
        func audit() throws {
            let log = AuditRows(PostgreSQLAudit(location.connection))
            #expect(try log.report().lineCount == 0)
            let connection = try Connection(location.connection)
            var last: [UInt8]?
            for start in stride(from: 0, to: LongLists.count, by: 10_000) {
                let numbers = (start..<start + 10_000).map { Int64($0) }
                let rows = numbers.map { number in
                    let row = AuditRow(
                        AuditEntry(time: number, who: "o\(number)", what: "act"), after: last)
                    last = row.line
                    return row
                }
                _ = try connection.run(
                    "INSERT INTO logs.audit_lines SELECT unnest($1::bigint[]), unnest($2::bytea[])",
                    .numbers(numbers.map { $0 + 1 }), .byteStrings(rows.map(\.line)))
                let terms = zip(numbers, rows).flatMap { number, row in
                    row.terms.map { (number + 1, $0) }
                }
                _ = try connection.run(
                    "INSERT INTO logs.audit_terms SELECT unnest($1::bigint[]), unnest($2::bigint[])",
                    .numbers(terms.map(\.1)), .numbers(terms.map(\.0)))
            }
            #expect(try Self.count(of: log, prefix: "") == LongLists.count)
            #expect(try Self.count(of: log, prefix: "o777") == 111)
        }

        /// Reads lines to the first, and looks whether each is there once.
        private static func count(of log: AuditRows, prefix: String) throws -> Int {
            var (count, time, end) = (0, Milliseconds.max, Int64?.none)
            repeat {
                let page = try log.page(before: end, since: .min, prefix: prefix, limit: 5_000)
                #expect(page.problems.isEmpty && page.entries.count <= 5_000)
                for entry in page.entries.reversed() {
                    if entry.time >= time { Issue.record("\(entry.time) before \(time)") }
                    time = entry.time
                }
                count += page.entries.count
                end = page.next
            } while end != nil
            return count
        }
    }
#endif
