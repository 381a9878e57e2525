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
        /// Rows that one step forgets at most; the rest go with the steps after it.
        private static let forgottenMax = 10_000

        private static func removing(_ condition: String) -> String {
            """
            WITH gone AS (DELETE FROM changes WHERE store = $1 \(condition) RETURNING 1)
            UPDATE progress SET changes_kept = changes_kept - (SELECT count(*) FROM gone)
            WHERE \(ProgressRow.condition(2))
            """
        }

        private static let forgetPassedText = removing(
            """
            AND position <= (SELECT min(position) FROM followers WHERE store = $1)
            AND (position <= coalesce(
                    (SELECT position FROM changes WHERE store = $1 ORDER BY position
                    LIMIT 1 OFFSET \(forgottenMax)), \(Int64.max))
                OR NOT EXISTS (
                    SELECT 1 FROM followers WHERE store = $1 AND position < \(Following.letGo)))
            """)

        /// Removes changes that every follower has gone past; all of them where everybody was let go.
        static func forgetPassed(_ store: Int64, page: Int64) -> Query {
            Query(forgetPassedText, .number(store), .number(page))
        }

        static func forgetAll(_ store: Int64, page: Int64) -> Query {
            Query(removing(""), .number(store), .number(page))
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
                    """, values), forgetPassed(store, page: page),
            ]
        }
    }
#endif
