import CloudModel
import Storage

/// Deletes public records in the server's own name; feeds show ordinary deletions.
struct RecordRemoval {
    private let transaction: any StoreTransaction

    init(_ transaction: any StoreTransaction) { self.transaction = transaction }

    /// Deletes a living record, and queues the deletion of records that refer to it by DELETE_SELF
    /// (rulings.md 45).
    func remove(
        _ key: RecordKey, _ previous: CurrentRecord, _ head: StoredHead, from zone: StoredZone
    ) throws {
        let position = try transaction.takePosition()
        let types = try transaction.schema.types
        let type = types.first { $0.value.number == previous.type }?.key.text ?? ""
        _ = try transaction.save(
            .tombstone(
                of: previous, head, name: key.name, in: zone, at: position,
                RecordBody.tombstone(
                    name: key.name, type: type,
                    zone: ZoneJSON.identifier(zone.name, owner: .publicOwner))))
        let hasSources = try !transaction.sources(
            of: key.name, in: key.zone, kind: .deleteSelf, after: RecordNumber(0), limit: 1
        ).isEmpty
        if hasSources {
            try transaction.enqueue(
                .deleteSources(of: key.name, in: key.zone, deletedAt: position))
        }
    }
}

extension NewVersion {
    /// What stays of a record: it links to nothing and holds no file.
    static func tombstone(
        of previous: CurrentRecord, _ head: StoredHead, name: RecordName, in zone: StoredZone,
        at position: Position, _ body: [UInt8]
    ) -> NewVersion {
        var version = NewVersion(
            zone: zone, name: name, position: position, previous: head,
            previousBytes: previous.bodyBytes, previousIsAlive: true,
            previousIsDamaged: previous.isDamaged,
            type: previous.type, flags: .tombstone, body: body)
        if previous.flags.contains(.hasLinks) { version.links = [] }
        if previous.flags.contains(.hasAssets) { version.files = [] }
        return version
    }
}
