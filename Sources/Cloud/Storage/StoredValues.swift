import CloudModel

/// A number that a change of a store takes: in commit order over all writers, never used again.
///
/// From 1 to 2⁴⁰ − 1, so that an engine may keep it beside other things in one number.
package typealias Position = Int64

/// An owner of zones within one store.
package struct OwnerNumber: Hashable, Sendable {
    package let value: Int64

    package init(_ value: Int64) { self.value = value }
}

/// A zone within one store; a zone made anew under an old name has another number.
package struct ZoneNumber: Hashable, Sendable {
    package let value: Int64

    package init(_ value: Int64) { self.value = value }
}

/// A record within one store; it keeps its number when it is saved again.
package struct RecordNumber: Hashable, Sendable {
    package let value: Int64

    package init(_ value: Int64) { self.value = value }
}

/// An owner as stored.
package struct StoredOwner: Sendable {
    package let number: OwnerNumber
    package let recordName: String
    package let usedBytes: Int64
    /// Database tokens below this position have expired.
    package let oldestValidPosition: Position

    package init(
        number: OwnerNumber, recordName: String, usedBytes: Int64, oldestValidPosition: Position
    ) {
        self.number = number
        self.recordName = recordName
        self.usedBytes = usedBytes
        self.oldestValidPosition = oldestValidPosition
    }
}

/// A zone as stored, alive or deleted.
package struct StoredZone: Sendable {
    package let number: ZoneNumber
    package let owner: OwnerNumber
    package let name: ZoneName
    /// The position at which the zone was made.
    package let created: Position
    /// The position of its last change; 0 for a default zone, which has no feed.
    package let changed: Position
    /// Zone tokens below this position have expired.
    package let oldestValidPosition: Position
    package let isDeleted: Bool

    package init(
        number: ZoneNumber, owner: OwnerNumber, name: ZoneName, created: Position,
        changed: Position, oldestValidPosition: Position, isDeleted: Bool
    ) {
        self.number = number
        self.owner = owner
        self.name = name
        self.created = created
        self.changed = changed
        self.oldestValidPosition = oldestValidPosition
        self.isDeleted = isDeleted
    }
}

/// Where a record name stands: its number and the position of its current version or tombstone.
package struct StoredHead: Sendable {
    package let record: RecordNumber
    package let position: Position

    package init(record: RecordNumber, position: Position) {
        self.record = record
        self.position = position
    }
}

/// What must be known of a version without reading its body.
///
/// Asked of every record of a page: what is asked is inlined into other modules, where the defaults of
/// `OptionSet` would be found by its witness table.
package struct VersionFlags: OptionSet, Sendable {
    package let rawValue: Int64

    @inlinable
    package init(rawValue: Int64) { self.rawValue = rawValue }

    @inlinable
    package init() { self.init(rawValue: 0) }

    /// The record is deleted; the body is the answer that says so.
    @inlinable package static var tombstone: VersionFlags { VersionFlags(rawValue: 1) }
    /// Rows in `links` may name this record as their source, and will when zones it refers to exist.
    @inlinable package static var hasLinks: VersionFlags { VersionFlags(rawValue: 2) }
    /// Fields hold assets, whose links are made when the record is shown.
    @inlinable package static var hasAssets: VersionFlags { VersionFlags(rawValue: 8) }
    /// The record is a share: what it shows depends on the viewer.
    @inlinable package static var share: VersionFlags { VersionFlags(rawValue: 16) }
    /// The record is the root of a standing share, which its body names.
    @inlinable package static var root: VersionFlags { VersionFlags(rawValue: 32) }

    /// Whether the stored body is what everybody is shown who asks for the whole record.
    @inlinable package var isShownAsStored: Bool {
        rawValue & (Self.hasAssets.rawValue | Self.share.rawValue | Self.root.rawValue) == 0
    }

    @inlinable
    package func contains(_ others: VersionFlags) -> Bool {
        rawValue & others.rawValue == others.rawValue
    }

    @inlinable
    package mutating func insert(_ others: VersionFlags) {
        self = VersionFlags(rawValue: rawValue | others.rawValue)
    }
}

/// A record's current version or tombstone, as read.
package struct StoredVersion {
    package let record: RecordNumber
    package let position: Position
    /// The number of the record's type in the store's schema.
    package let type: Int64
    package let flags: VersionFlags
    /// The final JSON of the answer; valid only while the visiting closure runs.
    package let body: UnsafeRawBufferPointer

    package init(
        record: RecordNumber, position: Position, type: Int64, flags: VersionFlags,
        body: UnsafeRawBufferPointer
    ) {
        self.record = record
        self.position = position
        self.type = type
        self.flags = flags
        self.body = body
    }
}

/// What a reference does to its source or its target.
package enum LinkKind: Int64, Sendable, Comparable, CaseIterable {
    /// As `deleteSelf`, by a participant of a share: acts while one shared tree holds both records, or
    /// none holds either.
    case deleteSelfInTree = 0
    /// Deleting the target deletes the source.
    case deleteSelf = 1
    /// The target must exist and cannot be deleted while the source remains.
    case validate = 2
    /// As `validate`: the source's place in a hierarchy.
    case parent = 3

    package static func < (left: LinkKind, right: LinkKind) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// A reference that acts when its target is deleted.
package struct Link: Hashable, Sendable {
    package let targetZone: ZoneNumber
    package let target: RecordName
    package let kind: LinkKind

    package init(targetZone: ZoneNumber, target: RecordName, kind: LinkKind) {
        self.targetZone = targetZone
        self.target = target
        self.kind = kind
    }
}

/// A record that refers to another.
package struct LinkSource: Sendable {
    package let kind: LinkKind
    package let record: RecordNumber
    package let zone: ZoneNumber
    package let name: RecordName

    package init(kind: LinkKind, record: RecordNumber, zone: ZoneNumber, name: RecordName) {
        self.kind = kind
        self.record = record
        self.zone = zone
        self.name = name
    }
}
