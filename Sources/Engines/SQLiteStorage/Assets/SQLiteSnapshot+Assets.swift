import CloudModel
import SQLite
import Storage

// What a read sees of assets.
extension SQLiteSnapshot {
    func assetReceipt(_ id: [UInt8]) throws -> StoredReceipt? {
        let statement = try assetStatements().receipt
        defer { statement.reset() }
        statement.bind(id, at: 1)
        guard try statement.step() else { return nil }
        guard let digest = AssetDigest(statement.bytes(0)) else {
            throw InvalidRow(table: "asset_files")
        }
        return StoredReceipt(
            content: AssetContent(digest: digest, size: Int(statement.int64(1))),
            identity: [UInt8](statement.bytes(2)), expires: statement.int64(3))
    }

    func assetBytes(of record: RecordNumber) throws -> Int {
        let statement = try assetStatements().bytesOfRecord
        defer { statement.reset() }
        statement.bind(record.value, at: 1)
        return try statement.step() ? Int(statement.int64(0)) : 0
    }

    func unusedAssets(since moment: Milliseconds, limit: Int) throws -> [AssetDigest] {
        let statement = try assetStatements().unused
        defer { statement.reset() }
        statement.bind(moment, at: 1)
        statement.bind(Int64(limit), at: 2)
        var found: [AssetDigest] = []
        while try statement.step() {
            guard let digest = AssetDigest(statement.bytes(0)) else {
                throw InvalidRow(table: "asset_files")
            }
            found.append(digest)
        }
        return found
    }

    func unknownAssets(among digests: [AssetDigest]) throws -> [AssetDigest] {
        try digests.filter { try assetFile($0) == nil }
    }

    /// The number of the row, and the length; nil when the store has no such file.
    func assetFile(_ digest: AssetDigest) throws -> (id: Int64, bytes: Int64)? {
        let statement = try assetStatements().fileByDigest
        defer { statement.reset() }
        statement.bind(digest.bytes, at: 1)
        return try statement.step() ? (statement.int64(0), statement.int64(1)) : nil
    }
}
