import CloudModel
import Cryptography
import JSON
import Storage

/// Makes the assets of stored records usable in others, without their bytes (web-services.md §4.14).
///
/// The caller must be able to read the records. All of it succeeds or none.
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
    private let lookup: LookupRecords

    /// - Parameter zone: where the records are.
    package init(in zone: ZoneID, of database: Database) throws(Fault) {
        lookup = try LookupRecords(in: zone, of: database)
        self.database = database
    }

    /// The assets of the fields, in order; of a list all its members.
    ///
    /// - Throws: `Fault` BAD_REQUEST for a record or field that has none, and for more than
    ///   `ServiceLimits.rereferencedAssetsMax`, because a receipt is written for each; ZONE_NOT_FOUND.
    package func contents(
        of sources: [Source], from snapshot: any StoreSnapshot
    ) throws -> [AssetContent] {
        let most = database.limits.rereferencedAssetsMax
        let zone = try lookup.open(snapshot)
        let access = try lookup.access(snapshot)
        var rendering = RecordRendering.whole
        rendering.keepsAssetsAsStored = true
        var contents: [AssetContent] = []
        for source in sources {
            var writer = JSONWriter()
            let item = LookupRecords.Item(name: source.record, rendering: rendering)
            do {
                _ = try lookup.append(item, of: zone, by: access, from: snapshot, to: &writer)
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
                    "assets: the fields hold over \(most) (assets.rereferencedMax); ask for fewer")
            }
        }
        return contents
    }

    /// Makes a receipt for each, and reports when they are on disk.
    package func receipts(
        for contents: [AssetContent], random: RandomSource,
        completion: @escaping @Sendable (Result<[AssetReceipt], any Error>) -> Void
    ) throws(Fault) {
        guard let access = database.assets, let user = database.caller.userRecordName else {
            throw Fault(.accessDenied, "CREATE operation not permitted")
        }
        let identity = access.tokens.identity(database.scope, user)
        let life = Milliseconds(access.tokens.lives.receipt) * 1_000
        let receipts = contents.map {
            AssetReceipt(id: random.bytes(AssetReceipt.idBytes), content: $0)
        }
        database.storage.write(
            WriteLoad(cost: receipts.count, caller: WriteCaller(database.caller))
        ) { transaction in
            for receipt in receipts {
                let stored = StoredReceipt(
                    content: receipt.content, identity: identity,
                    expires: transaction.now + life)
                guard try transaction.addReceiptForKnown(receipt.id, stored) else {
                    throw Fault.badRequest("assets: an asset has just been removed")
                }
            }
            return receipts
        } completion: {
            completion($0)
        }
    }
}
