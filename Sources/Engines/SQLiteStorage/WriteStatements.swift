import SQLite

/// The statements of the writer, each prepared when it is first needed.
final class WriteStatements: LazyStatements {
    lazy var insertOwner = connection.statement("INSERT INTO owners (record_name) VALUES (?1)")
    lazy var insertZone = connection.statement(
        """
        INSERT INTO zones (owner, name, created, changed, whole_after)
        VALUES (?1, ?2, ?3, ?4, ?3)
        """)
    lazy var dropZoneFromFeed = connection.statement(
        """
        UPDATE zones SET changed = -1
        WHERE owner = ?1 AND name = ?2 AND deleted_at IS NOT NULL AND changed >= 0
        """)
    lazy var markZoneDeleted = connection.statement(
        "UPDATE zones SET deleted_at = ?2, changed = ?3 WHERE id = ?1")
    lazy var zoneBytes = connection.statement(
        "SELECT body_bytes + asset_bytes FROM zones WHERE id = ?1")
    lazy var insertHead = connection.statement(
        "INSERT INTO heads (zone, name, position) VALUES (?1, ?2, ?3)")
    lazy var moveHead = connection.statement(
        "UPDATE heads SET position = ?2 WHERE id = ?1 AND position = ?3")
    lazy var insertTombstone = connection.statement(
        "INSERT INTO tombstones (deleted_at, key) VALUES (?1, ?2)")
    lazy var deleteLinks = connection.statement("DELETE FROM links WHERE source = ?1")
    lazy var insertLink = connection.statement(
        """
        INSERT OR IGNORE INTO links (target_zone, target_name, kind, source)
        VALUES (?1, ?2, ?3, ?4)
        """)
    lazy var moveSchema = connection.statement(
        "UPDATE progress SET schema_revision = schema_revision + 1 WHERE id = 0")
}
