import SQLite

/// The writer's statements about shares, prepared when the first is needed.
final class ShareWriteStatements: LazyStatements {
    lazy var shares = Shares(connection)
    lazy var viewers = Viewers(connection)

    /// About shares and those who take part in them.
    final class Shares: LazyStatements {
        lazy var insertShare = connection.statement(
            """
            INSERT INTO shares (zone, record, root, public_permission, created)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """)
        lazy var updateShare = connection.statement(
            """
            UPDATE shares SET public_permission = ?2, allows_requests = ?3, requests_told_at = ?4
            WHERE id = ?1
            """)
        lazy var endShare = connection.statement(
            "UPDATE shares SET ended = ?2, ended_at = ?3 WHERE id = ?1 AND ended IS NULL")
        lazy var forgetParticipants = connection.statement(
            "DELETE FROM participants WHERE share = ?1")
        lazy var saveParticipant = connection.statement(
            """
            INSERT OR REPLACE INTO participants
                (share, id, user_record_name, address, role, permission, status,
                is_approved_requester)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """)
        lazy var insertRequest = connection.statement(
            """
            INSERT INTO access_requests (share, user_record_name, made_at, state)
            VALUES (?1, ?2, ?3, ?4)
            """)
        // They count on, as requests of their day.
        lazy var settleRequests = connection.statement(
            "UPDATE access_requests SET state = 0 WHERE share = ?1 AND user_record_name = ?2")
        lazy var forgetRequests = connection.statement(
            "DELETE FROM access_requests WHERE share = ?1")
        lazy var removeParticipant = connection.statement(
            "DELETE FROM participants WHERE share = ?1 AND id = ?2")
        lazy var insertShortGUID = connection.statement(
            """
            INSERT INTO short_guids (value, record) SELECT ?1, ?2
            WHERE NOT EXISTS (SELECT 1 FROM short_guids WHERE record = ?2)
            """)
        lazy var endSharesOfZone = connection.statement(
            "UPDATE shares SET ended = ?2, ended_at = ?3 WHERE zone = ?1 AND ended IS NULL")
    }

    /// About what viewers are granted.
    final class Viewers: LazyStatements {
        private static let narrowed = """
            shares_granted = shares_granted - 1, changed = ?2,
            ended = CASE shares_granted WHEN 1 THEN ?2 END,
            ended_at = CASE shares_granted WHEN 1 THEN ?3 END
            """
        lazy var endViewsOfShare = connection.statement(
            """
            UPDATE views SET \(Self.narrowed) WHERE (viewer, zone) IN
                (SELECT viewer, zone FROM grants WHERE share = ?1 AND revoked IS NULL)
            """)
        private static let revoked = "UPDATE grants SET revoked = ?2, revoked_at = ?3, changed = ?2"
        lazy var revokeShare = connection.statement(
            "\(Self.revoked) WHERE share = ?1 AND revoked IS NULL")
        lazy var setPermission = connection.statement(
            """
            UPDATE grants SET permission = ?3
            WHERE share = ?1 AND viewer = ?2 AND revoked IS NULL
            """)
        lazy var insertGrant = connection.statement(
            """
            INSERT INTO grants (viewer, zone, share, permission, granted, changed)
            VALUES (?1, ?2, ?3, ?4, ?5, ?5)
            """)
        lazy var dropViewsFromFeed = connection.statement(
            """
            UPDATE views SET changed = -1 WHERE viewer = ?1 AND ended IS NOT NULL AND zone IN
                (SELECT gone.id FROM zones gone JOIN zones made
                    ON gone.owner = made.owner AND gone.name = made.name AND gone.id <> made.id
                WHERE made.id = ?2)
            """)
        lazy var openView = connection.statement(
            """
            INSERT INTO views
                (viewer, zone, since, ended, ended_at, shares_granted, changed, whole_after)
            VALUES (?1, ?2, ?3, NULL, NULL, 1, ?3, ?3)
            ON CONFLICT (viewer, zone) DO UPDATE SET
                since = CASE WHEN ended IS NULL THEN since ELSE ?3 END,
                whole_after = CASE WHEN ended IS NULL THEN whole_after ELSE ?3 END,
                ended = NULL, ended_at = NULL, shares_granted = shares_granted + 1, changed = ?3
            """)
        lazy var revokeGrant = connection.statement(
            "\(Self.revoked) WHERE share = ?1 AND viewer = ?4 AND revoked IS NULL")
        lazy var narrowView = connection.statement(
            "UPDATE views SET \(Self.narrowed) WHERE viewer = ?4 AND zone = ?1")
        lazy var revokeZone = connection.statement(
            "\(Self.revoked) WHERE zone = ?1 AND revoked IS NULL")
        lazy var endViewsOfZone = connection.statement(
            """
            UPDATE views SET shares_granted = 0, changed = ?2, ended = ?2, ended_at = ?3
            WHERE zone = ?1 AND ended IS NULL
            """)
    }
}

/// The writer's statements about what shares cover, prepared when the first is needed.
final class CoverageStatements: LazyStatements {
    lazy var insertMembership = connection.statement(
        """
        INSERT INTO memberships (share, position, record, version, record_type, entered)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        """)
    lazy var renewMembership = connection.statement(
        """
        UPDATE memberships SET position = ?3, version = ?3, record_type = ?4
        WHERE share = ?1 AND position = ?2 AND record = ?5 AND left IS NULL
        """)
    lazy var leaveMembership = connection.statement(
        """
        UPDATE memberships SET position = ?3, left = ?4, left_at = ?5
        WHERE share = ?1 AND position = ?2 AND record = ?6 AND left IS NULL
        """)
    lazy var setMembership = connection.statement(
        "INSERT OR REPLACE INTO current_memberships (record, share, position) VALUES (?1, ?2, ?3)"
    )
    lazy var endMembership = connection.statement(
        "DELETE FROM current_memberships WHERE record = ?1")
    lazy var addMark = connection.statement(
        "INSERT OR REPLACE INTO share_work_marks (share, record, since) VALUES (?1, ?2, ?3)")
    lazy var endMarks = connection.statement("DELETE FROM share_work_marks WHERE record = ?1")
}
