import CloudModel
import SQLite
import Storage

/// The files that a store's rows speak of, for those who copy or check a whole data folder.
///
/// Works on a connection of its own, also while the store is in use.
struct StoredAssets: Sendable {
    let path: String
    /// Of a copy, beside which reading leaves nothing.
    let isCopy: Bool

    init(path: String, isCopy: Bool = false) {
        self.path = path
        self.isCopy = isCopy
    }

    /// The files in the order of their digests, after one of them; fewer than `limit` at the end.
    ///
    /// - Throws: `SQLiteError`.
    func rows(after: AssetDigest?, limit: Int) throws -> [AssetRow] {
        try Connection(path: path, mode: .readOnly).snapshot {
            try Self.rows($0, after: after, limit: limit)
        }
    }

    /// The same, as a snapshot has them.
    static func rows(
        _ connection: Connection, after: AssetDigest?, limit: Int
    ) throws -> [AssetRow] {
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
            return AssetRow(
                content: AssetContent(digest: digest, size: Int(row.int64(1))),
                isNeeded: row.int64(2) != 0)
        }
    }
}
