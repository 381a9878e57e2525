import SQLite

/// The statements that read and write assets, prepared when a connection is first asked for one.
final class AssetStatements: LazyStatements {
    lazy var receipt = connection.statement(
        """
        SELECT f.digest, f.bytes, r.identity, r.expires
        FROM asset_receipts r JOIN asset_files f ON f.id = r.file WHERE r.id = ?1
        """)
    lazy var bytesOfRecord = connection.statement(
        """
        SELECT coalesce(sum(f.bytes), 0) FROM asset_uses u JOIN asset_files f ON f.id = u.file
        WHERE u.record = ?1
        """)
    lazy var unused = connection.statement(
        """
        SELECT digest FROM asset_files f WHERE unused_since < ?1
        AND NOT EXISTS (SELECT 1 FROM asset_receipts WHERE file = f.id) LIMIT ?2
        """)
    lazy var fileByDigest = connection.statement(
        "SELECT id, bytes FROM asset_files WHERE digest = ?1")
}

/// The statements of the writer for assets.
final class AssetWriteStatements: LazyStatements {
    lazy var insertFile = connection.statement(
        """
        INSERT INTO asset_files (digest, bytes, unused_since) VALUES (?1, ?2, ?3)
        ON CONFLICT (digest) DO NOTHING
        """)
    lazy var insertReceipt = connection.statement(
        "INSERT INTO asset_receipts (id, file, identity, expires) VALUES (?1, ?2, ?3, ?4)")
    lazy var usesOfRecord = connection.statement(
        """
        SELECT f.id, f.digest, f.bytes FROM asset_uses u JOIN asset_files f ON f.id = u.file
        WHERE u.record = ?1
        """)
    lazy var insertUse = connection.statement(
        "INSERT INTO asset_uses (record, file) VALUES (?1, ?2)")
    lazy var deleteUse = connection.statement(
        "DELETE FROM asset_uses WHERE record = ?1 AND file = ?2")
    lazy var hold = connection.statement(
        """
        UPDATE asset_files SET references_held = references_held + 1, unused_since = NULL
        WHERE id = ?1
        """)
    lazy var letGo = connection.statement(
        """
        UPDATE asset_files SET references_held = references_held - 1,
            unused_since = CASE WHEN references_held = 1 THEN ?2 END
        WHERE id = ?1
        """)
    lazy var forget = connection.statement(
        """
        DELETE FROM asset_files WHERE digest = ?1 AND unused_since < ?2
        AND NOT EXISTS (SELECT 1 FROM asset_receipts WHERE file = asset_files.id)
        """)
}
