import Foundation

/// What a link to a share leads to.
public final class CKShareMetadata: NSObject, NSSecureCoding, NSCopying, Sendable {
    private let parts: Parts

    /// The container that the share is in.
    public var containerIdentifier: String { parts.container }
    /// The share itself.
    public var share: CKShare { parts.share }
    /// The root of the tree; nil for a whole zone.
    public var hierarchicalRootRecordID: CKRecord.ID? { parts.root }
    /// The root itself, when it was asked for and the caller may see it.
    public var rootRecord: CKRecord? { parts.rootRecord }
    /// The caller's role in it.
    public var participantRole: CKShare.ParticipantRole { parts.role }
    /// Whether the caller has accepted.
    public var participantStatus: CKShare.ParticipantAcceptanceStatus { parts.status }
    /// What the caller may do.
    public var participantPermission: CKShare.ParticipantPermission { parts.permission }
    /// Who shares.
    public var ownerIdentity: CKUserIdentity { parts.owner }
    /// What the link carries.
    var shortGUID: String { parts.shortGUID }

    /// The root's name, or that of a zone's share.
    public var rootRecordID: CKRecord.ID {
        hierarchicalRootRecordID
            ?? CKRecord.ID(
                recordName: CKRecordNameZoneWideShare, zoneID: share.recordID.zoneID)
    }

    init(_ parts: Parts) { self.parts = parts }

    struct Parts: Sendable {
        let container: String
        let shortGUID: String
        let share: CKShare
        let root: CKRecord.ID?
        let rootRecord: CKRecord?
        let role: CKShare.ParticipantRole
        let status: CKShare.ParticipantAcceptanceStatus
        let permission: CKShare.ParticipantPermission
        let owner: CKUserIdentity
    }

    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKShareMetadata)?.shortGUID == shortGUID
    }

    public override var hash: Int { shortGUID.hashValue }

    /// Itself: it does not change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// The older form of `participantRole`.
    public var participantType: CKShare.ParticipantType { .init(participantRole) }

    // MARK: - Archives

    /// True: archives name their classes.
    public static var supportsSecureCoding: Bool { true }

    /// Writes it into an archive.
    public func encode(with coder: NSCoder) {
        coder.encode(parts.container as NSString, forKey: "ContainerID")
        coder.encode(parts.shortGUID as NSString, forKey: "ShortGUID")
        coder.encode(parts.share, forKey: "Share")
        coder.encode(parts.root, forKey: "RootRecordID")
        coder.encode(parts.rootRecord, forKey: "RootRecord")
        coder.encode(parts.role.rawValue, forKey: "ParticipantType")
        coder.encode(parts.status.rawValue, forKey: "ParticipantStatus")
        coder.encode(parts.permission.rawValue, forKey: "ParticipantPermission")
        coder.encode(parts.owner, forKey: "OwnerIdentity")
    }

    /// Reads it from an archive; nil for anything else.
    public convenience init?(coder: NSCoder) {
        guard let container = coder.object(NSString.self, "ContainerID"),
            let shortGUID = coder.object(NSString.self, "ShortGUID"),
            let share = coder.object(CKShare.self, "Share"),
            let owner = coder.object(CKUserIdentity.self, "OwnerIdentity")
        else { return nil }
        self.init(
            Parts(
                container: String(container), shortGUID: String(shortGUID), share: share,
                root: coder.object(CKRecord.ID.self, "RootRecordID"),
                rootRecord: coder.object(CKRecord.self, "RootRecord"),
                role: .init(rawValue: coder.decodeInteger(forKey: "ParticipantType")) ?? .unknown,
                status: .init(rawValue: coder.decodeInteger(forKey: "ParticipantStatus"))
                    ?? .unknown,
                permission: .init(rawValue: coder.decodeInteger(forKey: "ParticipantPermission"))
                    ?? .unknown,
                owner: owner))
    }
}
