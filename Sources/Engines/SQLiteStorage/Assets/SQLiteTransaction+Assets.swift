import CloudModel
import SQLite
import Storage

// What a write does with assets.
extension SQLiteTransaction {
    func addReceipt(
        _ id: [UInt8], _ receipt: StoredReceipt, isInPlace: Bool
    ) throws -> Bool {
        if isInPlace {
            let insert = try assetWrites().insertFile
            insert.bind(receipt.content.digest.bytes, at: 1)
            insert.bind(Int64(receipt.content.size), at: 2)
            insert.bind(now, at: 3)
            try insert.run()
        }
        guard let file = try assetFile(receipt.content.digest) else { return false }
        let insert = try assetWrites().insertReceipt
        insert.bind(id, at: 1)
        insert.bind(file.id, at: 2)
        insert.bind(receipt.identity, at: 3)
        insert.bind(receipt.expires, at: 4)
        try insert.run()
        return true
    }

    func replaceAssets(
        of record: RecordNumber, in zone: StoredZone, with files: Set<AssetDigest>
    ) throws {
        let statements = try assetWrites()
        var missing = files
        var bytes: Int64 = 0
        for use in try uses(of: record, statements) where missing.remove(use.digest) == nil {
            statements.deleteUse.bind(record.value, at: 1)
            statements.deleteUse.bind(use.file, at: 2)
            try statements.deleteUse.run()
            statements.letGo.bind(use.file, at: 1)
            statements.letGo.bind(now, at: 2)
            try statements.letGo.run()
            bytes -= use.bytes
        }
        for digest in missing.sorted() {
            guard let file = try assetFile(digest) else {
                throw BrokenInvariant("a record holds only files that the store knows: \(digest)")
            }
            statements.insertUse.bind(record.value, at: 1)
            statements.insertUse.bind(file.id, at: 2)
            try statements.insertUse.run()
            statements.hold.bind(file.id, at: 1)
            try statements.hold.run()
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

    func forgetUnusedAssets(
        _ digests: [AssetDigest], since moment: Milliseconds
    ) throws -> [AssetDigest] {
        let statement = try assetWrites().forget
        for digest in digests {
            statement.bind(digest.bytes, at: 1)
            statement.bind(moment, at: 2)
            try statement.run()
        }
        return try unknownAssets(among: digests)
    }
}
