import SQLite

/// The writer's statements about shares, prepared when the first is needed.
final class ShareWriteStatements: StatementSet {
    let shares: Shares
    let viewers: Viewers

    init(_ connection: Connection) throws {
        shares = try Shares(connection)
        viewers = try Viewers(connection)
    }

    /// About shares and those who take part in them.
    final class Shares {
        let insertShare: Statement
        let updateShare: Statement
        let endShare: Statement
        let forgetParticipants: Statement
        let saveParticipant: Statement
        let insertRequest: Statement
        let settleRequests: Statement
        let forgetRequests: Statement
        let removeParticipant: Statement
        let insertShortGUID: Statement
        let endSharesOfZone: Statement

        init(_ connection: Connection) throws {
            insertShare = try connection.prepare(
                """
                INSERT INTO shares (zone, record, root, public_permission, created)
                VALUES (?1, ?2, ?3, ?4, ?5)
                """)
            updateShare = try connection.prepare(
                """
                UPDATE shares SET public_permission = ?2, allows_requests = ?3, requests_told_at = ?4
                WHERE id = ?1
                """)
            endShare = try connection.prepare(
                "UPDATE shares SET ended = ?2, ended_at = ?3 WHERE id = ?1 AND ended IS NULL")
            forgetParticipants = try connection.prepare("DELETE FROM participants WHERE share = ?1")
            saveParticipant = try connection.prepare(
                """
                INSERT OR REPLACE INTO participants
                    (share, id, user_record_name, address, role, permission, status,
                    is_approved_requester)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                """)
            insertRequest = try connection.prepare(
                """
                INSERT INTO access_requests (share, user_record_name, made_at, state)
                VALUES (?1, ?2, ?3, ?4)
                """)
            // They count on, as requests of their day.
            settleRequests = try connection.prepare(
                "UPDATE access_requests SET state = 0 WHERE share = ?1 AND user_record_name = ?2")
            forgetRequests = try connection.prepare("DELETE FROM access_requests WHERE share = ?1")
            removeParticipant = try connection.prepare(
                "DELETE FROM participants WHERE share = ?1 AND id = ?2")
            insertShortGUID = try connection.prepare(
                """
                INSERT INTO short_guids (value, record) SELECT ?1, ?2
                WHERE NOT EXISTS (SELECT 1 FROM short_guids WHERE record = ?2)
                """)
            endSharesOfZone = try connection.prepare(
                "UPDATE shares SET ended = ?2, ended_at = ?3 WHERE zone = ?1 AND ended IS NULL")
        }
    }

    /// About what viewers are granted.
    final class Viewers {
        let endViewsOfShare: Statement
        let revokeShare: Statement
        let setPermission: Statement
        let insertGrant: Statement
        let dropViewsFromFeed: Statement
        let openView: Statement
        let revokeGrant: Statement
        let narrowView: Statement
        let revokeZone: Statement
        let endViewsOfZone: Statement

        init(_ connection: Connection) throws {
            let narrowed = """
                shares_granted = shares_granted - 1, changed = ?2,
                ended = CASE shares_granted WHEN 1 THEN ?2 END,
                ended_at = CASE shares_granted WHEN 1 THEN ?3 END
                """
            endViewsOfShare = try connection.prepare(
                """
                UPDATE views SET \(narrowed) WHERE (viewer, zone) IN
                    (SELECT viewer, zone FROM grants WHERE share = ?1 AND revoked IS NULL)
                """)
            let revoked = "UPDATE grants SET revoked = ?2, revoked_at = ?3, changed = ?2"
            revokeShare = try connection.prepare("\(revoked) WHERE share = ?1 AND revoked IS NULL")
            setPermission = try connection.prepare(
                """
                UPDATE grants SET permission = ?3
                WHERE share = ?1 AND viewer = ?2 AND revoked IS NULL
                """)
            insertGrant = try connection.prepare(
                """
                INSERT INTO grants (viewer, zone, share, permission, granted, changed)
                VALUES (?1, ?2, ?3, ?4, ?5, ?5)
                """)
            dropViewsFromFeed = try connection.prepare(
                """
                UPDATE views SET changed = -1 WHERE viewer = ?1 AND ended IS NOT NULL AND zone IN
                    (SELECT gone.id FROM zones gone JOIN zones made
                        ON gone.owner = made.owner AND gone.name = made.name AND gone.id <> made.id
                    WHERE made.id = ?2)
                """)
            openView = try connection.prepare(
                """
                INSERT INTO views
                    (viewer, zone, since, ended, ended_at, shares_granted, changed, whole_after)
                VALUES (?1, ?2, ?3, NULL, NULL, 1, ?3, ?3)
                ON CONFLICT (viewer, zone) DO UPDATE SET
                    since = CASE WHEN ended IS NULL THEN since ELSE ?3 END,
                    whole_after = CASE WHEN ended IS NULL THEN whole_after ELSE ?3 END,
                    ended = NULL, ended_at = NULL, shares_granted = shares_granted + 1, changed = ?3
                """)
            revokeGrant = try connection.prepare(
                "\(revoked) WHERE share = ?1 AND viewer = ?4 AND revoked IS NULL")
            narrowView = try connection.prepare(
                "UPDATE views SET \(narrowed) WHERE viewer = ?4 AND zone = ?1")
            revokeZone = try connection.prepare("\(revoked) WHERE zone = ?1 AND revoked IS NULL")
            endViewsOfZone = try connection.prepare(
                """
                UPDATE views SET shares_granted = 0, changed = ?2, ended = ?2, ended_at = ?3
                WHERE zone = ?1 AND ended IS NULL
                """)
        }
    }
}

/// The writer's statements about what shares cover, prepared when the first is needed.
final class CoverageStatements: StatementSet {
    let insertMembership: Statement
    let renewMembership: Statement
    let leaveMembership: Statement
    let setMembership: Statement
    let endMembership: Statement
    let addMark: Statement
    let endMarks: Statement

    init(_ connection: Connection) throws {
        insertMembership = try connection.prepare(
            """
            INSERT INTO memberships (share, position, record, version, record_type, entered)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """)
        renewMembership = try connection.prepare(
            """
            UPDATE memberships SET position = ?3, version = ?3, record_type = ?4
            WHERE share = ?1 AND position = ?2 AND record = ?5 AND left IS NULL
            """)
        leaveMembership = try connection.prepare(
            """
            UPDATE memberships SET position = ?3, left = ?4, left_at = ?5
            WHERE share = ?1 AND position = ?2 AND record = ?6 AND left IS NULL
            """)
        setMembership = try connection.prepare(
            "INSERT OR REPLACE INTO current_memberships (record, share, position) VALUES (?1, ?2, ?3)"
        )
        endMembership = try connection.prepare("DELETE FROM current_memberships WHERE record = ?1")
        addMark = try connection.prepare(
            "INSERT OR REPLACE INTO share_work_marks (share, record, since) VALUES (?1, ?2, ?3)")
        endMarks = try connection.prepare("DELETE FROM share_work_marks WHERE record = ?1")
    }
}
