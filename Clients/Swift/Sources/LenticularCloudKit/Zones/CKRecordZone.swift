import Foundation

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The owner's name that stands for the signed-in user.
public let CKCurrentUserDefaultName = "__defaultOwner__"

/// A part of a database whose records change together.
public final class CKRecordZone: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// A zone's name and owner.
    public typealias ID = CKRecordZoneID

    /// What can be done in a zone.
    public struct Capabilities: OptionSet, Sendable {
        /// The native number of these capabilities.
        public let rawValue: UInt

        /// Capabilities by their native number.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Changes can be fetched from a token on.
        public static let fetchChanges = Capabilities(rawValue: 1)
        /// A batch is saved whole or not at all.
        public static let atomic = Capabilities(rawValue: 2)
        /// Trees of records can be shared.
        public static let sharing = Capabilities(rawValue: 4)
        /// The zone can be shared as a whole.
        public static let zoneWideSharing = Capabilities(rawValue: 8)
    }

    /// The zone's name and owner.
    public let zoneID: ID
    /// What can be done in the zone: nothing of it in a default zone.
    public let capabilities: Capabilities
    /// The share of the whole zone; nil while there is none.
    public let share: CKRecord.Reference?

    /// The caller's default zone.
    public static func `default`() -> CKRecordZone { CKRecordZone(zoneID: .default) }

    /// A zone of the caller's own.
    public convenience init(zoneName: String) { self.init(zoneID: ID(zoneName: zoneName)) }

    /// A zone by its ID.
    public convenience init(zoneID: ID) { self.init(zoneID: zoneID, share: nil) }

    /// A zone as the server has it: a default zone can do none of what others can.
    init(zoneID: ID, share: CKRecord.Reference?) {
        self.zoneID = zoneID
        self.share = share
        capabilities =
            zoneID.zoneName == ID.defaultZoneName
            ? [] : [.fetchChanges, .atomic, .sharing, .zoneWideSharing]
    }

    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKRecordZone)?.zoneID == zoneID
    }

    public override var hash: Int { zoneID.hash }

    public override var description: String { "<CKRecordZone \(zoneID)>" }

    /// Itself: it does not change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// True: archives name their classes.
    public static var supportsSecureCoding: Bool { true }

    /// Writes it into an archive.
    public func encode(with coder: NSCoder) {
        coder.encode(zoneID, forKey: "ZoneID")
        coder.encode(share, forKey: "ShareReference")
    }

    /// Reads it from an archive; nil for anything else.
    public convenience init?(coder: NSCoder) {
        guard let zone = coder.object(ID.self, "ZoneID") else { return nil }
        self.init(
            zoneID: zone,
            share: coder.object(CKRecord.Reference.self, "ShareReference"))
    }
}
