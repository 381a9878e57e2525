import CloudModel
import Storage

// What is left of shares that nobody can ask for any more. It goes before tombstones do: while a membership is
// there, the number of its record is not given to another one.
extension GarbageCollector {
    /// Removes shares, grants, views and stays that ended before a moment.
    mutating func collectShares(olderThan moment: Milliseconds) throws {
        try collectRequests()
        try collectEndedShares(olderThan: moment)
        try collectEndedMemberships(olderThan: moment)
        try collectGrants(olderThan: moment)
        try collectViews(olderThan: moment)
    }

    /// Removes the rows of a deleted zone's shares, but for the views that tell of the deletion.
    mutating func purgeShares(of zone: ZoneNumber) throws {
        while rowsLeft > 0,
            let share = try keys(
                "SELECT id, zone FROM shares WHERE zone = ?1 LIMIT 1", zone.value
            ).first?.0
        {
            try purge(share)
        }
        guard rowsLeft > 0 else { return }
        try remove("grants", "WHERE zone = ?1", zone.value)
        guard rowsLeft > 0 else { return }
        try remove("work", "WHERE kind = 1 AND subject = ?1", zone.value)
    }

    /// Removes requests for access that count no more.
    private mutating func collectRequests() throws {
        guard rowsLeft > 0 else { return }
        let old = try keys(
            "SELECT id, share FROM access_requests WHERE state = 0 AND made_at < ?1 LIMIT ?2",
            now - StoredAccessRequest.countedMilliseconds, Int64(rowsLeft))
        for (request, _) in old {
            try run("DELETE FROM access_requests WHERE id = ?1", request)
        }
        rowsLeft -= old.count
    }

    private mutating func collectEndedShares(olderThan moment: Milliseconds) throws {
        while rowsLeft > 0,
            let share = try keys(
                "SELECT id, zone FROM shares WHERE ended_at < ?1 LIMIT 1", moment
            ).first?.0
        {
            try purge(share)
        }
    }

    /// Removes what belongs to a share, as far as there is room, and the share last.
    private mutating func purge(_ share: Int64) throws {
        for position in try keys(
            "SELECT position, record FROM memberships WHERE share = ?1 LIMIT ?2", share,
            Int64(rowsLeft)
        ).map(\.0) {
            try run("DELETE FROM memberships WHERE share = ?1 AND position = ?2", share, position)
            rowsLeft -= 1
        }
        guard rowsLeft > 0 else { return }
        try remove("current_memberships", "WHERE share = ?1", share)
        guard rowsLeft > 0 else { return }
        // Of these there are few.
        try run("DELETE FROM participants WHERE share = ?1", share)
        try run("DELETE FROM access_requests WHERE share = ?1", share)
        try run("DELETE FROM share_work_marks WHERE share = ?1", share)
        try run("DELETE FROM shares WHERE id = ?1", share)
        rowsLeft -= 1
    }

    private mutating func collectEndedMemberships(olderThan moment: Milliseconds) throws {
        guard rowsLeft > 0 else { return }
        let old = try keys(
            "SELECT share, position FROM memberships WHERE left_at < ?1 LIMIT ?2", moment,
            Int64(rowsLeft))
        var lost: [Int64: Position] = [:]
        for (share, position) in old {
            try run("DELETE FROM memberships WHERE share = ?1 AND position = ?2", share, position)
            lost[share] = max(lost[share] ?? 0, position)
        }
        for (share, position) in lost {
            try run(
                """
                UPDATE views SET whole_after = max(whole_after, ?2)
                WHERE zone = (SELECT zone FROM shares WHERE id = ?1)
                """, share, position)
        }
        rowsLeft -= old.count
    }

    private mutating func collectGrants(olderThan moment: Milliseconds) throws {
        guard rowsLeft > 0 else { return }
        let old = try keys(
            "SELECT id, revoked FROM grants WHERE revoked_at < ?1 LIMIT ?2", moment,
            Int64(rowsLeft))
        for (grant, revoked) in old {
            try run(
                """
                UPDATE views SET whole_after = max(whole_after, ?2)
                WHERE (viewer, zone) = (SELECT viewer, zone FROM grants WHERE id = ?1)
                """, grant, revoked)
            try run("DELETE FROM grants WHERE id = ?1", grant)
        }
        rowsLeft -= old.count
    }

    private mutating func collectViews(olderThan moment: Milliseconds) throws {
        while rowsLeft > 0,
            let (zone, ended) = try keys(
                "SELECT zone, ended FROM views WHERE ended_at < ?1 LIMIT 1", moment
            ).first
        {
            try forgetViews(of: zone, ended: ended)
            rowsLeft -= 1
        }
    }

    /// Removes the views of a zone that nobody sees any more, as far as there is room.
    mutating func forgetViews(of zone: Int64) throws {
        while rowsLeft > 0,
            let ended = try keys(
                "SELECT ended, 0 FROM views WHERE zone = ?1 AND ended IS NOT NULL LIMIT 1", zone
            ).first?.0
        {
            try forgetViews(of: zone, ended: ended)
            rowsLeft -= 1
        }
    }

    /// The same zone may have ended for many viewers, at one position or at several.
    private func forgetViews(of zone: Int64, ended: Position) throws {
        try run(
            """
            INSERT INTO viewers (name, whole_after)
            SELECT viewer, ended FROM views WHERE zone = ?1 AND ended = ?2
            ON CONFLICT (name) DO UPDATE SET whole_after =
                max(whole_after, excluded.whole_after)
            """, zone, ended)
        try run("DELETE FROM views WHERE zone = ?1 AND ended = ?2", zone, ended)
    }

    /// Removes rows of a table as far as there is room.
    private mutating func remove(_ table: String, _ condition: String, _ value: Int64) throws {
        let victims = try keys(
            "SELECT rowid, 0 FROM \(table) \(condition) LIMIT ?2", value, Int64(rowsLeft))
        for (victim, _) in victims { try run("DELETE FROM \(table) WHERE rowid = ?1", victim) }
        rowsLeft -= victims.count
    }
}
