import SQLite

/// The statements of the writer, prepared once.
final class WriteStatements {
    let insertOwner: Statement
    let usedBytes: Statement
    let insertZone: Statement
    let dropZoneFromFeed: Statement
    let markZoneDeleted: Statement
    let zoneBytes: Statement
    let insertHead: Statement
    let moveHead: Statement
    let insertTombstone: Statement
    let deleteLinks: Statement
    let insertLink: Statement
    let moveSchema: Statement
    let sums: SumStatements

    init(_ connection: Connection) throws {
        insertOwner = try connection.prepare(
            "INSERT INTO owners (record_name, account) VALUES (?1, ?2)")
        usedBytes = try connection.prepare("SELECT used_bytes FROM owners WHERE id = ?1")
        insertZone = try connection.prepare(
            """
            INSERT INTO zones (owner, name, created, changed, whole_after)
            VALUES (?1, ?2, ?3, ?4, ?3)
            """)
        dropZoneFromFeed = try connection.prepare(
            """
            UPDATE zones SET changed = -1
            WHERE owner = ?1 AND name = ?2 AND deleted_at IS NOT NULL
            """)
        markZoneDeleted = try connection.prepare(
            "UPDATE zones SET deleted_at = ?2, changed = ?3 WHERE id = ?1")
        zoneBytes = try connection.prepare(
            "SELECT body_bytes + asset_bytes FROM zones WHERE id = ?1")
        insertHead = try connection.prepare(
            "INSERT INTO heads (zone, name, position) VALUES (?1, ?2, ?3)")
        moveHead = try connection.prepare(
            "UPDATE heads SET position = ?2 WHERE id = ?1 AND position = ?3")
        insertTombstone = try connection.prepare(
            "INSERT INTO tombstones (deleted_at, key) VALUES (?1, ?2)")
        deleteLinks = try connection.prepare("DELETE FROM links WHERE source = ?1")
        insertLink = try connection.prepare(
            """
            INSERT OR IGNORE INTO links (target_zone, target_name, kind, source)
            VALUES (?1, ?2, ?3, ?4)
            """)
        moveSchema = try connection.prepare(
            "UPDATE progress SET schema_revision = schema_revision + 1 WHERE id = 0")
        sums = try SumStatements(connection)
    }
}
