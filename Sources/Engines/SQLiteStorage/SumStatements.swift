import SQLite

/// The statements with which a group of writes ends: what it adds to zones, owners and shares.
final class SumStatements: LazyStatements {
    lazy var applyZone = connection.statement(
        """
        UPDATE zones SET
            changed = CASE
                WHEN deleted_at IS NULL AND changed > 0 THEN max(changed, ?2) ELSE changed END,
            record_count = record_count + ?3, body_bytes = body_bytes + ?4,
            asset_bytes = asset_bytes + ?5
        WHERE id = ?1
        """)
    lazy var applyOwner = connection.statement(
        "UPDATE owners SET used_bytes = used_bytes + ?2 WHERE id = ?1")
    lazy var shareOfZone = connection.statement(
        "SELECT id FROM shares WHERE zone = ?1 AND ended IS NULL AND root IS NULL")
    lazy var applyGrants = connection.statement(
        """
        UPDATE grants SET changed = max(changed, ?2) WHERE share = ?1 AND revoked IS NULL
        """)
    lazy var applyViews = connection.statement(
        """
        UPDATE views SET changed = max(changed, ?2) WHERE (viewer, zone) IN
            (SELECT viewer, zone FROM grants WHERE share = ?1 AND revoked IS NULL)
        """)
}
