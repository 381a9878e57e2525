import Foundation

/// Somebody who takes part in a share, or is invited to.
public final class CKShareParticipant: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Unchecked: as with records, one thread at a time changes it.

    /// Who it is.
    public let userIdentity: CKUserIdentity
    /// Whether they may change who takes part.
    public var role: CKShare.ParticipantRole
    /// What they may do with the records of the share.
    public var permission: CKShare.ParticipantPermission
    /// Whether they have taken part yet.
    public internal(set) var acceptanceStatus: CKShare.ParticipantAcceptanceStatus
    /// Whether they had asked to take part, and were let in.
    public let isApprovedRequester: Bool
    /// What the server knows them by; nil until the share has been saved.
    let participantID: String?

    init(
        _ identity: CKUserIdentity, participantID: String? = nil,
        role: CKShare.ParticipantRole = .privateUser,
        permission: CKShare.ParticipantPermission = .readOnly,
        acceptanceStatus: CKShare.ParticipantAcceptanceStatus = .pending,
        isApprovedRequester: Bool = false
    ) {
        userIdentity = identity
        self.participantID = participantID
        self.role = role
        self.permission = permission
        self.acceptanceStatus = acceptanceStatus
        self.isApprovedRequester = isApprovedRequester
    }

    /// The same person of the same share.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKShareParticipant else { return false }
        if let participantID, let theirs = other.participantID { return participantID == theirs }
        if let user = userIdentity.userRecordID, let theirs = other.userIdentity.userRecordID {
            return user == theirs
        }
        guard let lookup = userIdentity.lookupInfo else { return self === other }
        return lookup == other.userIdentity.lookupInfo
    }

    public override var hash: Int { 0 }

    /// Itself: it does not change.
    public func copy(with zone: NSZone? = nil) -> Any {
        CKShareParticipant(
            userIdentity, participantID: participantID, role: role, permission: permission,
            acceptanceStatus: acceptanceStatus, isApprovedRequester: isApprovedRequester)
    }

    /// True: archives name their classes.
    public static var supportsSecureCoding: Bool { true }

    /// Writes it into an archive.
    public func encode(with coder: NSCoder) {
        coder.encode(userIdentity, forKey: "UserIdentity")
        coder.encode(participantID.map { $0 as NSString }, forKey: "ParticipantID")
        coder.encode(role.rawValue, forKey: "Type")
        coder.encode(permission.rawValue, forKey: "Permission")
        coder.encode(acceptanceStatus.rawValue, forKey: "AcceptanceStatus")
    }

    /// Reads it from an archive; nil for anything else.
    public convenience init?(coder: NSCoder) {
        guard let identity = coder.object(CKUserIdentity.self, "UserIdentity") else { return nil }
        self.init(
            identity,
            participantID: coder.object(NSString.self, "ParticipantID").map { String($0) },
            role: .init(rawValue: coder.decodeInteger(forKey: "Type")) ?? .unknown,
            permission: .init(rawValue: coder.decodeInteger(forKey: "Permission")) ?? .unknown,
            acceptanceStatus: .init(rawValue: coder.decodeInteger(forKey: "AcceptanceStatus"))
                ?? .unknown)
    }
}
