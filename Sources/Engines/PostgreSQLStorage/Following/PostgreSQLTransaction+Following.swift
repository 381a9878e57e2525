#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    // Who follows the store.
    extension PostgreSQLTransaction: FollowerRows {
        func insert(_ follower: FollowerName) throws -> Position {
            let last = group.reached
            job.statements.append(
                Query(
                    "INSERT INTO followers (store, name, position) VALUES ($1, $2, $3)",
                    .number(store), .text(follower.text), .number(last)))
            return last
        }

        func insert(_ needs: [Need], of follower: FollowerName) throws -> Bool {
            try ask(
                """
                INSERT INTO previous_version_needs (store, follower, scope, number, record_type)
                SELECT $1, $2, * FROM unnest($3::bigint[], $4::bigint[], $5::bigint[])
                ON CONFLICT DO NOTHING
                """, .number(store), .text(follower.text), .numbers(needs.map(\.scope)),
                .numbers(needs.map(\.number)), .numbers(needs.map(\.type))
            ).changeCount > 0
        }

        func setPosition(_ position: Position?, of follower: FollowerName) throws {
            guard let position else { return try remove(follower) }
            job.statements += [
                Query(
                    """
                    UPDATE followers SET position = greatest(position, $3)
                    WHERE store = $1 AND name = $2
                    """, .number(store), .text(follower.text), .number(position)),
                ChangeLog.forget(store, page: group.facts.progressPage),
            ]
        }

        private func remove(_ follower: FollowerName) throws {
            try removeNeeds(of: follower)
            job.statements.append(
                Query(
                    "DELETE FROM followers WHERE store = $1 AND name = $2", .number(store),
                    .text(follower.text)))
            try renewFollowing()
            _ = try ask([ChangeLog.forget(store, page: group.facts.progressPage)])
            if try !following().isOn { try enqueue(.collect) }
        }

        func removeNeeds(of follower: FollowerName) throws {
            job.statements.append(
                Query(
                    "DELETE FROM previous_version_needs WHERE store = $1 AND follower = $2",
                    .number(store), .text(follower.text)))
        }

        func renewFollowing() throws {
            let following = try Following(ask(Following.queries(store)))
            job.following = StoreFacts.KnownFollowing(
                revision: try group.moveFollowers(), following: following)
            job.moved.insert(.followers)
        }

        /// Who follows, as the transaction has left it.
        func following() throws -> Following {
            try job.following?.following
                ?? group.following { try Following(askByKey(Following.queries(store))) }
        }
    }

    // What is noted for them.
    extension PostgreSQLTransaction {
        /// Notes a change of a zone, or of what a person is shown of one.
        func note(
            _ kind: ChangeKind, of zone: ZoneNumber, at position: Position,
            person: UserRecordName? = nil
        ) throws {
            guard try following().isOn else { return }
            job.noted.append(
                NotedChange(
                    position: position, kind: kind, zone: zone, person: person, author: author))
        }

        /// Notes a record's change.
        func note(
            _ version: NewVersion, of record: RecordNumber, former: CurrentRecord?
        ) throws {
            let following = try following()
            guard following.isOn else { return }
            var change = NotedChange(
                position: version.position,
                kind: version.flags.contains(.tombstone) ? .deleted : .saved,
                zone: version.zone.number, author: author)
            (change.record, change.type) = (record, version.type)
            change.wasAlive = version.previousIsAlive
            // NB: of a damaged one nobody can be told what it was.
            if let former, version.previousIsAlive, !former.isDamaged,
                following.mayWant(in: version.zone),
                following.wants((former.type, version.type), in: version.zone)
            {
                change.previous = NotedChange.Previous(
                    position: former.position, type: former.type, flags: former.flags,
                    body: former.body)
            }
            job.noted.append(change)
        }

        /// Removes what is kept for followers of changes up to a position.
        func collectPrevious(through position: Position, rowsMax: Int) throws -> Bool {
            let gone = try ask(
                """
                UPDATE changes SET previous_position = NULL, previous_type = NULL,
                    previous_flags = NULL, previous_body = NULL
                WHERE store = $1 AND position IN (
                    SELECT position FROM changes
                    WHERE store = $1 AND previous_position IS NOT NULL AND position <= $2 LIMIT $3)
                """, .number(store), .number(position), .number(Int64(rowsMax)))
            return gone.changeCount == rowsMax
        }
    }

    extension Following {
        /// The queries that `init` reads.
        fileprivate static func queries(_ store: Int64) -> [Query] {
            [
                Query(
                    """
                    SELECT EXISTS (
                        SELECT 1 FROM followers WHERE store = $1 AND position < \(letGo))::int
                    """, .number(store)),
                Query(
                    """
                    SELECT DISTINCT scope, number, record_type FROM previous_version_needs
                    WHERE store = $1
                    """, .number(store)),
            ]
        }

        fileprivate init(_ rows: [Rows]) throws {
            guard rows.count == 2 else { throw InvalidRow(table: "followers") }
            self.init(isOn: rows[0].number(0, 0) != 0)
            for row in 0..<rows[1].count {
                try add(
                    scope: rows[1].number(row, 0), number: rows[1].number(row, 1),
                    type: rows[1].number(row, 2))
            }
        }
    }
#endif
