#if PostgreSQL
    import PostgreSQL
    import Storage

    // What each group writes beside what its writes have changed.
    extension StoreGroups {
        /// What of the group's sums waits is decided by one moment.
        var recentSums: RecentSums {
            RecentSums(store: store, number: (begunProgress?.commitCount ?? 0) + 1, now: begunAt)
        }

        /// What tells the server of changes.
        func statements(telling changes: StoreChanges) -> [Query] {
            changes.queries(recentSums, known.countings, page: facts.progressPage)
        }

        func counterQuery(moves: Bool) -> Query {
            let progress = progress ?? begunProgress
            let numbers = progress?.next ?? .first
            return .requiring(
                1,
                """
                UPDATE progress SET last_position = $2, next_owner = $3, next_zone = $4,
                    next_record = $5, next_type = $6, next_role = $7, next_work = $8,
                    schema_revision = $9, life_count = $10, incarnation = $11, cluster = $12,
                    timeline = $13, next_share = $15, next_request = $16,
                    subscription_revision = $17, follower_revision = $18,
                    next_destination = $19, next_notice = $20, index_revision = $21,
                    next_index = $22, commit_count = $24
                WHERE \(ProgressRow.condition(23)) AND last_position < $14
                """, .number(store),
                .number(moves ? next - 1 : progress?.lastPosition), .number(numbers.owner),
                .number(numbers.zone), .number(numbers.record), .number(numbers.type),
                .number(numbers.role), .number(numbers.work), .number(progress?.schemaRevision),
                .number(progress?.lifeCount), .number(progress?.incarnation),
                .number(progress?.node.cluster), .number(progress?.node.timeline),
                .number(groupFirst), .number(numbers.share), .number(numbers.request),
                .number(progress?.subscriptionRevision), .number(progress?.followerRevision),
                .number(numbers.destination), .number(numbers.notice),
                .number(progress?.indexRevision), .number(numbers.index),
                .number(facts.progressPage), .number(progress.map { $0.commitCount + 1 }))
        }

        /// Marks the group.
        ///
        /// A row each: one row that every group wrote would have as many versions as there were groups, while somebody
        /// keeps a snapshot open.
        var markQueries: [Query] {
            let mark = Query(
                """
                INSERT INTO group_marks (store, process, number, committed_at)
                VALUES ($1, $2, $3, $4)
                """, .number(store), .bytes(process), .number(number), .number(clock.now()))
            guard prunesMarks else { return [mark] }
            let passed = Query(
                """
                DELETE FROM group_marks
                WHERE store = $1 AND process = $2 AND number >= $3 AND number < $4
                """, .number(store), .bytes(process), .number(firstMark),
                .number(number - Self.marksKept))
            return [mark, passed]
        }

        /// Whether the group removes marks; numbers of groups without one count, too.
        var prunesMarks: Bool { number - firstMark >= Self.marksKept + Self.marksAtOnce }

        /// Only the last mark is ever looked for.
        static var marksKept: Int64 { 256 }
        /// How many a group removes.
        private static var marksAtOnce: Int64 { 64 }

        // MARK: - When there is no room

        var refusalWhileFull: any Error { StorageFailure.full }

        func saysFull(_ error: any Error) -> Bool { (error as? PostgreSQLError)?.kind == .full }

        func becameFull() {}

        func makeRoom() {}

        /// Whether there is room only a write can tell.
        func hasRoomAgain() -> Bool { true }
    }
#endif
