import CloudModel
import Cryptography
import JSON
import Storage

/// What a page tells a person of the share that a link leads to.
package struct ShareGlance: Sendable, Equatable {
    /// What the share is to who looks.
    package enum Standing: Sendable, Equatable {
        case owner, joined, invited, left
        /// They may join, as everybody with the link may.
        case open
    }

    package let title: String?
    /// What kind of thing it is, as the app calls it: a uniform type identifier.
    package let type: String?
    package let thumbnail: [UInt8]?
    package let owner: Person?
    package let standing: Standing
    package let permission: SharePermission
    /// What the link to it says that is to be handed on to apps.
    package let link: String
    /// What a link for everybody says.
    package let guid: ShortGUID
}

/// Follows a link for a page: claims nothing, tells nobody (rulings.md 37 and 49).
package struct LookAtShare: Sendable {
    private let text: String
    private let database: Database
    private let visitor: LinkedShare.Visitor

    /// - Parameters:
    ///   - link: the last part of a share's address.
    ///   - addresses: verified as the caller's own.
    ///   - database: the public one.
    package init(_ link: String, addresses: Set<String>, in database: Database) {
        text = link
        self.database = database
        visitor = LinkedShare.Visitor(
            user: database.caller.userRecordName, addresses: addresses)
    }

    /// What there is to see; nil for nothing, and for what the caller may not see: in the same time.
    package func glance(_ snapshot: any StoreSnapshot) throws -> ShareGlance? {
        let found: LinkedShare
        do {
            found = try LinkedShare.find(text, for: visitor, in: database, snapshot)
        } catch let fault as Fault where fault.code == .notFound {
            return nil
        }
        let user = database.caller.userRecordName
        let fields = try fields(of: found.share, snapshot)
        return ShareGlance(
            title: fields.title, type: fields.type, thumbnail: fields.thumbnail,
            owner: try database.identities.person(named: found.owner),
            standing: found.isOwned(by: user) ? .owner : found.entry.standing,
            permission: found.entry?.permission ?? found.share.publicPermission,
            link: found.link, guid: found.guid)
    }

    /// Makes the caller a participant.
    ///
    /// - Returns: false when there is nothing that they may join.
    /// - Throws: `Fault` BAD_REQUEST for a share that is full; failures of the machinery.
    package func join() throws -> Bool {
        let look = self
        return try database.storage.writeAndWait(caller: WriteCaller(database.caller)) {
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

    private struct Fields {
        var title: String?
        var type: String?
        var thumbnail: [UInt8]?
    }

    private func fields(of share: StoredShare, _ snapshot: any StoreSnapshot) throws -> Fields {
        guard let place = try snapshot.place(of: share.record) else { return Fields() }
        let found = try snapshot.version(at: place.position, in: place.zone) { version in
            let fields = try JSONDocument(parsing: [UInt8](version.body)).root["fields"]
            var found = Fields()
            found.title = fields?["cloudkit.title"]?["value"]?.string
            found.type = fields?["cloudkit.type"]?["value"]?.string
            found.thumbnail = fields?["cloudkit.thumbnailImageData"]?["value"]?.string.flatMap {
                Base64.decode($0)
            }
            return found
        }
        return found ?? Fields()
    }
}

extension StoredParticipant? {
    fileprivate var standing: ShareGlance.Standing {
        switch self?.status {
        case .accepted: .joined
        case .invited: .invited
        case .removed: .left
        case nil: .open
        }
    }
}
