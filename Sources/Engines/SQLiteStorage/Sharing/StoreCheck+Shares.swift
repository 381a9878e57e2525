extension StoreCheck {
    /// Which share covers a record, as noted.
    static let active = """
        WITH active AS (
            SELECT c.record, c.share, c.position FROM current_memberships c
            JOIN shares s ON s.id = c.share AND s.ended IS NULL)
        """

    static let shares = coverage + roots + grants

    private static let coverage = [
        Rule(
            broken: "shared records whose membership is not where they say",
            count: """
                \(active) SELECT count(*) FROM active c
                LEFT JOIN memberships t ON t.share = c.share AND t.position = c.position
                WHERE t.record IS NOT c.record OR t.left IS NOT NULL
                """),
        Rule(
            broken: "memberships in shares that have not ended that no record leads to",
            count: """
                \(active) SELECT count(*) FROM memberships t
                JOIN shares s ON s.id = t.share AND s.ended IS NULL
                LEFT JOIN active c ON c.record = t.record
                WHERE t.left IS NULL
                AND (c.share IS NOT t.share OR c.position IS NOT t.position)
                """),
        Rule(
            broken: "memberships that lead to another version than the record's",
            count: """
                SELECT count(*) FROM memberships t JOIN shares s ON s.id = t.share AND s.ended IS NULL
                LEFT JOIN heads h ON h.id = t.record
                LEFT JOIN every_version v ON v.key = (h.zone << 40 | h.position)
                WHERE t.left IS NULL AND (h.position IS NOT t.version OR h.zone IS NOT s.zone
                    OR v.flags & 1 = 1 OR v.record_type IS NOT t.record_type)
                """),
        Rule(
            broken: "memberships that end before they begin",
            count: """
                SELECT count(*) FROM memberships WHERE entered > position OR version > position
                OR left > position OR (left IS NULL) <> (left_at IS NULL)
                """),
    ]

    private static let roots = [
        Rule(
            broken: "shares that do not cover their own root and record",
            count: """
                \(active) SELECT count(*) FROM shares s
                LEFT JOIN active a ON a.record = s.root
                LEFT JOIN active b ON b.record = s.record
                WHERE s.ended IS NULL AND s.root IS NOT NULL
                AND (a.share IS NOT s.id OR b.share IS NOT s.id)
                """),
        Rule(
            broken: "shares whose record or root is gone",
            count: """
                SELECT count(*) FROM shares s WHERE s.ended IS NULL AND EXISTS (
                    SELECT 1 FROM (SELECT s.record AS id UNION ALL SELECT s.root) r
                    LEFT JOIN heads h ON h.id = r.id
                    LEFT JOIN every_version v ON v.key = (h.zone << 40 | h.position)
                    WHERE r.id IS NOT NULL
                    AND (h.zone IS NOT s.zone OR v.flags IS NULL OR v.flags & 1 = 1))
                """),
        Rule(
            broken: "zones shared as a whole and by trees",
            count: """
                SELECT count(*) FROM (
                    SELECT zone FROM shares WHERE ended IS NULL GROUP BY zone
                    HAVING count(*) > 1 AND count(*) > count(root))
                """),
    ]

    private static let grants = [
        Rule(
            broken: "viewers who are granted what has ended",
            count: """
                SELECT count(*) FROM grants g LEFT JOIN shares s ON s.id = g.share
                WHERE g.revoked IS NULL AND (s.id IS NULL OR s.ended IS NOT NULL
                    OR s.zone <> g.zone)
                """),
        Rule(
            broken: "shared zones that miscount what is granted of them",
            count: """
                SELECT count(*) FROM views v WHERE shares_granted <> (
                    SELECT count(*) FROM grants g
                    WHERE g.viewer = v.viewer AND g.zone = v.zone AND g.revoked IS NULL)
                OR (ended IS NULL) <> (shares_granted > 0)
                """),
        Rule(
            broken: "grants in zones that their viewer does not have",
            count: """
                SELECT count(*) FROM grants g WHERE revoked IS NULL AND NOT EXISTS (
                    SELECT 1 FROM views v WHERE v.viewer = g.viewer AND v.zone = g.zone)
                """),
        Rule(
            broken: "shared zones that changed later than they say",
            count: """
                SELECT count(*) FROM views v WHERE ended IS NULL AND changed < (
                    SELECT max(changed) FROM grants g
                    WHERE g.viewer = v.viewer AND g.zone = v.zone)
                """),
        Rule(
            broken: "grants that changed later than they say",
            count: """
                SELECT count(*) FROM grants g WHERE revoked IS NULL AND changed < coalesce(
                    (SELECT max(position) FROM memberships t WHERE t.share = g.share), 0)
                """),
    ]
}
