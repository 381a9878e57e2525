#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage

    /// Finds what does not agree in a store.
    struct StoreCheck {
        private let snapshot: PostgreSQLSnapshot

        init(_ snapshot: PostgreSQLSnapshot) { self.snapshot = snapshot }

        /// What is wrong, and the question whose rows are wrong.
        private static let questions: [(String, String)] = [
            (
                "the sums of a zone are not those of its records: zone",
                """
                SELECT z.zone FROM current_zones z LEFT JOIN LATERAL (
                    SELECT count(*) AS records, coalesce(sum(octet_length(body)), 0) AS bytes
                    FROM records r WHERE r.store = $1 AND r.zone = z.zone AND r.deleted_at IS NULL
                ) AS found ON true
                WHERE z.store = $1 AND z.deleted_at IS NULL
                    AND (z.record_count <> found.records OR z.body_bytes <> found.bytes)
                """
            ),
            (
                "an owner's bytes are not those of their zones: owner",
                """
                SELECT o.owner FROM current_owners o WHERE o.store = $1 AND o.used_bytes <> (
                    SELECT coalesce(sum(z.body_bytes + z.asset_bytes), 0) FROM current_zones z
                    WHERE z.store = $1 AND z.owner = o.owner AND z.deleted_at IS NULL)
                """
            ),
            (
                "what was added to an owner or their zones will never be counted: owner",
                """
                SELECT DISTINCT r.owner FROM recent_sums r JOIN progress p ON p.store = $1
                    LEFT JOIN owners o ON o.store = $1 AND o.owner = r.owner
                WHERE r.store = $1
                    AND (o.owner IS NULL OR r.number <= o.counted OR r.number > p.commit_count)
                """
            ),
            (
                "a record lies in no zone: record",
                """
                SELECT r.record FROM records r WHERE r.store = $1 AND NOT EXISTS (
                    SELECT 1 FROM zones z WHERE z.store = $1 AND z.zone = r.zone)
                """
            ),
            (
                "a record is beyond the last position, or its zone does not tell of it: record",
                """
                SELECT r.record FROM records r
                    JOIN progress p ON p.store = $1
                    JOIN current_zones z ON z.store = $1 AND z.zone = r.zone
                WHERE r.store = $1 AND (r.position > p.last_position OR r.record >= p.next_record
                    OR (z.deleted_at IS NULL AND z.changed > 0 AND z.changed < r.position))
                """
            ),
            (
                "a zone or its owner is not there, or beyond the numbers given out: zone",
                """
                SELECT z.zone FROM current_zones z JOIN progress p ON p.store = $1
                    LEFT JOIN owners o ON o.store = $1 AND o.owner = z.owner
                WHERE z.store = $1 AND (o.owner IS NULL OR z.zone >= p.next_zone
                    OR o.owner >= p.next_owner OR z.changed > p.last_position)
                """
            ),
            (
                "a shared record's membership is not where it says: record",
                """
                SELECT c.record FROM current_memberships c
                    JOIN shares s ON s.store = $1 AND s.share = c.share AND s.ended IS NULL
                    LEFT JOIN memberships t ON t.store = $1 AND t.share = c.share
                        AND t.position = c.position
                WHERE c.store = $1 AND (t.record IS DISTINCT FROM c.record
                    OR t.left_through IS NOT NULL)
                """
            ),
            (
                "a membership in a standing share is not where its record leads: record",
                """
                SELECT t.record FROM memberships t
                    JOIN shares s ON s.store = $1 AND s.share = t.share AND s.ended IS NULL
                    LEFT JOIN current_memberships c ON c.store = $1 AND c.record = t.record
                WHERE t.store = $1 AND t.left_through IS NULL
                    AND (c.share IS DISTINCT FROM t.share OR c.position <> t.position)
                """
            ),
            (
                "the record or the root of a standing share is gone: share",
                """
                SELECT s.share FROM shares s
                    CROSS JOIN LATERAL (VALUES (s.record), (s.root)) AS part (record)
                    LEFT JOIN records r ON r.store = $1 AND r.record = part.record
                WHERE s.store = $1 AND s.ended IS NULL AND part.record IS NOT NULL
                    AND (r.zone IS DISTINCT FROM s.zone OR r.deleted_at IS NOT NULL)
                """
            ),
            (
                "what is granted has ended, or its viewer does not have the zone: share",
                """
                SELECT g.share FROM grants g
                    LEFT JOIN shares s ON s.store = $1 AND s.share = g.share
                    LEFT JOIN views v ON v.store = $1 AND v.viewer = g.viewer AND v.zone = g.zone
                WHERE g.store = $1 AND g.revoked IS NULL AND (s.share IS NULL
                    OR s.ended IS NOT NULL OR s.zone <> g.zone OR v.zone IS NULL
                    OR v.changed < g.changed)
                """
            ),
            (
                "a viewer's zone miscounts what is granted of it: zone",
                """
                SELECT v.zone FROM views v
                WHERE v.store = $1 AND ((v.ended IS NULL) <> (v.shares_granted > 0)
                    OR v.shares_granted <> (
                        SELECT count(*) FROM grants g WHERE g.store = $1 AND g.viewer = v.viewer
                            AND g.zone = v.zone AND g.revoked IS NULL))
                """
            ),
            (
                "a file is held by other records than it counts: that many",
                """
                SELECT f.references_held FROM asset_files f
                WHERE f.store = $1 AND ((f.references_held = 0) <> (f.unused_since IS NOT NULL)
                    OR f.references_held <> (
                        SELECT count(*) FROM asset_uses u
                        WHERE u.store = $1 AND u.digest = f.digest))
                """
            ),
            (
                "the changes kept for followers are not as many as counted: that many",
                """
                SELECT p.changes_kept FROM progress p WHERE p.store = $1 AND p.changes_kept <> (
                    SELECT count(*) FROM changes c WHERE c.store = $1)
                """
            ),
            (
                "a number is beyond those given out: destination or notice",
                """
                SELECT d.destination FROM destinations d JOIN progress p ON p.store = $1
                WHERE d.store = $1 AND d.destination >= p.next_destination
                UNION ALL
                SELECT o.notice FROM outbox o JOIN progress p ON p.store = $1
                WHERE o.store = $1 AND o.notice >= p.next_notice
                """
            ),
            (
                "a link has no source: record",
                """
                SELECT l.source FROM links l WHERE l.store = $1 AND NOT EXISTS (
                    SELECT 1 FROM records r WHERE r.store = $1 AND r.record = l.source)
                """
            ),
        ]

        func problems() throws -> [String] {
            var problems: [String] = []
            let store = Value.number(snapshot.store)
            let answers = try snapshot.ask(Self.questions.map { Query($0.1, store) })
            for ((words, _), rows) in zip(Self.questions, answers) {
                problems += (0..<rows.count).map { "\(words) \(rows.number($0, 0))" }
            }
            return problems + (try versions())
        }

        /// Reads every version, and what indexes have of it.
        private func versions() throws -> [String] {
            var problems: [String] = []
            var indexes = try IndexCheck(snapshot)
            var cursor: SurveyCursor? = .start
            while let after = cursor {
                do {
                    cursor = try snapshot.versions(after: after, limit: 1_000) { zone, version in
                        try indexes.note(version, in: zone)
                        return true
                    }
                } catch let damaged as DamagedVersion {
                    problems.append("\(damaged)")
                    cursor = SurveyCursor(zone: damaged.zone, position: damaged.position)
                }
                try indexes.compare()
            }
            return problems + (try indexes.problems())
        }
    }
#endif
