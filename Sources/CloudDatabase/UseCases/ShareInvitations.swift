import CloudModel
import Cryptography
import JSON
import Storage

/// Follows links to shares: `records/resolve` reads them, `records/accept` joins them
/// (web-services.md §4.11, rulings.md 37 to 39).
///
/// A link that leads nowhere, or to a share that the caller may not see, ends the whole request, and
/// nobody can tell which of the two it was.
package struct ShareInvitations: Sendable {
    /// One link as the request names it.
    package struct Link: Sendable {
        package let shortGUID: String
        /// The object as sent, which the answer repeats.
        package let text: [UInt8]
        /// How to show the root; nil to leave it out.
        package let root: RecordRendering?

        package init(shortGUID: String, text: [UInt8], root: RecordRendering?) {
            self.shortGUID = shortGUID
            self.text = text
            self.root = root
        }
    }

    /// What every result says of the container.
    package struct Place: Sendable {
        package let container: ContainerID
        /// Where a browser goes that has no app for the share; the short identifier is appended.
        package let fallbackURL: String?

        package init(container: ContainerID, fallbackURL: String?) {
            self.container = container
            self.fallbackURL = fallbackURL
        }
    }

    private let database: Database
    private let links: [Link]
    private let place: Place
    private let user: UserRecordName
    /// Verified as the caller's own.
    private let addresses: Set<String>

    /// - Throws: `Fault` BAD_REQUEST outside the public database or for too many links,
    ///   AUTHENTICATION_FAILED for a caller who is no user; what the identities report.
    package init(_ links: [Link], in database: Database, at place: Place) throws {
        try database.refuse(unless: database.scope == .public)
        guard database.caller.kind == .user, let user = database.caller.userRecordName else {
            throw Fault(.authenticationFailed, "Authentication failed")
        }
        self.database = database
        self.links = links
        self.place = place
        self.user = user
        addresses = try database.identities.person(named: user)?.addresses ?? []
    }

    /// The results, joined by commas, for information only.
    ///
    /// - Throws: `Fault` NOT_FOUND.
    package func resolve(_ snapshot: any StoreSnapshot) throws -> [UInt8] {
        var writer = JSONWriter(reserving: links.count * 2_048)
        for (index, link) in links.enumerated() {
            if index > 0 { writer.raw(",") }
            let found = try find(link, snapshot)
            try append(found, link, snapshot, to: &writer)
        }
        return writer.bytes
    }

    /// Makes the caller a participant of every share, or of none.
    ///
    /// What the links lead to is then for `resolve` to tell, on a snapshot.
    ///
    /// - Parameter completion: gets `Fault` NOT_FOUND, or BAD_REQUEST for a share that is full; failures
    ///   of the machinery. Success means on disk.
    package func accept(completion: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        let invitations = self
        database.storage.write(
            WriteLoad(cost: links.count, caller: WriteCaller(database.caller)),
            { transaction in
                if let author = invitations.database.author { transaction.act(as: author) }
                for link in invitations.links { try invitations.join(link, transaction) }
            }, completion: completion)
    }

    private func join(_ link: Link, _ transaction: any StoreTransaction) throws {
        let found = try find(link, transaction)
        guard !found.isOwner else { return }
        var participants = found.participants
        let joined = try participants.accept(
            user, addresses: addresses, publicPermission: found.share.publicPermission,
            most: database.limits.participantsPerShareMax,
            makeID: { UniqueID.random(database.random) })
        guard joined != nil else { throw Self.notFound }
        guard participants != found.participants else { return }
        guard let record = try transaction.place(of: found.share.record) else {
            throw Self.notFound
        }
        // The others see who has come, and whoever has come sees the share.
        _ = try RecordRewriter(transaction: transaction).rewrite(
            RecordKey(zone: record.zone, name: record.name), in: found.zone, found.zoneJSON)
        try ShareWriter(transaction: transaction).write(
            participants, over: found.participants, of: found.share)
    }

    // MARK: - Finding

    private struct Found {
        let share: StoredShare
        let zone: StoredZone
        let zoneJSON: [UInt8]
        let participants: ParticipantList
        let isOwner: Bool
        /// The caller's entry; nil when they are not invited and join by the link.
        let own: StoredParticipant?
    }

    private static let notFound = Fault(.notFound, "shortGUIDs: no such share")

    /// Takes the same steps whether there is a share or not, so that time tells nothing.
    private func find(_ link: Link, _ snapshot: any StoreSnapshot) throws -> Found {
        let value = ShortGUID(link.shortGUID)?.text ?? ""
        let record = try snapshot.record(ofShortGUID: value) ?? RecordNumber(0)
        let ofRoot = try snapshot.share(ofRoot: record)
        let ofRecord = try snapshot.share(ofRecord: record)
        let share = ofRoot ?? ofRecord
        let participants = ParticipantList(
            try snapshot.participants(of: share?.number ?? ShareNumber(0)))
        let zone = try snapshot.zone(share?.zone ?? ZoneNumber(0))
        let own = participants.invitation(of: user, addresses: addresses)
        guard let share, let zone, !zone.isDeleted, let owner = participants.owner?.user else {
            throw Self.notFound
        }
        let permission = own?.permission ?? share.publicPermission
        guard permission != .none else { throw Self.notFound }
        return Found(
            share: share, zone: zone, zoneJSON: ZoneJSON.identifier(zone.name, owner: owner),
            participants: participants, isOwner: owner == user, own: own)
    }

    // MARK: - Results

    private func append(
        _ found: Found, _ link: Link, _ snapshot: any StoreSnapshot, to writer: inout JSONWriter
    ) throws {
        let seen = database.seen(in: found.isOwner ? .private : .shared)
        writer.raw("{\"shortGUID\":")
        writer.raw(link.text)
        writer.raw(",\"containerIdentifier\":")
        writer.string(place.container.name)
        writer.raw(",\"environment\":\"")
        writer.raw(ascii: database.environment.rawValue)
        writer.raw(
            found.isOwner ? "\",\"databaseScope\":\"PRIVATE\"" : "\",\"databaseScope\":\"SHARED\"")
        writer.raw(",\"zoneID\":")
        writer.raw(found.zoneJSON)
        try appendRoot(found, link, seen, snapshot, to: &writer)
        let rendering = ShareRendering(
            found.share, found.participants, for: found.own, identities: database.identities)
        writer.raw(",\"share\":")
        let share = try snapshot.place(of: found.share.record).flatMap {
            try snapshot.version(at: $0.position, in: $0.zone) { try rendering.record($0.body) }
        }
        writer.raw(share ?? Array("{}".utf8))
        writer.raw(",\"ownerIdentity\":")
        try rendering.appendOwnerIdentity(to: &writer)
        writer.raw(",\"participantType\":\"")
        writer.raw((found.own?.role ?? .publicUser).word)
        writer.raw("\",\"participantStatus\":\"")
        writer.raw((found.own?.status ?? .invited).word)
        writer.raw("\",\"participantPermission\":\"")
        writer.raw((found.own?.permission ?? found.share.publicPermission).word)
        writer.raw("\",\"potentialMatchList\":[]")
        if let fallback = place.fallbackURL {
            writer.raw(",\"webpageURL\":")
            writer.string(fallback + link.shortGUID)
        }
        writer.raw("}")
    }

    private func appendRoot(
        _ found: Found, _ link: Link, _ seen: Database, _ snapshot: any StoreSnapshot,
        to writer: inout JSONWriter
    ) throws {
        writer.raw(",\"rootRecordName\":")
        guard let number = found.share.root, let root = try snapshot.place(of: number) else {
            return writer.string(RecordName.zoneShare.text)
        }
        writer.string(root.name.text)
        guard let rendering = link.root else { return }
        _ = try snapshot.version(at: root.position, in: root.zone) { version in
            writer.raw(",\"rootRecord\":")
            try seen.append(
                version.record, version.flags, version.body, as: rendering, from: snapshot,
                to: &writer)
        }
    }
}
