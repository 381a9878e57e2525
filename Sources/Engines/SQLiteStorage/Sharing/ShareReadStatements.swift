import SQLite

/// The statements that read shares, prepared when a connection is first asked for one.
final class ShareReadStatements: LazyStatements {
    lazy var shares = Shares(connection)
    lazy var viewers = Viewers(connection)
    lazy var coverage = Coverage(connection)

    /// About shares and those who take part in them.
    final class Shares: LazyStatements {
        private static let share =
            """
            SELECT id, zone, record, root, public_permission, created, ended, allows_requests,
                requests_told_at
            FROM shares
            """
        lazy var shareByNumber = connection.statement("\(Self.share) WHERE id = ?1")
        lazy var shareByRoot = connection.statement(
            "\(Self.share) WHERE root = ?1 AND ended IS NULL")
        lazy var shareByRecord = connection.statement(
            "\(Self.share) WHERE record = ?1 AND ended IS NULL")
        // Left to itself it would go through the shares that have ended as well.
        lazy var sharesOfZone = connection.statement(
            "\(Self.share) INDEXED BY shares_by_zone WHERE zone = ?1 AND ended IS NULL LIMIT ?2")
        private static let participant = """
            SELECT p.share, p.id, p.user_record_name, p.address, p.role, p.permission, p.status,
                p.is_approved_requester
            FROM participants p
            """
        private static let active = "JOIN shares s ON s.id = p.share AND s.ended IS NULL"
        lazy var participants = connection.statement("\(Self.participant) WHERE p.share = ?1")
        lazy var participations = connection.statement(
            "\(Self.participant) \(Self.active) WHERE p.user_record_name = ?1")
        lazy var invitations = connection.statement(
            "\(Self.participant) \(Self.active) WHERE p.address = ?1")
        lazy var accessRequests = connection.statement(
            """
            SELECT user_record_name, made_at, state FROM access_requests
            WHERE share = ?1 AND state <> 0 ORDER BY made_at, id
            """)
        lazy var accessRequestsOfUser = connection.statement(
            """
            SELECT user_record_name, made_at, state FROM access_requests
            WHERE user_record_name = ?1 AND made_at > ?2 ORDER BY made_at, id
            """)
        private static let guids = "SELECT record, value FROM short_guids"
        lazy var shortGUID = connection.statement("\(Self.guids) WHERE record = ?1")
        lazy var recordByShortGUID = connection.statement("\(Self.guids) WHERE value = ?1")
        lazy var location = connection.statement(
            "SELECT zone, name, position FROM heads WHERE id = ?1")
        lazy var ownerByNumber = connection.statement(
            "SELECT record_name, used_bytes, whole_after FROM owners WHERE id = ?1")
    }

    /// About what viewers have been granted.
    final class Viewers: LazyStatements {
        private static let grants =
            "SELECT share, zone, permission, granted, revoked, changed FROM grants"
        lazy var grant = connection.statement(
            "\(Self.grants) WHERE share = ?1 AND viewer = ?2 AND revoked IS NULL")
        lazy var grantsChanged = connection.statement(
            "\(Self.grants) WHERE viewer = ?1 AND zone = ?2 AND changed > ?3 ORDER BY changed, share"
        )
        private static let views = "SELECT zone, since, ended, changed, whole_after FROM views"
        lazy var view = connection.statement("\(Self.views) WHERE viewer = ?1 AND zone = ?2")
        lazy var viewsChanged = connection.statement(
            "\(Self.views) WHERE viewer = ?1 AND changed > ?2 ORDER BY changed LIMIT ?3")
        lazy var currentViews = connection.statement(
            "\(Self.views) WHERE viewer = ?1 AND ended IS NULL ORDER BY zone")
        lazy var viewer = connection.statement(
            """
            SELECT coalesce((SELECT whole_after FROM viewers WHERE name = ?1), 0)
            """)
    }

    /// About what shares cover, and the trees that they follow.
    final class Coverage: LazyStatements {
        lazy var current = connection.statement(
            """
            SELECT c.share, c.position FROM current_memberships c
                JOIN shares s ON s.id = c.share AND s.ended IS NULL
            WHERE c.record = ?1
            """)
        private static let columns =
            "t.share, t.position, t.record, t.version, t.record_type, t.entered, t.left"
        lazy var memberships = connection.statement(
            """
            SELECT \(Self.columns) FROM memberships t WHERE t.share = ?1 AND t.position > ?2
            ORDER BY t.position
            """)
        lazy var membershipsWithVersions = connection.statement(
            """
            SELECT \(Self.columns), v.content FROM memberships t
                LEFT JOIN version_rows v ON t.left IS NULL AND v.key = (?3 | t.version)
            WHERE t.share = ?1 AND t.position > ?2 ORDER BY t.position
            """)
        lazy var changedMemberships = connection.statement(
            """
            SELECT \(Self.columns), v.content, g.granted <= ?3 AND g.revoked IS NULL
            FROM grants g LEFT JOIN memberships t ON t.share = g.share AND t.position > ?3
                LEFT JOIN version_rows v ON t.left IS NULL AND v.key = (?4 | t.version)
            WHERE g.viewer = ?1 AND g.zone = ?2 AND g.changed > ?3 ORDER BY g.changed
            """)
        private static let since = "SELECT since FROM share_work_marks"
        lazy var workOfChildren = connection.statement(
            "\(Self.since) WHERE share = ?1 AND record = ?2")
        lazy var workOfShare = connection.statement("\(Self.since) WHERE share = ?1 LIMIT 1")
        // Work without a mark, too: its share may have ended so long ago that nothing is left of it.
        lazy var workOfZone = connection.statement(
            """
            SELECT coalesce(since, 1) FROM work LEFT JOIN share_work_marks ON record = item
            WHERE kind = 1 AND subject = ?1 LIMIT 1
            """)
    }
}
