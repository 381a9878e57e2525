import SQLite

/// The statements that read and write assets, prepared when a connection is first asked for one.
final class AssetStatements: StatementSet {
    let receipt: Statement
    let bytesOfRecord: Statement
    let unused: Statement
    let fileByDigest: Statement

    init(_ connection: Connection) throws {
        receipt = try connection.prepare(
            """
            SELECT f.digest, f.bytes, r.identity, r.expires
            FROM asset_receipts r JOIN asset_files f ON f.id = r.file WHERE r.id = ?1
            """)
        bytesOfRecord = try connection.prepare(
            """
            SELECT coalesce(sum(f.bytes), 0) FROM asset_uses u JOIN asset_files f ON f.id = u.file
            WHERE u.record = ?1
            """)
        unused = try connection.prepare(
            """
            SELECT digest FROM asset_files f WHERE unused_since < ?1
            AND NOT EXISTS (SELECT 1 FROM asset_receipts WHERE file = f.id) LIMIT ?2
            """)
        fileByDigest = try connection.prepare(
            "SELECT id, bytes FROM asset_files WHERE digest = ?1")
    }
}

/// The statements of the writer for assets.
final class AssetWriteStatements: StatementSet {
    let insertFile: Statement
    let insertReceipt: Statement
    let usesOfRecord: Statement
    let insertUse: Statement
    let deleteUse: Statement
    let hold: Statement
    let letGo: Statement
    let forget: Statement

    init(_ connection: Connection) throws {
        insertFile = try connection.prepare(
            """
            INSERT INTO asset_files (digest, bytes, unused_since) VALUES (?1, ?2, ?3)
            ON CONFLICT (digest) DO NOTHING
            """)
        insertReceipt = try connection.prepare(
            "INSERT INTO asset_receipts (id, file, identity, expires) VALUES (?1, ?2, ?3, ?4)")
        usesOfRecord = try connection.prepare(
            """
            SELECT f.id, f.digest, f.bytes FROM asset_uses u JOIN asset_files f ON f.id = u.file
            WHERE u.record = ?1
            """)
        insertUse = try connection.prepare(
            "INSERT INTO asset_uses (record, file) VALUES (?1, ?2)")
        deleteUse = try connection.prepare(
            "DELETE FROM asset_uses WHERE record = ?1 AND file = ?2")
        hold = try connection.prepare(
            """
            UPDATE asset_files SET references_held = references_held + 1, unused_since = NULL
            WHERE id = ?1
            """)
        letGo = try connection.prepare(
            """
            UPDATE asset_files SET references_held = references_held - 1,
                unused_since = CASE WHEN references_held = 1 THEN ?2 END
            WHERE id = ?1
            """)
        forget = try connection.prepare(
            """
            DELETE FROM asset_files WHERE digest = ?1 AND unused_since < ?2
            AND NOT EXISTS (SELECT 1 FROM asset_receipts WHERE file = asset_files.id)
            """)
    }
}
