import Foundation

/// Somebody who takes part in a share, or is invited to.
public final class CKShareParticipant: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Unchecked: as with records, one thread at a time changes it.

    /// What somebody is known by within a share.
    public typealias ID = String

    /// Who it is; nobody in particular for a one-time link.
    public let userIdentity: CKUserIdentity
    /// Whether they may change who takes part.
    public var role: CKShare.ParticipantRole
    /// The older form of `role`.
    public var type: CKShare.ParticipantType {
        get { .init(role) }
        set { role = newValue.role }
    }
    /// What they may do with the records of the share.
    public var permission: CKShare.ParticipantPermission
    /// Whether they have taken part yet.
    public internal(set) var acceptanceStatus: CKShare.ParticipantAcceptanceStatus
    /// Whether they had asked to take part, and were let in.
    public let isApprovedRequester: Bool
    /// Whether the entry is for the first person who comes by its own link.
    let isOneTimeLink: Bool
    /// That link, while nobody has come by it.
    private(set) var oneTimeURL: URL?
    /// What the server knows them by; nil until the share has been saved.
    private(set) var serverID: ID?
    /// What this device knows them by until then.
    private let localID = UUID().uuidString

    /// What they are known by within the share.
    ///
    /// The server names them anew when the share is first saved; a name from before stays good for
    /// `CKShare.oneTimeURL(for:)`.
    public var participantID: ID { serverID ?? localID }

    init(
        _ identity: CKUserIdentity, serverID: ID? = nil,
        role: CKShare.ParticipantRole = .privateUser,
        permission: CKShare.ParticipantPermission = .readOnly,
        acceptanceStatus: CKShare.ParticipantAcceptanceStatus = .pending,
        isApprovedRequester: Bool = false, isOneTimeLink: Bool = false, oneTimeURL: URL? = nil
    ) {
        userIdentity = identity
        self.serverID = serverID
        self.isOneTimeLink = isOneTimeLink
        self.oneTimeURL = oneTimeURL
        self.role = role
        self.permission = permission
        self.acceptanceStatus = acceptanceStatus
        self.isApprovedRequester = isApprovedRequester
    }

    /// An entry for the first person who comes by its own link.
    ///
    /// `CKShare.oneTimeURL(for:)` gives the link once the share is saved. Looking at the share by the link does not use
    /// it up; accepting does.
    public static func oneTimeURLParticipant() -> CKShareParticipant {
        CKShareParticipant(
            CKUserIdentity(userRecordID: nil, nameComponents: nil, lookupInfo: nil),
            isOneTimeLink: true)
    }

    /// Whether a name, from before the share was saved or after, is theirs.
    func isKnown(by id: ID) -> Bool { id == serverID || id == localID }

    /// Takes over what the server says of an entry that it has saved.
    func becomeSaved(as saved: CKShareParticipant) {
        serverID = saved.serverID
        oneTimeURL = saved.oneTimeURL
    }

    /// The same person of the same share.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKShareParticipant else { return false }
        if let serverID, let theirs = other.serverID { return serverID == theirs }
        if let user = userIdentity.userRecordID, let theirs = other.userIdentity.userRecordID {
            return user == theirs
        }
        guard let lookup = userIdentity.lookupInfo else { return self === other }
        return lookup == other.userIdentity.lookupInfo
    }

    public override var hash: Int { 0 }

    /// A copy that can be changed by itself.
    public func copy(with zone: NSZone? = nil) -> Any {
        CKShareParticipant(
            userIdentity, serverID: serverID, role: role, permission: permission,
            acceptanceStatus: acceptanceStatus, isApprovedRequester: isApprovedRequester,
            isOneTimeLink: isOneTimeLink, oneTimeURL: oneTimeURL)
    }

    /// True: archives name their classes.
    public static var supportsSecureCoding: Bool { true }

    /// Writes it into an archive.
    public func encode(with coder: NSCoder) {
        coder.encode(userIdentity, forKey: "UserIdentity")
        coder.encode(serverID.map { $0 as NSString }, forKey: "ParticipantID")
        coder.encode(oneTimeURL.map { $0.absoluteString as NSString }, forKey: "OneTimeURL")
        coder.encode(role.rawValue, forKey: "Type")
        coder.encode(permission.rawValue, forKey: "Permission")
        coder.encode(acceptanceStatus.rawValue, forKey: "AcceptanceStatus")
    }

    /// Reads it from an archive; nil for anything else.
    public convenience init?(coder: NSCoder) {
        guard let identity = coder.object(CKUserIdentity.self, "UserIdentity") else { return nil }
        self.init(
            identity,
            serverID: coder.object(NSString.self, "ParticipantID").map { String($0) },
            role: .init(rawValue: coder.decodeInteger(forKey: "Type")) ?? .unknown,
            permission: .init(rawValue: coder.decodeInteger(forKey: "Permission")) ?? .unknown,
            acceptanceStatus: .init(rawValue: coder.decodeInteger(forKey: "AcceptanceStatus"))
                ?? .unknown,
            oneTimeURL: coder.object(NSString.self, "OneTimeURL").flatMap {
                URL(string: String($0))
            })
    }
}
