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

    /// Finds the share that one link leads to.
    ///
    /// - Throws: `Fault` NOT_FOUND.
    static func find(
        _ text: String, for visitor: Visitor, in database: Database,
        _ snapshot: any StoreSnapshot
    ) throws -> LinkedShare {
        guard let found = try find([text], for: visitor, in: database, snapshot).first ?? nil
        else { throw notFound }
        return found
    }

    /// Finds shares, in the links' order; takes the same steps whether there is one or not, so that the time tells
    /// nothing.
    ///
    /// - Parameter texts: the last parts of shares' addresses.
    /// - Returns: nil for a link that leads to nothing that the visitor may see.
    static func find(
        _ texts: [String], for visitor: Visitor, in database: Database,
        _ snapshot: any StoreSnapshot
    ) throws -> [LinkedShare?] {
        let links = texts.map { ShareLink($0) }
        let shares = try snapshot.shares(behind: links)
        // A person who is not signed in may not read who takes part in a closed share.
        let numbers = shares.map { share in
            let isOpen = share.map { $0.publicPermission != .none } ?? false
            return (visitor.user != nil || isOpen ? share?.number : nil) ?? ShareNumber(0)
        }
        let participants = try snapshot.participants(of: numbers)
        let requests = try snapshot.accessRequests(numbers.map { .share($0) })
        let zones = try snapshot.zones(shares.map { .number($0?.zone ?? ZoneNumber(0)) })
        return links.indices.map { index in
            linked(
                links[index], shares[index], zones[index], ParticipantList(participants[index]),
                AccessRequestList(requests[index]), for: visitor, in: database)
        }
    }

    private static func linked(
        _ link: ShareLink?, _ share: StoredShare?, _ zone: StoredZone?,
        _ participants: ParticipantList, _ requests: AccessRequestList, for visitor: Visitor,
        in database: Database
    ) -> LinkedShare? {
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
        else { return nil }
        let entry = own ?? oneTime
        guard (entry?.permission ?? share.publicPermission) != .none, !isKeptOut || own != nil
        else { return nil }
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

extension StoreSnapshot {
    /// The standing shares that links lead to, in the links' order, without a look at who may see them.
    func shares(behind links: [ShareLink?]) throws -> [StoredShare?] {
        let records = try shortGUIDs(links.map { .value($0?.guid.text ?? "") }).map {
            $0?.record ?? RecordNumber(0)
        }
        return try shares(.rootsOrRecords(records))
    }
}
