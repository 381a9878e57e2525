import CloudModel
import JSON
import Storage

/// Follows links to shares: `records/resolve` reads them, `records/accept` joins them
/// (web-services.md §4.11, rulings.md 37 to 39).
///
/// A link that leads nowhere fails the whole request. So does a link to a share that the caller may not see.
/// Nobody can tell the two apart.
package struct ShareInvitations: Sendable {
    /// One link as the request names it.
    package struct Link: Sendable {
        /// `<shortGUID>`, or `<shortGUID>~<secret>` of a one-time link.
        package let value: String
        /// The object as sent, which the answer repeats.
        package let text: [UInt8]
        /// How to show the root; nil to leave it out.
        package let root: RecordRendering?

        package init(value: String, text: [UInt8], root: RecordRendering?) {
            self.value = value
            self.text = text
            self.root = root
        }
    }

    /// What every result says about the container.
    package struct ContainerDetails: Sendable {
        package let container: ContainerID
        /// Where a browser goes when it has no app for the share; the short identifier is appended.
        package let fallbackURL: String?

        package init(container: ContainerID, fallbackURL: String?) {
            self.container = container
            self.fallbackURL = fallbackURL
        }
    }

    private let database: Database
    private let links: [Link]
    private let details: ContainerDetails
    private let visitor: LinkedShare.Visitor

    /// - Throws: `Fault` BAD_REQUEST outside the public database or for too many links,
    ///   AUTHENTICATION_FAILED for a caller who is no user; what the identities report.
    package init(_ links: [Link], in database: Database, at details: ContainerDetails) throws {
        try database.refuse(unless: database.scope == .public)
        guard database.caller.kind == .user, let user = database.caller.userRecordName else {
            throw Fault(.authenticationFailed, "Authentication failed")
        }
        self.database = database
        self.links = links
        self.details = details
        visitor = LinkedShare.Visitor(
            user: user,
            addresses: try database.identities.person(named: user)?.addresses ?? [])
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

    /// Makes the caller a participant of every share, some at a time.
    ///
    /// A link that the caller may not follow, or a share that is full, fails the request before anything is written. Where
    /// that comes about in the middle, or the store takes no more, the shares before it are joined; the same request
    /// again joins the rest. Afterwards `resolve` tells, on a snapshot, what the links lead to.
    ///
    /// Blocks while it reads: never call it on an event loop.
    ///
    /// - Parameter completion: gets `Fault` NOT_FOUND, or BAD_REQUEST for a share that has just become full;
    ///   TRY_AGAIN_LATER when the store took only some; failures of the machinery. Success means on disk.
    /// - Throws: `Fault` NOT_FOUND, or BAD_REQUEST for a share that is full.
    package func accept(
        completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) throws {
        try database.storage.read { snapshot in
            for link in links {
                _ = try find(link, snapshot).joined(by: visitor, in: database)
            }
        }
        let invitations = self
        database.writeInParts(links) { part, transaction in
            try part.map { .success(try invitations.join($0, transaction)) }
        } completion: { outcomes in
            completion(outcomes.flatMap { all in Result { for one in all { try one.get() } } })
        }
    }

    private func join(_ link: Link, _ transaction: any StoreTransaction) throws {
        try find(link, transaction).join(visitor, in: database, transaction)
    }

    private func find(_ link: Link, _ snapshot: any StoreSnapshot) throws -> LinkedShare {
        try LinkedShare.find(link.value, for: visitor, in: database, snapshot)
    }

    // MARK: - Results

    private func append(
        _ found: LinkedShare, _ link: Link, _ snapshot: any StoreSnapshot,
        to writer: inout JSONWriter
    ) throws {
        let isOwner = found.isOwned(by: visitor.user)
        let seen = database.seen(in: isOwner ? .private : .shared)
        writer.raw("{\"shortGUID\":")
        writer.raw(link.text)
        writer.member("containerIdentifier", details.container.name)
        writer.raw(",\"environment\":\"")
        writer.raw(ascii: database.environment.rawValue)
        writer.raw(
            isOwner ? "\",\"databaseScope\":\"PRIVATE\"" : "\",\"databaseScope\":\"SHARED\"")
        writer.raw(",\"zoneID\":")
        writer.raw(found.zoneJSON)
        try appendRoot(found, link, seen, snapshot, to: &writer)
        let shares = ShownShares(snapshot)
        guard let stored = try shares.entry(of: found.share.record) else {
            throw LinkedShare.notFound
        }
        let rendering = try database.rendering(stored, for: found.entry, with: shares)
        writer.raw(",\"share\":")
        let share = try snapshot.location(of: found.share.record).flatMap {
            try snapshot.version(at: $0.position, in: $0.zone) { try rendering.record($0.body) }
        }
        writer.raw(share ?? Array("{}".utf8))
        writer.raw(",\"ownerIdentity\":")
        try rendering.appendOwnerIdentity(to: &writer)
        writer.raw(",\"participantType\":\"")
        writer.raw((found.entry?.role ?? .publicUser).word)
        writer.raw("\",\"participantStatus\":\"")
        writer.raw((found.entry?.status ?? .invited).word)
        writer.raw("\",\"participantPermission\":\"")
        writer.raw((found.entry?.permission ?? found.share.publicPermission).word)
        writer.raw("\",\"potentialMatchList\":[]")
        if let fallback = details.fallbackURL {
            writer.member("webpageURL", fallback + found.link)
        }
        writer.raw("}")
    }

    private func appendRoot(
        _ found: LinkedShare, _ link: Link, _ seen: Database, _ snapshot: any StoreSnapshot,
        to writer: inout JSONWriter
    ) throws {
        writer.raw(",\"rootRecordName\":")
        guard let number = found.share.root, let root = try snapshot.location(of: number) else {
            return writer.string(RecordName.zoneShare.text)
        }
        writer.string(root.name.text)
        guard let rendering = link.root else { return }
        _ = try snapshot.version(at: root.position, in: root.zone) { version in
            writer.raw(",\"rootRecord\":")
            try seen.append(version, as: rendering, with: ShownShares(snapshot), to: &writer)
        }
    }
}
