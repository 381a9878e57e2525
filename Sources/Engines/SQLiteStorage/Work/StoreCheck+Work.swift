extension StoreCheck {
    /// After so many failures in a row, over half a minute, it is no passing one.
    private static let failuresMax = 5

    static let queue = [
        Rule(
            broken: "pieces of queued work that fail again and again",
            count: "SELECT count(*) FROM work WHERE failures >= \(failuresMax)"),
        Rule(
            broken: "indexes that no queued work finishes",
            count: """
                SELECT count(*) FROM indexes
                WHERE state <> 1 AND NOT EXISTS (SELECT 1 FROM work WHERE kind = 3)
                AND NOT EXISTS (SELECT 1 FROM late_entries WHERE field = indexes.id)
                """),
        Rule(
            broken: "records whose entries in indexes no queued work writes",
            count: """
                SELECT count(*) FROM late_entries
                WHERE NOT EXISTS (SELECT 1 FROM work WHERE kind = 9)
                """),
        Rule(
            broken: "bodies kept for indexes that have nothing of them",
            count: """
                SELECT count(*) FROM late_bodies
                WHERE id NOT IN (SELECT previous FROM late_entries WHERE previous IS NOT NULL)
                """),
    ]

    // In zones whose trees are being worked through the rules need not hold yet.
    static let trees = [
        Rule(
            broken: "records that another share covers than their parent",
            count: """
                \(active) SELECT count(*) FROM links l JOIN heads h ON h.id = l.source
                LEFT JOIN heads p ON p.id = record_named(l.target_zone, l.target_name)
                LEFT JOIN active ch ON ch.record = h.id
                LEFT JOIN active cp ON cp.record = p.id
                WHERE l.kind = 3 AND ch.share IS NOT cp.share
                AND h.zone NOT IN (SELECT subject FROM work WHERE kind = 1)
                AND h.zone NOT IN (SELECT id FROM zones WHERE deleted_at IS NOT NULL)
                AND h.id NOT IN (
                    SELECT root FROM shares WHERE ended IS NULL AND root IS NOT NULL)
                """),
        Rule(
            broken: "records that a share covers and no parent leads to",
            count: """
                \(active) SELECT count(*) FROM active c JOIN heads h ON h.id = c.record
                WHERE h.zone NOT IN (SELECT subject FROM work WHERE kind = 1)
                AND c.record NOT IN (SELECT source FROM links WHERE kind = 3)
                AND c.record NOT IN (
                    SELECT root FROM shares WHERE ended IS NULL AND root IS NOT NULL
                    UNION ALL SELECT record FROM shares WHERE ended IS NULL)
                """),
        Rule(
            broken: "notes of work on shares that nothing is left of",
            count: """
                SELECT count(*) FROM share_work_marks
                WHERE record NOT IN (SELECT item FROM work WHERE kind = 1)
                """),
    ]
}
