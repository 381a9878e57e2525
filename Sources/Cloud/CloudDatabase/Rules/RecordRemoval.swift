import CloudModel
import Storage

/// Deletes public records in the server's own name; feeds show ordinary deletions.
struct RecordRemoval {
    private let transaction: any StoreTransaction

    init(_ transaction: any StoreTransaction) { self.transaction = transaction }

    /// Deletes a living record, and queues the deletion of records that refer to it by DELETE_SELF
    /// (rulings.md 45).
    func remove(
        _ key: RecordKey, _ former: CurrentRecord, _ head: StoredHead, from zone: StoredZone
    ) throws {
        let position = try transaction.takePosition()
        let types = try transaction.schema.types
        let type = types.first { $0.value.number == former.type }?.key.text ?? ""
        _ = try transaction.save(
            NewVersion(
                zone: zone, name: key.name, position: position, former: head,
                formerBytes: former.bodyBytes, formerIsAlive: true,
                formerIsDamaged: former.isDamaged, type: former.type, flags: .tombstone,
                body: RecordBody.tombstone(
                    name: key.name, type: type,
                    zone: ZoneJSON.identifier(zone.name, owner: .publicOwner))))
        if former.flags.contains(.hasLinks) {
            try transaction.replaceLinks(of: head.record, with: [])
        }
        if former.flags.contains(.hasAssets) {
            try transaction.replaceAssets(of: head.record, in: zone, with: [])
        }
        let hasSources = try !transaction.sources(
            of: key.name, in: key.zone, kind: .deleteSelf, after: RecordNumber(0), limit: 1
        ).isEmpty
        if hasSources {
            try transaction.enqueue(
                .deleteSources(of: key.name, in: key.zone, deletedAt: position))
        }
    }
}
