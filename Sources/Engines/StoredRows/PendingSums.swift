import CloudModel
import Storage

// Zones and owners together with what a writer has not written of them yet.

/// What writes add to a zone.
package struct ZoneSum {
    /// The position of its last change.
    package var changed: Position = 0
    package var records: Int64 = 0
    package var bytes: Int64 = 0
    package var assetBytes: Int64 = 0

    package init() {}

    package mutating func add(_ other: ZoneSum) {
        changed = max(changed, other.changed)
        records += other.records
        bytes += other.bytes
        assetBytes += other.assetBytes
    }
}

extension StoredZone {
    /// The zone once it has changed at a position, as its row is then.
    package func reaching(_ position: Position) -> StoredZone {
        guard let changed, !isDeleted else { return self }
        return StoredZone(
            number: number, owner: owner, name: name, created: created,
            changed: max(changed, position), oldestValidPosition: oldestValidPosition,
            isDeleted: isDeleted)
    }
}

extension StoredOwner {
    /// The owner once they use more bytes, or fewer.
    package func using(_ bytes: Int64) -> StoredOwner {
        StoredOwner(
            number: number, recordName: recordName, usedBytes: usedBytes + bytes,
            oldestValidPosition: oldestValidPosition)
    }
}
