import CloudModel
import Cryptography
import JSON
import Storage

/// Makes the assets of stored records usable in other records, without sending their bytes (web-services.md
/// §4.14).
///
/// The caller must be able to read the records. It succeeds for all of them or for none. It takes at most
/// `ServiceLimits.rereferencedAssetsMax` assets, because it writes a receipt for each.
package struct RereferenceAssets: Sendable {
    /// A field of a record.
    package struct Source: Sendable {
        package let record: String
        package let field: String

        package init(record: String, field: String) {
            self.record = record
            self.field = field
        }
    }

    private let database: Database
    private let zone: ZoneID
    private let sources: [Source]

    /// - Parameter zone: where the records are.
    /// - Throws: `Fault` for a zone that this database cannot have.
    package init(_ sources: [Source], in zone: ZoneID, of database: Database) throws(Fault) {
        try database.check(zone)
        self.sources = sources
        self.zone = zone
        self.database = database
    }

    /// Reads the fields, then makes a receipt for each asset; for a list, one for each member in order.
    ///
    /// Blocks while it reads: never call it on an event loop.
    ///
    /// - Parameter completion: gets the receipts, or `Fault` BAD_REQUEST for an asset that has just been
    ///   removed; failures of the machinery. Success means on disk.
    /// - Throws: `Fault` BAD_REQUEST for a record or field that has no asset, and for too many;
    ///   ZONE_NOT_FOUND; ACCESS_DENIED for a caller who can save nothing.
    package func run(
        completion: @escaping @Sendable (Result<[AssetReceipt], any Error>) -> Void
    ) throws {
        let found = try database.read { try contents(from: $0) }
        try makeReceipts(for: found, completion: completion)
    }

    private func contents(from snapshot: any StoreSnapshot) throws -> [AssetContent] {
        let most = database.limits.rereferencedAssetsMax
        let lookup = try LookupRecords(in: zone, of: database, snapshot: snapshot)
        var rendering = RecordRendering.whole
        rendering.keepsAssetsAsStored = true
        var contents: [AssetContent] = []
        for source in sources {
            var writer = JSONWriter()
            let item = LookupRecords.Item(name: source.record, rendering: rendering)
            do {
                try lookup.append(item, to: &writer)
            } catch let fault as Fault where fault.code == .notFound {
                throw Fault.badRequest("assets: record '\(source.record)' was not found")
            }
            let root = try JSONDocument(parsing: writer.bytes).root
            let field = root["fields"]?.members.first { $0.key.string == source.field }?.value
            let found = field.map { StoredAsset.values(of: $0).map(\.content) } ?? []
            guard !found.isEmpty else {
                throw Fault.badRequest(
                    "assets: field '\(source.field)' of record '\(source.record)' has no asset")
            }
            contents += found
            guard contents.count <= most else {
                throw Fault.badRequest(
                    "assets: the fields hold over \(most); ask for fewer")
            }
        }
        return contents
    }

    private func makeReceipts(
        for contents: [AssetContent],
        completion: @escaping @Sendable (Result<[AssetReceipt], any Error>) -> Void
    ) throws(Fault) {
        guard let access = database.assets, let user = database.caller.userRecordName else {
            throw Fault(.accessDenied, "CREATE operation not permitted")
        }
        let identity = access.tokens.identity(database.scope, user)
        let life = Milliseconds(access.tokens.lives.receipt) * 1_000
        let receipts = contents.map {
            AssetReceipt(id: ReceiptID.make(at: access.now, database.random), content: $0)
        }
        // A receipt that was written when a later one fails is never shown, and ends by itself.
        database.writeInParts(receipts) { part, transaction in
            try part.map { receipt in
                let stored = StoredReceipt(
                    content: receipt.content, identity: identity,
                    expires: transaction.now + life)
                guard try transaction.addReceiptForKnown(receipt.id, stored) else {
                    throw Fault.badRequest("assets: an asset has just been removed")
                }
                return .success(receipt)
            }
        } completion: { outcomes in
            completion(outcomes.flatMap { all in Result { try all.map { try $0.get() } } })
        }
    }
}
