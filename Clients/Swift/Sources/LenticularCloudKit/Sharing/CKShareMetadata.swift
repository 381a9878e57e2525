import Foundation

/// What a link to a share leads to.
public final class CKShareMetadata: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: nothing of it changes; its records are handed on with it.

    public let containerIdentifier: String
    public let share: CKShare
    /// The root of the tree; nil for a whole zone.
    public let hierarchicalRootRecordID: CKRecord.ID?
    /// The root itself, when it was asked for and the caller may see it.
    public let rootRecord: CKRecord?
    public let participantRole: CKShare.ParticipantRole
    public let participantStatus: CKShare.ParticipantAcceptanceStatus
    public let participantPermission: CKShare.ParticipantPermission
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

    public func copy(with zone: NSZone? = nil) -> Any { self }
}
