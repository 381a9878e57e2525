#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    /// A change as it is kept for followers: a row of `changes`.
    struct NotedChange {
        /// A version that goes, where somebody wants it.
        struct Previous {
            let position: Position
            let type: Int64
            let flags: VersionFlags
            let body: [UInt8]
        }

        let position: Position
        let kind: ChangeKind
        let zone: ZoneNumber
        var record: RecordNumber?
        var type: Int64?
        var wasAlive = false
        var person: UserRecordName?
        var previous: Previous?
        let author: ChangeAuthor?

        /// Writes rows and counts them, in the same statement, so that what is undone is not counted.
        private static let text = """
            WITH noted AS (
                INSERT INTO changes (store, position, kind, zone, record, record_type, was_alive,
                    person, previous_position, previous_type, previous_flags, previous_body,
                    author, device, trace)
                SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],
                    $6::bigint[], $7::bigint[], $8::bytea[], $9::bigint[], $10::bigint[],
                    $11::bigint[], $12::bytea[], $13::bytea[], $14::bytea[], $15::bytea[])
                RETURNING 1)
            UPDATE progress SET changes_kept = changes_kept + (SELECT count(*) FROM noted)
            WHERE \(ProgressRow.condition(16))
            """

        /// - Parameter page: where the row that counts them was (`ProgressRow`).
        static func query(_ changes: [NotedChange], _ store: Int64, page: Int64) -> Query {
            func texts(_ text: (NotedChange) -> String?) -> Value {
                .byteStrings(changes.map { text($0).map { Array($0.utf8) } })
            }
            return Query(
                text, .number(store), .numbers(changes.map(\.position)),
                .numbers(changes.map(\.kind.rawValue)), .numbers(changes.map(\.zone.value)),
                .numbers(changes.map(\.record?.value)), .numbers(changes.map(\.type)),
                .numbers(changes.map { $0.wasAlive ? 1 : 0 }), texts { $0.person?.text },
                .numbers(changes.map(\.previous?.position)),
                .numbers(changes.map(\.previous?.type)),
                .numbers(changes.map(\.previous?.flags.rawValue)),
                .byteStrings(changes.map(\.previous?.body)), texts { $0.author?.user.text },
                texts { $0.author?.device }, texts { $0.author?.trace }, .number(page))
        }
    }

    /// Statements over the table of changes that are kept for followers; each counts what it removes.
    ///
    /// Each is told on which page the row that counts them was (`ProgressRow`).
    enum ChangeLog {
        /// So much one step forgets at most; the rest go with the steps after it, or are collected.
        private static let (forgottenMax, forgottenBytesMax) = (10_000, 67_108_864)

        private static let forgetText = """
            WITH gone AS (
                DELETE FROM changes WHERE store = $1 AND position <= (
                    SELECT max(position) FROM (
                        SELECT position, sum(octet_length(previous_body)) OVER (
                                ORDER BY position ROWS UNBOUNDED PRECEDING)
                            - coalesce(octet_length(previous_body), 0) AS before
                        FROM changes
                        WHERE store = $1 AND position <= coalesce(
                            (SELECT min(position) FROM followers WHERE store = $1), \(Int64.max))
                        ORDER BY position LIMIT $3) AS passed
                    WHERE coalesce(before, 0) < \(forgottenBytesMax))
                RETURNING 1)
            UPDATE progress SET changes_kept = changes_kept - (SELECT count(*) FROM gone)
            WHERE \(ProgressRow.condition(2)) RETURNING (SELECT count(*) FROM gone)
            """

        /// Removes changes that every follower has gone past, as all have where nobody follows; it says how many.
        static func forget(_ store: Int64, page: Int64, atMost limit: Int = forgottenMax) -> Query {
            Query(
                forgetText, .number(store), .number(page), .number(Int64(min(limit, forgottenMax))))
        }

        private static let oldestText = """
            (SELECT position FROM changes WHERE store = $1 ORDER BY position DESC LIMIT 1 OFFSET $2)
            """

        /// Lets those followers go that have more than so many changes before them, and what was kept for them.
        static func letGo(_ store: Int64, behind changesMax: Int, page: Int64) -> [Query] {
            let values: [Value] = [.number(store), .number(Int64(changesMax))]
            return [
                Query(
                    """
                    DELETE FROM previous_version_needs WHERE store = $1 AND follower IN (
                        SELECT name FROM followers WHERE store = $1 AND position < \(oldestText))
                    """, values),
                Query(
                    """
                    UPDATE followers SET position = \(Following.letGo)
                    WHERE store = $1 AND position < \(oldestText)
                    """, values), forget(store, page: page),
            ]
        }
    }
#endif
