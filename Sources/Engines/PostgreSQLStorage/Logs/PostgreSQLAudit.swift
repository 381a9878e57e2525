#if PostgreSQL
    import Audit
    import PostgreSQL
    import StoredRows

    /// The rows of the audit log of all processes.
    package final class PostgreSQLAudit: AuditTable {
        private let logs: LogsSession

        /// The database is first asked when something is to be noted or read.
        package init(_ connection: ConnectionOptions) { logs = LogsSession(connection) }

        package func append(_ make: (_ last: [UInt8]?) -> AuditRow) throws {
            let lock = Query("SELECT pg_advisory_xact_lock($1)", .number(LogsSchema.auditLock))
            let isCertain = try logs.session().write(lock) { session in
                let last = Self.lines(
                    try session.run(
                        "SELECT number, line FROM audit_lines ORDER BY number DESC LIMIT 1")
                ).first
                let (number, row) = ((last?.number ?? 0) + 1, make(last?.line))
                return [
                    Query(
                        "INSERT INTO audit_lines VALUES ($1, $2)", .number(number),
                        .bytes(row.line)),
                    Query(
                        "INSERT INTO audit_terms SELECT unnest($2::bigint[]), $1", .number(number),
                        .numbers(row.terms)),
                ]
            }
            guard isCertain else { throw UncertainLine() }
        }

        package func lines(
            before number: Int64?, with term: Int64?, limit: Int
        ) throws -> [(number: Int64, line: [UInt8])] {
            let (before, limit) = (Value.number(number ?? .max), Value.number(Int64(limit)))
            guard let term else {
                return Self.lines(
                    try logs.session().ask(
                        Query(
                            """
                            SELECT number, line FROM audit_lines WHERE number < $1
                            ORDER BY number DESC LIMIT $2
                            """, before, limit)))
            }
            return Self.lines(
                try logs.session().ask(
                    Query(
                        """
                        SELECT number, line FROM audit_lines JOIN (
                            SELECT number FROM audit_terms WHERE term = $3 AND number < $1
                            ORDER BY number DESC LIMIT $2) AS found USING (number)
                        ORDER BY number DESC
                        """, before, limit, .number(term))))
        }

        private static func lines(_ rows: Rows) -> [(number: Int64, line: [UInt8])] {
            (0..<rows.count).map { (rows.number($0, 0), Array(rows.bytes($0, 1))) }
        }
    }

    /// The database did not say whether a line of the audit log is there.
    struct UncertainLine: Error, CustomStringConvertible {
        var description: String { "the database did not say whether it is there" }
    }
#endif
