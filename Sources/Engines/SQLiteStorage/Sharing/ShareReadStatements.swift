import SQLite

/// The statements that read shares, prepared when a connection is first asked for one.
final class ShareReadStatements: StatementSet {
    let shares: Shares
    let viewers: Viewers
    let coverage: Coverage

    init(_ connection: Connection) throws {
        shares = try Shares(connection)
        viewers = try Viewers(connection)
        coverage = try Coverage(connection)
    }

    /// About shares and those who take part in them.
    final class Shares {
        let shareByNumber: Statement
        let shareByRoot: Statement
        let shareByRecord: Statement
        let sharesOfZone: Statement
        let participants: Statement
        let participations: Statement
        let invitations: Statement
        let accessRequests: Statement
        let accessRequestsOfUser: Statement
        let shortGUID: Statement
        let recordByShortGUID: Statement
        let location: Statement
        let ownerByNumber: Statement

        init(_ connection: Connection) throws {
            let share =
                """
                SELECT id, zone, record, root, public_permission, created, ended, allows_requests,
                    requests_told_at
                FROM shares
                """
            shareByNumber = try connection.prepare("\(share) WHERE id = ?1")
            shareByRoot = try connection.prepare("\(share) WHERE root = ?1 AND ended IS NULL")
            shareByRecord = try connection.prepare("\(share) WHERE record = ?1 AND ended IS NULL")
            // Left to itself it would go through the shares that have ended as well.
            sharesOfZone = try connection.prepare(
                "\(share) INDEXED BY shares_by_zone WHERE zone = ?1 AND ended IS NULL LIMIT ?2")
            let participant = """
                SELECT p.share, p.id, p.user_record_name, p.address, p.role, p.permission, p.status,
                    p.is_approved_requester
                FROM participants p
                """
            let active = "JOIN shares s ON s.id = p.share AND s.ended IS NULL"
            participants = try connection.prepare("\(participant) WHERE p.share = ?1")
            participations = try connection.prepare(
                "\(participant) \(active) WHERE p.user_record_name = ?1")
            invitations = try connection.prepare("\(participant) \(active) WHERE p.address = ?1")
            accessRequests = try connection.prepare(
                """
                SELECT user_record_name, made_at, state FROM access_requests
                WHERE share = ?1 AND state <> 0 ORDER BY made_at, id
                """)
            accessRequestsOfUser = try connection.prepare(
                """
                SELECT user_record_name, made_at, state FROM access_requests
                WHERE user_record_name = ?1 AND made_at > ?2 ORDER BY made_at, id
                """)
            let shortGUID = "SELECT record, value FROM short_guids"
            self.shortGUID = try connection.prepare("\(shortGUID) WHERE record = ?1")
            recordByShortGUID = try connection.prepare("\(shortGUID) WHERE value = ?1")
            location = try connection.prepare(
                "SELECT zone, name, position FROM heads WHERE id = ?1")
            ownerByNumber = try connection.prepare(
                "SELECT record_name, used_bytes, whole_after FROM owners WHERE id = ?1")
        }
    }

    /// About what viewers have been granted.
    final class Viewers {
        let grant: Statement
        let grantsChanged: Statement
        let view: Statement
        let viewsChanged: Statement
        let viewsStanding: Statement
        let viewer: Statement

        init(_ connection: Connection) throws {
            let grants = "SELECT share, zone, permission, granted, revoked, changed FROM grants"
            grant = try connection.prepare(
                "\(grants) WHERE share = ?1 AND viewer = ?2 AND revoked IS NULL")
            grantsChanged = try connection.prepare(
                "\(grants) WHERE viewer = ?1 AND zone = ?2 AND changed > ?3 ORDER BY changed, share"
            )
            let view = "SELECT zone, since, ended, changed, whole_after FROM views"
            self.view = try connection.prepare("\(view) WHERE viewer = ?1 AND zone = ?2")
            viewsChanged = try connection.prepare(
                "\(view) WHERE viewer = ?1 AND changed > ?2 ORDER BY changed LIMIT ?3")
            viewsStanding = try connection.prepare(
                "\(view) WHERE viewer = ?1 AND ended IS NULL ORDER BY zone")
            viewer = try connection.prepare(
                """
                SELECT coalesce((SELECT whole_after FROM viewers WHERE name = ?1), 0)
                """)
        }
    }

    /// About what shares cover, and the trees that they follow.
    final class Coverage {
        let current: Statement
        let memberships: Statement
        let membershipsWithVersions: Statement
        let changedMemberships: Statement
        let workOfChildren: Statement
        let workOfShare: Statement
        let workOfZone: Statement

        init(_ connection: Connection) throws {
            current = try connection.prepare(
                """
                SELECT c.share, c.position FROM current_memberships c
                    JOIN shares s ON s.id = c.share AND s.ended IS NULL
                WHERE c.record = ?1
                """)
            let columns =
                "t.share, t.position, t.record, t.version, t.record_type, t.entered, t.left"
            memberships = try connection.prepare(
                """
                SELECT \(columns) FROM memberships t WHERE t.share = ?1 AND t.position > ?2
                ORDER BY t.position
                """)
            membershipsWithVersions = try connection.prepare(
                """
                SELECT \(columns), v.content FROM memberships t
                    LEFT JOIN version_rows v ON t.left IS NULL AND v.key = (?3 | t.version)
                WHERE t.share = ?1 AND t.position > ?2 ORDER BY t.position
                """)
            changedMemberships = try connection.prepare(
                """
                SELECT \(columns), v.content, g.granted <= ?3 AND g.revoked IS NULL
                FROM grants g LEFT JOIN memberships t ON t.share = g.share AND t.position > ?3
                    LEFT JOIN version_rows v ON t.left IS NULL AND v.key = (?4 | t.version)
                WHERE g.viewer = ?1 AND g.zone = ?2 AND g.changed > ?3 ORDER BY g.changed
                """)
            let since = "SELECT since FROM share_work_marks"
            workOfChildren = try connection.prepare("\(since) WHERE share = ?1 AND record = ?2")
            workOfShare = try connection.prepare("\(since) WHERE share = ?1 LIMIT 1")
            // Work without a mark, too: its share may have ended so long ago that nothing is left of it.
            workOfZone = try connection.prepare(
                """
                SELECT coalesce(since, 1) FROM work LEFT JOIN share_work_marks ON record = item
                WHERE kind = 1 AND subject = ?1 LIMIT 1
                """)
        }
    }
}
