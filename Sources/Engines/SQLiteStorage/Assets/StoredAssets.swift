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
