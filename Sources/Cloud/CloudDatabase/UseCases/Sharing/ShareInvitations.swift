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
        let found = try find(links, snapshot)
        let shown = try InvitedRecords(Array(zip(found, links)), database, visitor, snapshot)
        var writer = JSONWriter(reserving: links.count * 2_048)
        for (index, link) in links.enumerated() {
            if index > 0 { writer.raw(",") }
            try append(found[index], link, shown.items[index], to: &writer)
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
            for found in try find(links, snapshot) {
                _ = try found.joined(by: visitor, in: database)
            }
        }
        let invitations = self
        database.writeInParts(links) { part, transaction in
            try invitations.join(part, transaction)
            return part.map { _ in .success(()) }
        } completion: { outcomes in
            completion(outcomes.flatMap { all in Result { for one in all { try one.get() } } })
        }
    }

    /// Joins the shares that links lead to, each once.
    private func join(_ links: [Link], _ transaction: any StoreTransaction) throws {
        var joined: Set<ShareNumber> = []
        for (found, link) in zip(try find(links, transaction), links) {
            guard joined.insert(found.share.number).inserted else {
                // Another link has led there already.
                try LinkedShare.find(link.value, for: visitor, in: database, transaction)
                    .join(visitor, in: database, transaction)
                continue
            }
            try found.join(visitor, in: database, transaction)
        }
    }

    private func find(_ links: [Link], _ snapshot: any StoreSnapshot) throws -> [LinkedShare] {
        try LinkedShare.find(links.map(\.value), for: visitor, in: database, snapshot).map {
            guard let found = $0 else { throw LinkedShare.notFound }
            return found
        }
    }

    private func append(
        _ found: LinkedShare, _ link: Link, _ shown: InvitedRecords.Item,
        to writer: inout JSONWriter
    ) throws {
        writer.raw("{\"shortGUID\":")
        writer.raw(link.text)
        writer.member("containerIdentifier", details.container.name)
        writer.raw(",\"environment\":\"")
        writer.raw(ascii: database.environment.rawValue)
        writer.raw(
            found.isOwned(by: visitor.user)
                ? "\",\"databaseScope\":\"PRIVATE\"" : "\",\"databaseScope\":\"SHARED\"")
        writer.raw(",\"zoneID\":")
        writer.raw(found.zoneJSON)
        writer.raw(",\"rootRecordName\":")
        writer.string((shown.rootName ?? .zoneShare).text)
        if let root = shown.root {
            writer.raw(",\"rootRecord\":")
            writer.raw(root)
        }
        writer.raw(",\"share\":")
        writer.raw(shown.share)
        writer.raw(",\"ownerIdentity\":")
        try shown.rendering.appendOwnerIdentity(to: &writer)
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
}
