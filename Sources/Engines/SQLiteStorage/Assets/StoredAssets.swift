import CloudModel
import SQLite
import Storage
import StoredRows

/// The files that a store's rows speak of, for those who copy or check all of its data.
enum StoredAssets {
    /// The files in the order of their digests, after one of them; fewer than `limit` at the end.
    ///
    /// - Throws: `SQLiteError`.
    static func rows(
        _ connection: Connection, after: AssetDigest?, limit: Int
    ) throws -> [ReferencedAsset] {
        try connection.prepare(
            """
            SELECT digest, bytes, references_held > 0
                OR EXISTS (SELECT 1 FROM asset_receipts WHERE file = f.id)
            FROM asset_files f WHERE digest > ?1 ORDER BY digest LIMIT ?2
            """
        ).all(after?.bytes ?? [], limit) { row in
            guard let digest = AssetDigest(row.bytes(0)) else {
                throw InvalidRow(table: "asset_files")
            }
            return ReferencedAsset(
                content: AssetContent(digest: digest, size: Int(row.int64(1))),
                isNeeded: row.int64(2) != 0)
        }
    }
}
