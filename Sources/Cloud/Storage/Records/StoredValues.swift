import CloudModel

/// A number that a change of a store takes: in the order of commits over all writers, and never used again.
///
/// It lies between 1 and 2⁴⁰ − 1, so that an engine can pack it into one number with other values.
package typealias Position = Int64

/// The number of an owner of zones within one store.
package struct OwnerNumber: Hashable, Sendable {
    package let value: Int64

    package init(_ value: Int64) { self.value = value }
}

/// The number of a zone within one store; a zone that is made anew under an old name gets a new number.
package struct ZoneNumber: Hashable, Sendable {
    package let value: Int64

    package init(_ value: Int64) { self.value = value }
}

/// The number of a record within one store; a record keeps it when it is saved again.
package struct RecordNumber: Hashable, Sendable {
    package let value: Int64

    package init(_ value: Int64) { self.value = value }
}

/// An owner as stored.
package struct StoredOwner: Sendable {
    package let number: OwnerNumber
    package let recordName: String
    /// How many bytes their records take; within a transaction, with what it has written.
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

    /// Nil where what is stored is no name of a user.
    package var userRecordName: UserRecordName? {
        recordName == UserRecordName.publicOwner.text ? .publicOwner : UserRecordName(recordName)
    }
}

/// A zone as stored, alive or deleted.
package struct StoredZone: Sendable {
    package let number: ZoneNumber
    package let owner: OwnerNumber
    package let name: ZoneName
    /// The position at which the zone was made.
    package let created: Position
    /// The position of its last change; nil for a default zone, which has no feed.
    package let changed: Position?
    /// Zone tokens below this position have expired.
    package let oldestValidPosition: Position
    package let isDeleted: Bool

    package init(
        number: ZoneNumber, owner: OwnerNumber, name: ZoneName, created: Position,
        changed: Position?, oldestValidPosition: Position, isDeleted: Bool
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

/// What a record name leads to: the record's number and the position of its current version or tombstone.
package struct StoredHead: Sendable {
    package let record: RecordNumber
    package let position: Position

    package init(record: RecordNumber, position: Position) {
        self.record = record
        self.position = position
    }
}

/// What can be known of a version without reading its body.
///
/// Every record of a page is asked for them. So the checks are inlined into other modules; the defaults of
/// `OptionSet` would be looked up in its witness table.
package struct VersionFlags: OptionSet, Sendable {
    package let rawValue: Int64

    @inlinable
    package init(rawValue: Int64) { self.rawValue = rawValue }

    @inlinable
    package init() { self.init(rawValue: 0) }

    /// The record is deleted; the body is the answer that says so.
    @inlinable package static var tombstone: VersionFlags { VersionFlags(rawValue: 1) }
    /// The record may have links as their source, or will have them once the zones that it refers to exist.
    @inlinable package static var hasLinks: VersionFlags { VersionFlags(rawValue: 2) }
    /// The record has fields with assets; their download links are made when the record is shown.
    @inlinable package static var hasAssets: VersionFlags { VersionFlags(rawValue: 8) }
    /// The record is a share: what it shows depends on the viewer.
    @inlinable package static var share: VersionFlags { VersionFlags(rawValue: 16) }
    /// The record is the root of a standing share, which its body names.
    @inlinable package static var root: VersionFlags { VersionFlags(rawValue: 32) }

    /// Whether everybody who asks for the whole record gets the stored body unchanged.
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
    /// How many bytes the version counts towards its owner's: those of the body, whatever an engine keeps.
    package let bytesCounted: Int
    /// Whether it is not what was written; then its body is empty, and no type has its type's number.
    ///
    /// Only `CurrentRecordReading` hands out such versions; others are a `DamagedVersion`.
    package let isDamaged: Bool
    /// Nil where the engine does not know them apart from the body.
    package let ranges: Ranges?

    /// Where in a body those parts are that others want by themselves.
    package struct Ranges {
        /// The whole object of the record's fields.
        package let fields: Range<Int>
        /// The record name of who made the record.
        package let creator: Range<Int>
        /// The record name of who saved it last.
        package let modifier: Range<Int>

        @inlinable
        package init(fields: Range<Int>, creator: Range<Int>, modifier: Range<Int>) {
            self.fields = fields
            self.creator = creator
            self.modifier = modifier
        }
    }

    @inlinable
    package init(
        record: RecordNumber, position: Position, type: Int64, flags: VersionFlags,
        body: UnsafeRawBufferPointer, ranges: Ranges? = nil
    ) {
        self.record = record
        self.position = position
        self.type = type
        self.flags = flags
        self.body = body
        self.ranges = ranges
        bytesCounted = body.count
        isDamaged = false
    }

    /// A version of which nothing but its place is known.
    ///
    /// - Parameter flags: what the store knows of the record beside its version.
    package init(
        damaged record: RecordNumber, position: Position, flags: VersionFlags, bytesCounted: Int
    ) {
        self.record = record
        self.position = position
        self.flags = flags
        self.bytesCounted = bytesCounted
        type = 0
        body = UnsafeRawBufferPointer(start: nil, count: 0)
        ranges = nil
        isDamaged = true
    }

    /// The record name of who made the record; nil where only the body says it.
    package var creator: String? {
        ranges.map { String(decoding: body[$0.creator], as: UTF8.self) }
    }

    /// The record name of who saved the record last; nil where only the body says it.
    package var modifier: String? {
        ranges.map { String(decoding: body[$0.modifier], as: UTF8.self) }
    }
}

/// A stored version that is not what was written, such as one on a disk that has decayed.
///
/// Nothing of it can be served. The record can be deleted or written anew.
package struct DamagedVersion: Error, Equatable, CustomStringConvertible {
    package let zone: ZoneNumber
    package let position: Position

    package init(zone: ZoneNumber, position: Position) {
        self.zone = zone
        self.position = position
    }

    package var description: String {
        "the version at \(position) in zone \(zone.value) is not what was written"
    }
}

/// What a reference does to its source or its target.
package enum LinkKind: Int64, Sendable, Comparable, CaseIterable {
    /// As `deleteSelf`, set by a participant of a share.
    ///
    /// It acts only while one shared tree holds both records, or no shared tree holds either.
    case deleteSelfInTree = 0
    /// Deleting the target deletes the source.
    case deleteSelf = 1
    /// The target must exist, and nobody can delete it while the source remains.
    case validate = 2
    /// As `validate`; it also says where the source is in a hierarchy.
    case parent = 3

    package static let all = LinkKind.deleteSelfInTree ... .parent

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
