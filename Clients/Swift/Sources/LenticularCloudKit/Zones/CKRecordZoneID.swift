import Foundation

/// A zone's name and owner.
///
/// Two are equal when both are.
public final class CKRecordZoneID: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// The name of the zone that every database has.
    public static let defaultZoneName = "_defaultZone"
    /// The caller's default zone.
    public static let `default` = CKRecordZoneID(zoneName: defaultZoneName)

    /// The zone's name.
    public let zoneName: String
    /// The owner's user record name; `CKCurrentUserDefaultName` for one's own.
    public let ownerName: String

    /// Names a zone; the caller's own unless an owner is named.
    public init(
        zoneName: String = CKRecordZoneID.defaultZoneName,
        ownerName: String = CKCurrentUserDefaultName
    ) {
        self.zoneName = zoneName
        self.ownerName = ownerName
    }

    /// The zone in which this library keeps an account's key, wrapped.
    static let keys = CKRecordZoneID(zoneName: "LenticularKeys")

    /// Whether it is the zone of the account's key: feeds and lists leave it out, as an app's code does not
    /// expect it.
    var holdsKeys: Bool { self == .keys }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKRecordZoneID else { return false }
        return zoneName == other.zoneName && ownerName == other.ownerName
    }

    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(zoneName)
        hasher.combine(ownerName)
        return hasher.finalize()
    }

    public override var description: String { "<CKRecordZoneID \(zoneName):\(ownerName)>" }

    /// Itself: it does not change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// True: archives name their classes.
    public static var supportsSecureCoding: Bool { true }

    /// Writes it into an archive.
    public func encode(with coder: NSCoder) {
        coder.encode(zoneName as NSString, forKey: "ZoneName")
        coder.encode(ownerName as NSString, forKey: "OwnerName")
    }

    /// Reads it from an archive; nil for anything else.
    public convenience init?(coder: NSCoder) {
        guard let name = coder.object(NSString.self, "ZoneName"),
            // Apple's framework writes the key otherwise.
            let owner = coder.object(NSString.self, "OwnerName")
                ?? coder.object(NSString.self, "ownerName")
        else { return nil }
        self.init(zoneName: String(name), ownerName: String(owner))
    }
}
