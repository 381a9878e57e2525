#if PostgreSQL
    import CatalogSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    // Shares, participants and what viewers are granted.
    extension PostgreSQLTransaction {
        func keepsTrees(_ zone: ZoneNumber) throws -> Bool {
            guard !job.trees.contains(zone), !group.changes.trees.contains(zone) else {
                return true
            }
            if let known = group.known.sharing[zone] { return known.contains(.trees) }
            let rows = try ask(
                "SELECT \(ZoneRows.sharing) FROM zones z WHERE z.store = $1 AND z.zone = $2",
                .number(store), .number(zone.value))
            let found = ZoneSharing(rawValue: rows.count == 1 ? rows.number(0, 0) : 0)
            group.known.sharing[zone] = found
            return found.contains(.trees)
        }

        func makeShare(
            in zone: ZoneNumber, record: RecordNumber, root: RecordNumber?,
            publicPermission: SharePermission
        ) throws -> StoredShare {
            let share = StoredShare(
                number: ShareNumber(try group.take(\.share)), zone: zone, record: record,
                root: root, publicPermission: publicPermission, created: try takePosition(),
                ended: nil)
            if root != nil { job.trees.insert(zone) }
            group.known.shares.forget()
            job.statements.append(
                Query(
                    """
                    INSERT INTO shares (store, share, zone, record, root, public_permission, created)
                    VALUES ($1, $2, $3, $4, $5, $6, $7)
                    """, .number(store), .number(share.number.value), .number(zone.value),
                    .number(record.value), .number(root?.value),
                    .number(publicPermission.rawValue), .number(share.created)))
            return share
        }

        func save(_ share: StoredShare) throws {
            group.known.shares.forget()
            job.statements.append(
                Query(
                    """
                    UPDATE shares SET public_permission = $3, allows_requests = $4,
                        requests_told_at = $5
                    WHERE store = $1 AND share = $2
                    """, .number(store), .number(share.number.value),
                    .number(share.publicPermission.rawValue),
                    .number(share.allowsRequests ? 1 : 0), .number(share.requestsToldAt ?? 0)))
        }

        private static let narrowed = """
            shares_granted = shares_granted - 1, changed = $3,
            ended = CASE shares_granted WHEN 1 THEN $3 END,
            ended_at = CASE shares_granted WHEN 1 THEN $4 END
            """
        private static let revoked = "revoked = $3, revoked_at = $4, changed = $3"

        func endShare(_ share: ShareNumber) throws {
            let position = try takePosition()
            group.known.shares.forget()
            let values: [Value] = [
                .number(store), .number(share.value), .number(position), .number(now),
            ]
            // Views first: which they are, the grants say.
            job.statements += [
                Query(
                    """
                    UPDATE views v SET \(Self.narrowed) FROM grants g
                    WHERE v.store = $1 AND g.store = $1 AND g.share = $2 AND g.revoked IS NULL
                        AND v.viewer = g.viewer AND v.zone = g.zone
                    """, values),
                // Who has a zone has a grant of it.
                Query(
                    """
                    SELECT 1 / (NOT EXISTS (
                        SELECT 1 FROM grants g LEFT JOIN views v
                            ON v.store = $1 AND v.viewer = g.viewer AND v.zone = g.zone
                        WHERE g.store = $1 AND g.share = $2 AND g.revoked IS NULL
                            AND (v.shares_granted IS NULL OR v.shares_granted < 0
                                OR (v.ended IS NULL) <> (v.shares_granted > 0))))::int
                    """, .number(store), .number(share.value)),
                Query(
                    """
                    UPDATE grants SET \(Self.revoked)
                    WHERE store = $1 AND share = $2 AND revoked IS NULL
                    """, values),
                Query(
                    """
                    UPDATE shares SET ended = $3, ended_at = $4
                    WHERE store = $1 AND share = $2 AND ended IS NULL
                    """, values),
                Query(
                    "DELETE FROM participants WHERE store = $1 AND share = $2", .number(store),
                    .number(share.value)),
                Query(
                    "DELETE FROM access_requests WHERE store = $1 AND share = $2", .number(store),
                    .number(share.value)),
            ]
            if let ended = try self.share(share) {
                job.moved.insert(.zone(ended.zone))
                try note(.shareEnded, of: ended.zone, at: position)
            }
        }

        /// Takes a zone that is deleted at a position away from everybody who saw something of it.
        func endShares(of zone: ZoneNumber, at position: Position) {
            if !isUnshared(zone) { group.known.shares.forget() }
            let values: [Value] = [
                .number(store), .number(zone.value), .number(position), .number(now),
            ]
            job.statements += [
                Query(
                    """
                    UPDATE views SET shares_granted = 0, changed = $3, ended = $3, ended_at = $4
                    WHERE store = $1 AND zone = $2 AND ended IS NULL
                    """, values),
                Query(
                    """
                    UPDATE grants SET \(Self.revoked)
                    WHERE store = $1 AND zone = $2 AND revoked IS NULL
                    """, values),
                Query(
                    """
                    UPDATE shares SET ended = $3, ended_at = $4
                    WHERE store = $1 AND zone = $2 AND ended IS NULL
                    """, values),
            ]
        }

        func save(
            _ participants: [StoredParticipant], removing ids: [String], of share: ShareNumber
        ) throws {
            let key: [Value] = [.number(store), .number(share.value)]
            if !ids.isEmpty {
                job.statements.append(
                    Query(
                        "DELETE FROM participants WHERE store = $1 AND share = $2 AND id = ANY ($3)",
                        key + [.texts(ids)]))
            }
            for participant in participants {
                job.statements.append(
                    Query(
                        """
                        INSERT INTO participants (store, share, id, user_record_name, address, role,
                            permission, status, is_approved_requester)
                        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
                        ON CONFLICT (store, share, id) DO UPDATE SET
                            user_record_name = excluded.user_record_name,
                            address = excluded.address, role = excluded.role,
                            permission = excluded.permission, status = excluded.status,
                            is_approved_requester = excluded.is_approved_requester
                        """,
                        key + [
                            .text(participant.id),
                            .bytes(participant.user.map { Array($0.text.utf8) }),
                            .bytes(participant.address.map { Array($0.utf8) }),
                            .number(participant.role.rawValue),
                            .number(participant.permission.rawValue),
                            .number(participant.status.rawValue),
                            .number(participant.isApprovedRequester ? 1 : 0),
                        ]))
            }
        }

        /// Gives a record a short identifier, unless it has one already.
        func keep(shortGUID value: String, of record: RecordNumber) {
            job.statements.append(
                Query(
                    """
                    INSERT INTO short_guids (store, value, record) VALUES ($1, $2, $3)
                    ON CONFLICT (store, record) DO NOTHING
                    """, .number(store), .text(value), .number(record.value)))
        }

        // MARK: - What viewers are granted

        func set(_ changes: [GrantChange], of share: ShareNumber) throws {
            guard !changes.isEmpty else { return }
            group.known.shares.forgetSights()
            let answers = try ask([
                Query(
                    """
                    SELECT \(ShareColumns.grant), g.viewer FROM grants g
                    WHERE g.store = $1 AND g.share = $2 AND g.viewer = ANY ($3)
                        AND g.revoked IS NULL
                    """, .number(store), .number(share.value), .texts(changes.map(\.viewer.text))),
                Query(
                    "SELECT \(ShareColumns.share) FROM shares s WHERE s.store = $1 AND s.share = $2",
                    .number(store), .number(share.value)),
            ])
            let standing =
                try answers[1].all { try StoredShare(row: $0) }.first
            var known: [String: StoredGrant] = [:]
            for (row, grant) in try answers[0].all(StoredGrant.init(row:)).enumerated() {
                known[answers[0].text(row, 6)] = grant
            }
            for change in changes {
                try set(
                    change.permission, of: share, standing, change.viewer, known[change.viewer.text]
                )
            }
        }

        private func set(
            _ permission: SharePermission?, of share: ShareNumber, _ standing: StoredShare?,
            _ viewer: UserRecordName, _ known: StoredGrant?
        ) throws {
            switch (known, permission) {
            case (nil, nil): break
            case (nil, let permission?):
                guard let standing, standing.ended == nil else {
                    throw BrokenInvariant(
                        "only a standing share covers or is granted: share \(share.value)")
                }
                try insert(standing, viewer, permission)
            case (let known?, nil): try end(known, of: viewer)
            case (_?, let permission?):
                job.statements.append(
                    Query(
                        """
                        UPDATE grants SET permission = $4
                        WHERE store = $1 AND share = $2 AND viewer = $3 AND revoked IS NULL
                        """, .number(store), .number(share.value), .text(viewer.text),
                        .number(permission.rawValue)))
            }
        }

        private func insert(
            _ share: StoredShare, _ viewer: UserRecordName, _ permission: SharePermission
        ) throws {
            let position = try takePosition()
            let key: [Value] = [.number(store), .text(viewer.text), .number(share.zone.value)]
            job.statements += [
                Query(
                    """
                    INSERT INTO grants (store, viewer, zone, share, permission, granted, changed)
                    VALUES ($1, $2, $3, $4, $5, $6, $6)
                    """,
                    key + [
                        .number(share.number.value), .number(permission.rawValue),
                        .number(position),
                    ]),
                Query(
                    """
                    UPDATE views SET changed = -1
                    WHERE store = $1 AND viewer = $2 AND ended IS NOT NULL AND zone IN (
                        SELECT gone.zone FROM zones gone JOIN zones made ON made.store = $1
                            AND gone.owner = made.owner AND gone.name = made.name
                            AND gone.zone <> made.zone
                        WHERE gone.store = $1 AND made.zone = $3)
                    """, key),
                Query(
                    """
                    INSERT INTO views AS v (store, viewer, zone, since, shares_granted, changed,
                        whole_after)
                    VALUES ($1, $2, $3, $4, 1, $4, $4)
                    ON CONFLICT (store, viewer, zone) DO UPDATE SET
                        since = CASE WHEN v.ended IS NULL THEN v.since ELSE $4 END,
                        whole_after = CASE WHEN v.ended IS NULL THEN v.whole_after ELSE $4 END,
                        ended = NULL, ended_at = NULL, shares_granted = v.shares_granted + 1,
                        changed = $4
                    """, key + [.number(position)]), viewCheck(key),
            ]
            try moveSight(of: viewer, in: share.zone, at: position)
        }

        private func end(_ grant: StoredGrant, of viewer: UserRecordName) throws {
            let position = try takePosition()
            let key: [Value] = [.number(store), .text(viewer.text), .number(grant.zone.value)]
            job.statements += [
                Query(
                    """
                    UPDATE views SET \(Self.narrowed)
                    WHERE store = $1 AND zone = $2 AND viewer = $5
                    """, .number(store), .number(grant.zone.value), .number(position),
                    .number(now), .text(viewer.text)),
                Query(
                    """
                    UPDATE grants SET \(Self.revoked)
                    WHERE store = $1 AND share = $2 AND viewer = $5 AND revoked IS NULL
                    """, .number(store), .number(grant.share.value), .number(position),
                    .number(now), .text(viewer.text)), viewCheck(key),
            ]
            try moveSight(of: viewer, in: grant.zone, at: position)
        }

        private func moveSight(
            of viewer: UserRecordName, in zone: ZoneNumber, at position: Position
        ) throws {
            job.moved.formUnion([.person(viewer), .zone(zone)])
            try note(.sight, of: zone, at: position, person: viewer)
        }

        /// A viewer has a zone exactly as long as a share of it is granted to them.
        private func viewCheck(_ key: [Value]) -> Query {
            Query(
                """
                SELECT 1 / (EXISTS (
                    SELECT 1 FROM views v
                    WHERE v.store = $1 AND v.viewer = $2 AND v.zone = $3 AND v.shares_granted >= 0
                        AND (v.ended IS NULL) = (v.shares_granted > 0)
                        AND (v.ended IS NULL) = EXISTS (
                            SELECT 1 FROM grants g WHERE g.store = $1 AND g.viewer = $2
                                AND g.zone = $3 AND g.revoked IS NULL)))::int
                """, key)
        }

        // MARK: - Requests to take part

        func save(
            _ requests: [StoredAccessRequest], settling users: [UserRecordName],
            of share: ShareNumber?
        ) throws {
            if !users.isEmpty {
                // They count on, as requests of their day.
                job.statements.append(
                    Query(
                        """
                        UPDATE access_requests SET state = 0
                        WHERE store = $1 AND share = $2 AND user_record_name = ANY ($3)
                        """, .number(store), .number(share?.value ?? 0),
                        .texts(users.map(\.text))))
            }
            for request in requests {
                let state: RequestState =
                    share == nil ? .counted : request.isBlocked ? .blocked : .waiting
                try insert(request, of: share, state)
            }
        }

        private func insert(
            _ request: StoredAccessRequest, of share: ShareNumber?, _ state: RequestState
        ) throws {
            job.statements.append(
                Query(
                    """
                    INSERT INTO access_requests
                        (store, request, share, user_record_name, made_at, state)
                    VALUES ($1, $2, $3, $4, $5, $6)
                    """, .number(store), .number(try group.take(\.request)),
                    .number(share?.value ?? 0), .text(request.user.text),
                    .number(request.madeAt ?? .unset),
                    .number(state.rawValue)))
        }
    }
#endif
