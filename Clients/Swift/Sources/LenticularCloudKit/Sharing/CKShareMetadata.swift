import Foundation

/// What a link to a share leads to.
public final class CKShareMetadata: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: nothing of it changes; its records are handed on with it.

    /// The container that the share is in.
    public let containerIdentifier: String
    /// The share itself.
    public let share: CKShare
    /// The root of the tree; nil for a whole zone.
    public let hierarchicalRootRecordID: CKRecord.ID?
    /// The root itself, when it was asked for and the caller may see it.
    public let rootRecord: CKRecord?
    /// The caller's role in it.
    public let participantRole: CKShare.ParticipantRole
    /// Whether the caller has accepted.
    public let participantStatus: CKShare.ParticipantAcceptanceStatus
    /// What the caller may do.
    public let participantPermission: CKShare.ParticipantPermission
    /// Who shares.
    public let ownerIdentity: CKUserIdentity
    /// What the link carries.
    let shortGUID: String

    /// The root's name, or that of a zone's share.
    public var rootRecordID: CKRecord.ID {
        hierarchicalRootRecordID
            ?? CKRecord.ID(
                recordName: CKRecordNameZoneWideShare, zoneID: share.recordID.zoneID)
    }

    init(_ parts: Parts) {
        containerIdentifier = parts.container
        share = parts.share
        hierarchicalRootRecordID = parts.root
        rootRecord = parts.rootRecord
        participantRole = parts.role
        participantStatus = parts.status
        participantPermission = parts.permission
        ownerIdentity = parts.owner
        shortGUID = parts.shortGUID
    }

    struct Parts {
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
}
