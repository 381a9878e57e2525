#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage

    // What shares cover.
    extension PostgreSQLTransaction {
        func move(_ membership: MembershipMove) throws {
            let (record, position) = (membership.record, membership.position)
            switch (membership.previous, membership.next) {
            case (nil, let next?): enter(record, next, at: position)
            case (let previous?, let next?):
                guard previous.share == next.share else {
                    throw BrokenInvariant(
                        "a record leaves a share before it comes into another: \(record.value)")
                }
                renew(record, previous, at: position, type: next.type)
            case (let previous?, nil):
                leave(record, previous, at: position, left: membership.left)
            case (nil, nil): return
            }
            noteMove(membership)
        }

        /// Only into a share that stands.
        private func enter(
            _ record: RecordNumber, _ next: MembershipMove.Next, at position: Position
        ) {
            job.statements.append(
                .requiring(
                    1,
                    """
                    INSERT INTO memberships (store, share, position, record, version, type, entered)
                    SELECT $1, s.share, $3, $4, $5, $6, $3 FROM shares s
                    WHERE s.store = $1 AND s.share = $2 AND s.ended IS NULL
                    """, .number(store), .number(next.share.value), .number(position),
                    .number(record.value), .number(next.version), .number(next.type)))
            setMembership(record, by: next.share, at: position)
        }

        /// Coverage leads to its record's membership: so that is there, once.
        private func renew(
            _ record: RecordNumber, _ membership: CurrentMembership, at position: Position,
            type: Int64
        ) {
            job.statements.append(
                .requiring(
                    1,
                    """
                    UPDATE memberships SET position = $4, version = $4, type = $5
                    WHERE store = $1 AND share = $2 AND position = $3 AND record = $6
                        AND left_through IS NULL
                    """, .number(store), .number(membership.share.value),
                    .number(membership.position), .number(position), .number(type),
                    .number(record.value)))
            setMembership(record, by: membership.share, at: position)
        }

        private func leave(
            _ record: RecordNumber, _ membership: CurrentMembership, at position: Position,
            left: Position
        ) {
            job.statements += [
                .requiring(
                    1,
                    """
                    UPDATE memberships SET position = $4, left_through = $5, left_at = $6
                    WHERE store = $1 AND share = $2 AND position = $3 AND record = $7
                        AND left_through IS NULL
                    """, .number(store), .number(membership.share.value),
                    .number(membership.position), .number(position), .number(left), .number(now),
                    .number(record.value)),
                Query(
                    "DELETE FROM current_memberships WHERE store = $1 AND record = $2",
                    .number(store), .number(record.value)),
            ]
            touch(membership.share, position)
        }

        private func setMembership(
            _ record: RecordNumber, by share: ShareNumber, at position: Position
        ) {
            job.statements.append(
                Query(
                    """
                    INSERT INTO current_memberships (store, record, share, position)
                    VALUES ($1, $2, $3, $4)
                    ON CONFLICT (store, record) DO UPDATE SET
                        share = excluded.share, position = excluded.position
                    """, .number(store), .number(record.value), .number(share.value),
                    .number(position)))
            touch(share, position)
        }

        /// Notes a change of a share, for those who have it to be told at the group's end.
        private func touch(_ share: ShareNumber, _ position: Position) {
            job.shares[share] = max(job.shares[share] ?? 0, position)
        }

        /// Notes the shares that work on a record's children concerns.
        func mark(_ children: MovedChildren, of record: RecordNumber) {
            group.known.shares.forgetWork()
            guard !children.shares.isEmpty else { return }
            job.statements.append(
                Query(
                    """
                    INSERT INTO share_work_marks (store, share, record, since)
                    SELECT $1, share, $2, $3 FROM unnest($4::bigint[]) AS n (share)
                    ON CONFLICT (store, share, record) DO UPDATE SET since = excluded.since
                    """, .number(store), .number(record.value), .number(children.since),
                    .numbers(Set(children.shares).map(\.value))))
        }

        /// Takes away the notes of the shares that work on a record's children concerned.
        func endCoverageWork(_ record: RecordNumber) {
            group.known.shares.forgetWork()
            job.statements.append(
                Query(
                    "DELETE FROM share_work_marks WHERE store = $1 AND record = $2",
                    .number(store), .number(record.value)))
        }
    }
#endif
