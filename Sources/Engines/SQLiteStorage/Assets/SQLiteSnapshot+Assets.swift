import CloudModel
import SQLite
import Storage
import StoredRows

// What a read sees of assets.
extension SQLiteSnapshot {
    func assetReceipts(_ ids: [[UInt8]]) throws -> [StoredReceipt?] {
        try ids.map(assetReceipt)
    }

    private func assetReceipt(_ id: [UInt8]) throws -> StoredReceipt? {
        try assetStatements().receipt.first(id) { row in
            guard let digest = AssetDigest(row.bytes(0)) else {
                throw InvalidRow(table: "asset_files")
            }
            return StoredReceipt(
                content: AssetContent(digest: digest, size: Int(row.int64(1))),
                identity: [UInt8](row.bytes(2)), expires: row.int64(3))
        }
    }

    func assetBytes(of records: [RecordNumber]) throws -> [Int] {
        let statement = try assetStatements().bytesOfRecord
        return try records.map { try statement.first($0.value) { Int($0.int64(0)) } ?? 0 }
    }

    func assets(_ selection: AssetSelection) throws -> [AssetDigest] {
        switch selection {
        case .unknown(let digests): return try digests.filter { try assetFile($0) == nil }
        case .unused(let moment, let limit):
            return try assetStatements().unused.all(moment, limit) { row in
                guard let digest = AssetDigest(row.bytes(0)) else {
                    throw InvalidRow(table: "asset_files")
                }
                return digest
            }
        }
    }

    /// The number of the row, and the length; nil when the store has no such file.
    func assetFile(_ digest: AssetDigest) throws -> (id: Int64, bytes: Int64)? {
        try assetStatements().fileByDigest.first(digest.bytes) { ($0.int64(0), $0.int64(1)) }
    }
}
