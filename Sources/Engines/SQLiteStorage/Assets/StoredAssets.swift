import CloudModel
import SQLite
import Storage

/// The files that a store's rows speak of, for those who copy or check all of its data.
enum StoredAssets {
    /// The files in the order of their digests, after one of them; fewer than `limit` at the end.
    ///
    /// - Throws: `SQLiteError`.
    static func rows(
        _ connection: Connection, after: AssetDigest?, limit: Int
    ) throws -> [AssetRow] {
        let statement = try connection.prepare(
            """
            SELECT digest, bytes, references_held > 0
                OR EXISTS (SELECT 1 FROM asset_receipts WHERE file = f.id)
            FROM asset_files f WHERE digest > ?1 ORDER BY digest LIMIT ?2
            """)
        defer { statement.reset() }
        statement.bind(after?.bytes ?? [], at: 1)
        statement.bind(Int64(limit), at: 2)
        var found: [AssetRow] = []
        while try statement.step() {
            guard let digest = AssetDigest(statement.bytes(0)) else {
                throw InvalidRow(table: "asset_files")
            }
            found.append(
                AssetRow(
                    content: AssetContent(digest: digest, size: Int(statement.int64(1))),
                    isNeeded: statement.int64(2) != 0))
        }
        return found
    }
}
