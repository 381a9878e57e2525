import CloudModel
import SQLite
import Storage
import StoredRows

// What a write does with assets.
extension SQLiteTransaction {
    func addReceipt(
        _ id: [UInt8], _ receipt: StoredReceipt, of file: AssetPresence
    ) throws -> Bool {
        // No other process removes files.
        if case .placed = file {
            try assetWrites().insertFile.run(
                receipt.content.digest.bytes, receipt.content.size, now)
        }
        guard let file = try assetFile(receipt.content.digest) else { return false }
        try assetWrites().insertReceipt.run(id, file.id, receipt.identity, receipt.expires)
        return true
    }

    func replaceAssets(
        of record: RecordNumber, in zone: StoredZone, with files: Set<AssetDigest>
    ) throws {
        let statements = try assetWrites()
        var missing = files
        var bytes: Int64 = 0
        for use in try uses(of: record, statements) where missing.remove(use.digest) == nil {
            try statements.deleteUse.run(record.value, use.file)
            try statements.letGo.run(use.file, now)
            bytes -= use.bytes
        }
        for digest in missing.sorted() {
            guard let file = try assetFile(digest) else {
                throw BrokenInvariant("a record holds only files that the store knows: \(digest)")
            }
            try statements.insertUse.run(record.value, file.id)
            try statements.hold.run(file.id)
            bytes += file.bytes
        }
        noteAssets(bytes, in: zone)
    }

    private func uses(
        of record: RecordNumber, _ statements: AssetWriteStatements
    ) throws -> [(file: Int64, digest: AssetDigest, bytes: Int64)] {
        let statement = statements.usesOfRecord
        defer { statement.reset() }
        statement.bind(record.value, at: 1)
        var found: [(file: Int64, digest: AssetDigest, bytes: Int64)] = []
        while try statement.step() {
            guard let digest = AssetDigest(statement.bytes(1)) else {
                throw InvalidRow(table: "asset_files")
            }
            found.append((statement.int64(0), digest, statement.int64(2)))
        }
        return found
    }

    func remove(_ removal: AssetRemoval) throws -> [AssetDigest] {
        switch removal {
        case .begin(let digests, let moment):
            let statement = try assetWrites().forget
            for digest in digests {
                try statement.run(digest.bytes, moment)
            }
            return try assets(.unknown(among: digests))
        case .end: return []
        case .receipts(let identity, let limit):
            return try endReceipts(of: identity, limit: limit)
        }
    }
}
