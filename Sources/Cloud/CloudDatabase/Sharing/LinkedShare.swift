import CloudModel
import Cryptography
import Storage

/// The share that a link leads to, as one person may see it (rulings.md 37 and 49).
///
/// Nobody can tell a link that leads nowhere from one to a share that they may not see.
struct LinkedShare {
    /// Who follows a link.
    struct Visitor {
        /// The user; nil for a person who is not signed in.
        let user: UserRecordName?
        /// The addresses that are verified as theirs.
        let addresses: Set<String>
    }

    let guid: ShortGUID
    /// The link to pass on; it keeps its secret as long as that is of use to the visitor.
    let link: String
    let share: StoredShare
    let zone: StoredZone
    let zoneJSON: [UInt8]
    let participants: ParticipantList
    let requests: AccessRequestList
    let owner: UserRecordName
    /// The visitor's entry, or the one that becomes theirs if they accept; nil when they join by the link.
    let entry: StoredParticipant?
    /// The entry of a one-time link, as long as nobody has used the link.
    let oneTime: StoredParticipant?

    static let notFound = Fault(.notFound, "shortGUIDs: no such share")

    /// Whether the visitor is the owner.
    func isOwned(by user: UserRecordName?) -> Bool { user == owner }

    /// Finds the share; takes the same steps whether there is one or not, so that the time tells nothing.
    ///
    /// - Parameter text: the last part of a share's address.
    /// - Throws: `Fault` NOT_FOUND.
    static func find(
        _ text: String, for visitor: Visitor, in database: Database,
        _ snapshot: any StoreSnapshot
    ) throws -> LinkedShare {
        let link = ShareLink(text)
        let record = try snapshot.record(ofShortGUID: link?.guid.text ?? "") ?? RecordNumber(0)
        let ofRoot = try snapshot.share(ofRoot: record)
        let ofRecord = try snapshot.share(ofRecord: record)
        let share = ofRoot ?? ofRecord
        let isOpen = share.map { $0.publicPermission != .none } ?? false
        // A person who is not signed in may not read who takes part in a closed share.
        let number = visitor.user != nil || isOpen ? share?.number : nil
        let participants = ParticipantList(
            try snapshot.participants(of: number ?? ShareNumber(0)))
        let requests = AccessRequestList(
            try snapshot.accessRequests(of: number ?? ShareNumber(0)))
        let zone = try snapshot.zone(share?.zone ?? ZoneNumber(0))
        let own = visitor.user.flatMap {
            participants.invitation(of: $0, addresses: visitor.addresses)
        }
        let linked = link.flatMap { link in
            link.secret.flatMap {
                database.shareAddresses?.participant(of: $0, link.guid, among: participants.all)
            }
        }
        // A person who is not signed in cannot use a one-time link.
        let oneTime = visitor.user == nil || linked?.isOneTimeLink != true ? nil : linked
        let isKeptOut = visitor.user.map(requests.isBlocked) ?? false
        guard let link, let share, let zone, !zone.isDeleted, let owner = participants.owner?.user
        else { throw notFound }
        let entry = own ?? oneTime
        guard (entry?.permission ?? share.publicPermission) != .none, !isKeptOut || own != nil
        else { throw notFound }
        let keepsSecret = oneTime != nil || linked != nil && linked?.id == own?.id
        return LinkedShare(
            guid: link.guid,
            link: keepsSecret ? "\(link.guid.text)~\(link.secret ?? "")" : link.guid.text,
            share: share, zone: zone, zoneJSON: ZoneJSON.identifier(zone.name, owner: owner),
            participants: participants, requests: requests, owner: owner, entry: entry,
            oneTime: own == nil ? oneTime : nil)
    }

    /// The participants once a user has joined; nil when nothing changes.
    ///
    /// - Throws: `Fault` NOT_FOUND when they may not join, BAD_REQUEST for a share that is full.
    func joined(by visitor: Visitor, in database: Database) throws -> ParticipantList? {
        guard let user = visitor.user, !isOwned(by: user) else { return nil }
        var joined = participants
        let own = try joined.accept(
            user, addresses: visitor.addresses, oneTime: oneTime,
            publicPermission: share.publicPermission,
            most: database.limits.participantsPerShareMax,
            makeID: { UniqueID.random(database.random) })
        guard own != nil else { throw Self.notFound }
        return joined == participants ? nil : joined
    }

    /// Makes a user a participant.
    ///
    /// - Throws: `Fault` NOT_FOUND when they may not join, BAD_REQUEST for a share that is full.
    func join(
        _ visitor: Visitor, in database: Database, _ transaction: any StoreTransaction
    ) throws {
        guard let user = visitor.user, let joined = try joined(by: visitor, in: database) else {
            return
        }
        guard let record = try transaction.location(of: share.record) else { throw Self.notFound }
        // The others see who has come, and the newcomer sees the share.
        _ = try RecordRewriter(transaction: transaction).rewrite(
            RecordKey(zone: record.zone, name: record.name), in: zone, zoneJSON)
        let shares = ShareWriter(transaction: transaction)
        try shares.write(joined, over: participants, of: share)
        var asking = requests
        asking.joined(user)
        try shares.write(asking, over: requests, of: share)
    }
}
