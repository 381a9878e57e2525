import Foundation

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The name of the share of a whole zone.
public let CKRecordNameZoneWideShare = "cloudkit.zoneshare"

/// A record that shares others: a tree of records, or a whole zone.
///
/// A new share of a tree is saved in one batch with its root. Saving keeps the same object: its `url` is there
/// afterwards.
public final class CKShare: CKRecord, @unchecked Sendable {
    // Unchecked: as any record.

    /// Somebody in a share.
    public typealias Participant = CKShareParticipant
    /// What a link leads to.
    public typealias Metadata = CKShareMetadata

    /// Whether somebody has taken part.
    public enum ParticipantAcceptanceStatus: Int, Sendable {
        /// The server does not say.
        case unknown
        /// Invited, and not accepted yet.
        case pending
        /// Takes part.
        case accepted
        /// Takes part no longer.
        case removed
    }

    /// What somebody may do with the records of a share.
    public enum ParticipantPermission: Int, Sendable {
        /// The server does not say.
        case unknown
        /// Nothing.
        case none
        /// Read the records.
        case readOnly
        /// Read, change, add and delete the records.
        case readWrite
    }

    /// What somebody is in a share.
    public enum ParticipantRole: Int, Sendable {
        /// The server does not say.
        case unknown = 0
        /// Whose records they are.
        case owner = 1
        /// Invited by name, and may invite others.
        case administrator = 2
        /// Invited by name.
        case privateUser = 3
        /// Came by the link.
        case publicUser = 4
    }

    /// Keys of a share's own fields.
    public enum SystemFieldKey {
        /// What the share is called to those who are invited.
        public static let title: CKRecord.FieldKey = "cloudkit.title"
        /// A small picture.
        public static let thumbnailImageData: CKRecord.FieldKey = "cloudkit.thumbnailImageData"
        /// What kind of thing is shared, as the app names it.
        public static let shareType: CKRecord.FieldKey = "cloudkit.type"
    }

    /// What everybody with the link may do.
    ///
    /// Set to `.none`, those who came by the link lose the share; set to anything else, only those who have
    /// accepted stay in the list.
    public var publicPermission: ParticipantPermission {
        get { details.publicPermission }
        set {
            details.publicPermission = newValue
            details.isChanged = true
        }
    }

    /// The link to the share; nil until it is saved.
    public internal(set) var url: URL?

    /// All participants that the caller may see, the owner first.
    public var participants: [Participant] { details.participants }

    /// Whose zone it is.
    public var owner: Participant { details.owner }

    /// The caller's own entry.
    public var currentUserParticipant: Participant? { details.current }

    /// The root of the tree; nil for a whole zone and for a share that was fetched.
    let root: CKRecord?
    var details = ShareDetails()

    /// A share of a record and all that have it as their parent, near or far.
    public convenience init(rootRecord: CKRecord) {
        self.init(
            rootRecord: rootRecord,
            shareID: ID(
                recordName: "Share-\(UUID().uuidString)", zoneID: rootRecord.recordID.zoneID))
    }

    /// A share of a record under a name of the app's choice.
    public init(rootRecord: CKRecord, shareID: ID) {
        root = rootRecord
        super.init(recordType: SystemType.share, recordID: shareID)
        rootRecord.share = Reference(recordID: shareID, action: .none)
    }

    /// A share of a whole zone.
    public init(recordZoneID: CKRecordZone.ID) {
        root = nil
        super.init(
            recordType: SystemType.share,
            recordID: ID(recordName: CKRecordNameZoneWideShare, zoneID: recordZoneID))
    }

    /// A share as it was fetched.
    init(recordID: ID) {
        root = nil
        super.init(recordType: SystemType.share, recordID: recordID)
    }

    /// Invites somebody, or changes the entry of somebody who is in the share.
    public func addParticipant(_ participant: Participant) {
        details.isChanged = true
        if let index = details.participants.firstIndex(of: participant) {
            details.participants[index] = participant
        } else {
            details.participants.append(participant)
        }
    }

    /// Takes somebody out; the owner stays.
    public func removeParticipant(_ participant: Participant) {
        details.isChanged = true
        details.participants.removeAll { $0 == participant && $0.role != .owner }
    }

    override func becomeSaved(as saved: CKRecord) {
        super.becomeSaved(as: saved)
        guard let saved = saved as? CKShare else { return }
        let sent = details.participants
        details = saved.details
        details.takeOver(linksOf: sent)
        url = saved.url
    }

    /// The link for one entry alone, which works for the first person who accepts by it.
    ///
    /// - Parameter participantID: of an entry made by `Participant.oneTimeURLParticipant()`.
    /// - Returns: nil until the share is saved, after somebody has accepted, and for those who may not invite.
    public func oneTimeURL(for participantID: Participant.ID) -> URL? {
        details.participants.first { $0.isKnown(by: participantID) }?.oneTimeURL
    }

    public override func copy(with zone: NSZone? = nil) -> Any {
        let copy =
            root.map { CKShare(rootRecord: $0, shareID: recordID) }
            ?? CKShare(recordID: recordID)
        copy.adopt(version)
        copy.changed = changed
        copy.details = details
        copy.url = url
        return copy
    }

    public override func encodeSystemFields(with coder: NSCoder) {
        super.encodeSystemFields(with: coder)
        coder.encode(details.publicPermission.rawValue, forKey: "PublicPermission")
        coder.encode(details.participants as NSArray, forKey: "Participants")
        coder.encode(url.map { $0.absoluteString as NSString }, forKey: "ShareURL")
    }

    /// Reads it from an archive; nil for anything else.
    public required init?(coder: NSCoder) {
        root = nil
        super.init(coder: coder)
        details.publicPermission =
            ParticipantPermission(rawValue: coder.decodeInteger(forKey: "PublicPermission"))
            ?? .none
        url = coder.object(NSString.self, "ShareURL").flatMap { URL(string: String($0)) }
        guard coder.containsValue(forKey: "Participants") else { return }
        let stored = coder.decodeObject(
            of: [NSArray.self, CKShareParticipant.self], forKey: "Participants")
        details.participants = stored as? [CKShareParticipant] ?? []
    }
}

/// What a share has beside a record's fields.
struct ShareDetails {
    var publicPermission = CKShare.ParticipantPermission.none
    var participants: [CKShareParticipant] = []
    var current: CKShareParticipant?
    var requests = AccessRequests()
    /// Whether permission or participants were set since the share was fetched or saved.
    var isChanged = false

    /// Lets the entries of one-time links that were sent go on as those that were saved.
    ///
    /// They name nobody; links that allow the same are as good as each other.
    mutating func takeOver(linksOf sent: [CKShareParticipant]) {
        let known = Set(sent.compactMap(\.serverID))
        var made = participants.indices.filter { index in
            participants[index].oneTimeURL != nil
                && !known.contains(participants[index].participantID)
        }
        for entry in sent where entry.isOneTimeLink && entry.serverID == nil {
            let alike = made.firstIndex { participants[$0].permission == entry.permission }
            guard let place = alike else { continue }
            let index = made.remove(at: place)
            entry.becomeSaved(as: participants[index])
            participants[index] = entry
        }
    }

    var owner: CKShareParticipant {
        participants.first { $0.role == .owner }
            ?? CKShareParticipant(
                CKUserIdentity(
                    userRecordID: CKRecord.ID(recordName: CKCurrentUserDefaultName),
                    nameComponents: nil, lookupInfo: nil),
                role: .owner, permission: .readWrite, acceptanceStatus: .accepted)
    }
}
