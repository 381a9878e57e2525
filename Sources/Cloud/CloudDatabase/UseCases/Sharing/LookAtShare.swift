import CloudModel
import Storage

/// What a page shows a person about the share that a link leads to.
package struct ShareGlance: Sendable, Equatable {
    /// How the person who looks stands to the share.
    package enum Participation: Sendable, Equatable {
        case owner, joined, invited, left
        /// They may join, like everybody who has the link.
        case open
    }

    package let title: String?
    /// What kind of thing is shared, in the app's words: a uniform type identifier.
    package let type: String?
    package let thumbnail: [UInt8]?
    package let owner: Person?
    package let participation: Participation
    package let permission: SharePermission
    /// The last part of the link to pass on to apps.
    package let link: String
    /// The last part of a link for everybody.
    package let guid: ShortGUID
}

/// Follows a link for a page: it joins nothing and tells nobody (rulings.md 37 and 49).
package struct LookAtShare: Sendable {
    private let text: String
    private let database: Database
    private let visitor: LinkedShare.Visitor

    /// - Parameters:
    ///   - link: the last part of a share's address.
    ///   - addresses: those that are verified as the caller's own.
    ///   - database: the public one.
    package init(_ link: String, addresses: Set<String>, in database: Database) {
        text = link
        self.database = database
        visitor = LinkedShare.Visitor(
            user: database.caller.userRecordName, addresses: addresses)
    }

    /// What there is to see.
    ///
    /// Nil for a link that leads nowhere, and for a share that the caller may not see; it takes the same time
    /// for both.
    package func glance(_ snapshot: any StoreSnapshot) throws -> ShareGlance? {
        let found: LinkedShare
        do {
            found = try LinkedShare.find(text, for: visitor, in: database, snapshot)
        } catch let fault as Fault where fault.code == .notFound {
            return nil
        }
        let user = database.caller.userRecordName
        let fields = try SharedFields(of: found.share, snapshot)
        return ShareGlance(
            title: fields.title, type: fields.type, thumbnail: fields.thumbnail,
            owner: try database.identities.person(named: found.owner),
            participation: found.isOwned(by: user) ? .owner : found.entry.participation,
            permission: found.entry?.permission ?? found.share.publicPermission,
            link: found.link, guid: found.guid)
    }

    /// Where the share's record is for those who take part in it; nil for everybody else.
    package func record(_ snapshot: any StoreSnapshot) throws -> (zone: ZoneID, name: RecordName)? {
        let found: LinkedShare
        do {
            found = try LinkedShare.find(text, for: visitor, in: database, snapshot)
        } catch let fault as Fault where fault.code == .notFound {
            return nil
        }
        let isOwned = found.isOwned(by: visitor.user)
        guard isOwned || found.entry?.status == .accepted,
            let location = try snapshot.location(of: found.share.record)
        else { return nil }
        return (ZoneID(name: found.zone.name, owner: isOwned ? nil : found.owner), location.name)
    }

    /// Makes the caller a participant.
    ///
    /// - Returns: false when there is nothing that they may join.
    /// - Throws: `Fault` BAD_REQUEST for a share that is full; failures of the machinery.
    package func join() throws -> Bool {
        let look = self
        return try database.storage.writeAndWait(caller: StoreCaller(database.caller)) {
            transaction in
            do {
                try LinkedShare.find(look.text, for: look.visitor, in: look.database, transaction)
                    .join(look.visitor, in: look.database, transaction)
                return true
            } catch let fault as Fault where fault.code == .notFound {
                return false
            }
        }
    }
}

extension StoredParticipant? {
    fileprivate var participation: ShareGlance.Participation {
        switch self?.status {
        case .accepted: .joined
        case .invited: .invited
        case .removed: .left
        case nil: .open
        }
    }
}
