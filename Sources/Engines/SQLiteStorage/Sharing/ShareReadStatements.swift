import SQLite

/// The statements that read shares, prepared when a connection is first asked for one.
final class ShareReadStatements: LazyStatements {
    // About shares and those who take part in them.
    private let share = """
        SELECT id, zone, record, root, public_permission, created, ended, allows_requests
        FROM shares
        """
    lazy var shareByNumber = connection.statement("\(share) WHERE id = ?1")
    lazy var shareByRoot = connection.statement("\(share) WHERE root = ?1 AND ended IS NULL")
    lazy var shareByRecord = connection.statement("\(share) WHERE record = ?1 AND ended IS NULL")
    // Left to itself it would go through the shares that have ended as well.
    lazy var sharesOfZone = connection.statement(
        "\(share) INDEXED BY shares_by_zone WHERE zone = ?1 AND ended IS NULL LIMIT ?2")
    private let participant = """
        SELECT p.share, p.id, p.user_record_name, p.address, p.role, p.permission, p.status,
            p.is_approved_requester
        FROM participants p
        """
    private let active = "JOIN shares s ON s.id = p.share AND s.ended IS NULL"
    lazy var participants = connection.statement("\(participant) WHERE p.share = ?1")
    lazy var participations = connection.statement(
        "\(participant) \(active) WHERE p.user_record_name = ?1")
    lazy var invitations = connection.statement("\(participant) \(active) WHERE p.address = ?1")
    lazy var accessRequests = connection.statement(
        """
        SELECT user_record_name, made_at, state FROM access_requests
        WHERE share = ?1 AND state <> 0 ORDER BY made_at, id
        """)
    lazy var accessRequestCount = connection.statement(
        "SELECT count(*) FROM access_requests WHERE user_record_name = ?1 AND made_at > ?2")
    lazy var requestsTold = connection.statement(
        "SELECT requests_told_at FROM shares WHERE id = ?1")
    lazy var shortGUID = connection.statement("SELECT value FROM short_guids WHERE record = ?1")
    lazy var recordByShortGUID = connection.statement(
        "SELECT record FROM short_guids WHERE value = ?1")
    lazy var location = connection.statement(
        "SELECT zone, name, position FROM heads WHERE id = ?1")
    lazy var ownerName = connection.statement("SELECT record_name FROM owners WHERE id = ?1")

    // About what viewers have been granted.
    private let grants = "SELECT share, zone, permission, granted, revoked, changed FROM grants"
    lazy var grant = connection.statement(
        "\(grants) WHERE share = ?1 AND viewer = ?2 AND revoked IS NULL")
    lazy var grantsChanged = connection.statement(
        "\(grants) WHERE viewer = ?1 AND zone = ?2 AND changed > ?3 ORDER BY changed, share"
    )
    private let views = "SELECT zone, since, ended, changed, whole_after FROM views"
    lazy var view = connection.statement("\(views) WHERE viewer = ?1 AND zone = ?2")
    lazy var viewsChanged = connection.statement(
        "\(views) WHERE viewer = ?1 AND changed > ?2 ORDER BY changed LIMIT ?3")
    lazy var lastViewChange = connection.statement(
        "SELECT coalesce(max(changed), 0) FROM views WHERE viewer = ?1")
    lazy var zonesViewed = connection.statement(
        """
        SELECT z.id, z.owner, z.created, z.changed, z.whole_after, 0, z.name,
            \(NameCopies.ofZone("z"))
        FROM views v JOIN zones z ON z.id = v.zone AND z.deleted_at IS NULL
            JOIN owners o ON o.id = z.owner
        WHERE v.viewer = ?1 AND v.ended IS NULL ORDER BY o.record_name, z.name
        """)
    lazy var viewsWholeAfter = connection.statement(
        "SELECT whole_after FROM viewers WHERE name = ?1")

    // About what shares cover, and the trees that they follow.
    lazy var current = connection.statement(
        """
        SELECT c.share, c.position FROM current_memberships c
            JOIN shares s ON s.id = c.share AND s.ended IS NULL
        WHERE c.record = ?1
        """)
    private let columns =
        "t.share, t.position, t.record, t.version, t.record_type, t.entered, t.left"
    lazy var memberships = connection.statement(
        """
        SELECT \(columns) FROM memberships t WHERE t.share = ?1 AND t.position > ?2
        ORDER BY t.position
        """)
    lazy var membershipsWithVersions = connection.statement(
        """
        SELECT \(columns), v.content FROM memberships t
            LEFT JOIN version_rows v ON t.left IS NULL AND v.key = (?3 | t.version)
        WHERE t.share = ?1 AND t.position > ?2 ORDER BY t.position
        """)
    lazy var changedMemberships = connection.statement(
        """
        SELECT \(columns), v.content, g.granted <= ?3 AND g.revoked IS NULL
        FROM grants g LEFT JOIN memberships t ON t.share = g.share AND t.position > ?3
            LEFT JOIN version_rows v ON t.left IS NULL AND v.key = (?4 | t.version)
        WHERE g.viewer = ?1 AND g.zone = ?2 AND g.changed > ?3 ORDER BY g.changed
        """)
    lazy var parent = connection.statement(
        "SELECT target_name FROM links WHERE source = ?1 AND kind = 3")
    lazy var link = connection.statement(
        """
        SELECT 1 FROM links
        WHERE target_zone = ?1 AND target_name = ?2 AND kind = ?3 AND source = ?4
        """)
    lazy var children = connection.statement(
        """
        SELECT source FROM links
        WHERE target_zone = ?1 AND target_name = ?2 AND kind = 3 AND source > ?3
        ORDER BY source LIMIT ?4
        """)
    lazy var shareWorkOfShare = connection.statement(
        "SELECT 1 FROM share_work_marks WHERE share = ?1 LIMIT 1")
    lazy var shareWorkOfZone = connection.statement(
        "SELECT 1 FROM work WHERE kind = 1 AND subject = ?1 LIMIT 1")
}
