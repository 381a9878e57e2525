#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage

    // What is left of shares that nobody can ask for any more. It goes before tombstones do: a membership leads to a
    // record that is there.
    extension StoreCollection {
        /// Removes shares, grants, views and memberships that ended before a moment.
        mutating func collectShares(olderThan moment: Milliseconds) throws {
            try remove(
                "access_requests", "request",
                "SELECT request FROM access_requests WHERE state = 0 AND made_at < $3",
                .number(transaction.now - StoredAccessRequest.countedMilliseconds))
            try purgeShares("ended_at < $2", .number(moment))
            try collectMemberships(olderThan: moment)
            try collectGrants(olderThan: moment)
            try forgetViews("ended_at < $3", .number(moment))
        }

        /// Removes the rows of a deleted zone's shares, but for the views that tell of the deletion.
        mutating func purgeShares(of zone: Value) throws {
            try purgeShares("zone = $2", zone)
            try remove(
                "grants", "viewer, share, granted",
                "SELECT viewer, share, granted FROM grants WHERE zone = $3", zone)
            try remove(
                "work", "work", "SELECT work FROM work WHERE kind = 1 AND subject = $3", zone)
        }

        /// Removes what belongs to shares, as far as there is room, and each share last.
        private mutating func purgeShares(_ condition: String, _ value: Value) throws {
            while rowsLeft > 0 {
                let found = try transaction.ask(
                    "SELECT share FROM shares WHERE store = $1 AND \(condition) LIMIT 1", store,
                    value)
                guard found.count == 1 else { return }
                let share = Value.number(found.number(0, 0))
                try remove(
                    "memberships", "share, position",
                    "SELECT share, position FROM memberships WHERE share = $3", share)
                try remove(
                    "current_memberships", "record",
                    "SELECT record FROM current_memberships WHERE share = $3", share)
                guard rowsLeft > 0 else { return }
                // Of these there are few.
                _ = try transaction.ask(
                    ["participants", "access_requests", "share_work_marks", "shares"].map {
                        Query("DELETE FROM \($0) WHERE store = $1 AND share = $2", store, share)
                    })
                rowsLeft -= 1
            }
        }

        private mutating func collectMemberships(olderThan moment: Milliseconds) throws {
            guard rowsLeft > 0 else { return }
            let gone = try transaction.ask(
                """
                WITH gone AS (
                    DELETE FROM memberships WHERE store = $1 AND (share, position) IN (
                        SELECT share, position FROM memberships
                        WHERE store = $1 AND left_at < $3 LIMIT $2)
                    RETURNING share, position),
                    last AS (
                        SELECT s.zone, max(g.position) AS position
                        FROM gone g JOIN shares s ON s.store = $1 AND s.share = g.share
                        GROUP BY s.zone),
                    told AS (
                        UPDATE views v SET whole_after = greatest(v.whole_after, l.position)
                        FROM last l WHERE v.store = $1 AND v.zone = l.zone)
                SELECT count(*) FROM gone
                """, store, .number(Int64(rowsLeft)), .number(moment))
            rowsLeft -= Int(gone.number(0, 0))
        }

        private mutating func collectGrants(olderThan moment: Milliseconds) throws {
            guard rowsLeft > 0 else { return }
            let gone = try transaction.ask(
                """
                WITH gone AS (
                    DELETE FROM grants WHERE store = $1 AND (viewer, share, granted) IN (
                        SELECT viewer, share, granted FROM grants
                        WHERE store = $1 AND revoked_at < $3 LIMIT $2)
                    RETURNING viewer, zone, revoked),
                    last AS (
                        SELECT viewer, zone, max(revoked) AS revoked FROM gone
                        GROUP BY viewer, zone),
                    told AS (
                        UPDATE views v SET whole_after = greatest(v.whole_after, l.revoked)
                        FROM last l WHERE v.store = $1 AND v.viewer = l.viewer AND v.zone = l.zone)
                SELECT count(*) FROM gone
                """, store, .number(Int64(rowsLeft)), .number(moment))
            rowsLeft -= Int(gone.number(0, 0))
        }

        /// Removes views of zones that their viewers do not see any more, as far as there is room.
        ///
        /// - Parameter condition: its third parameter is the value.
        mutating func forgetViews(_ condition: String, _ value: Value) throws {
            guard rowsLeft > 0 else { return }
            let gone = try transaction.ask(
                """
                WITH gone AS (
                    DELETE FROM views WHERE store = $1 AND (viewer, zone) IN (
                        SELECT viewer, zone FROM views
                        WHERE store = $1 AND ended IS NOT NULL AND \(condition) LIMIT $2)
                    RETURNING viewer, ended),
                    last AS (SELECT viewer, max(ended) AS ended FROM gone GROUP BY viewer),
                    told AS (
                        INSERT INTO viewers AS w (store, name, whole_after)
                        SELECT $1, viewer, ended FROM last
                        ON CONFLICT (store, name) DO UPDATE SET
                            whole_after = greatest(w.whole_after, excluded.whole_after))
                SELECT count(*) FROM gone
                """, store, .number(Int64(rowsLeft)), value)
            rowsLeft -= Int(gone.number(0, 0))
        }
    }
#endif
