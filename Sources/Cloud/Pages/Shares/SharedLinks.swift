import Accounts
import CloudModel
import Storage

/// What a page shows of the share that a link leads to.
package struct SharedThing: Sendable, Equatable {
    /// How the visitor takes part in the share.
    package enum Participation: Sendable, Equatable {
        case owner, joined, invited, left
        /// They may join, as everybody with the link may.
        case open
    }

    package var title: String?
    /// What kind of thing it is, as the app calls it.
    package var type: String?
    /// A picture as the owner gave it; the bytes may be anything.
    package var thumbnail: [UInt8]?
    /// The owner's name; empty for an owner without one.
    package var owner: String
    package var participation: Participation
    package var mayWrite: Bool
    package var app: AppLabel
    /// The app's page, for people who have joined; nil where the app has none.
    package var destination: String?
    /// The link for everybody who may see it.
    package var link: String

    /// Whether the visitor is the owner or has joined.
    var takesPart: Bool { participation == .owner || participation == .joined }

    package init(
        title: String? = nil, type: String? = nil, thumbnail: [UInt8]? = nil, owner: String,
        participation: Participation, mayWrite: Bool, app: AppLabel, destination: String? = nil,
        link: String
    ) {
        self.title = title
        self.type = type
        self.thumbnail = thumbnail
        self.owner = owner
        self.participation = participation
        self.mayWrite = mayWrite
        self.app = app
        self.destination = destination
        self.link = link
    }
}

/// What share pages know of links, and what people do by them.
///
/// Blocks: never on an event loop. Each throws what the stores report, and `Fault` for what has to wait.
package protocol SharedLinks: Sendable {
    /// What a link leads to; nil for nothing, and for what the visitor may not see, in the same time.
    ///
    /// Does not use up the link, and tells nobody of the visit.
    ///
    /// - Parameters:
    ///   - link: the last part of the address.
    ///   - visitor: nil for somebody who is not signed in.
    func look(at link: String, as visitor: AccountRecord?) throws -> SharedThing?

    /// Lets a visitor take part.
    ///
    /// - Returns: false where there is nothing for them to join.
    /// - Throws: `Fault` BAD_REQUEST for what is full.
    func join(_ link: String, as visitor: AccountRecord) throws -> Bool

    /// Asks the owner to let a visitor take part; done alike whether there is anything or not.
    ///
    /// - Throws: `Fault` THROTTLED for too many in a day.
    func ask(for link: String, as visitor: AccountRecord) throws

    /// The share as those who take part in it get it by `records/lookup`, as the answer's JSON.
    ///
    /// - Parameter change: carried out before, where there is one: an operation of `records/modify` on the share, in
    ///   JSON. What speaks against it is answered in the share's place.
    /// - Returns: nil for everybody else.
    func sheet(of link: String, as visitor: AccountRecord, change: String?) throws -> [UInt8]?

    /// What the apps keep of somebody, by app.
    func usage(of account: AccountRecord) throws -> [AppUsage]

    /// What somebody shares, and what others share with them and they have joined, by app.
    func shares(of account: AccountRecord) throws -> [KnownShare]
}

/// A share in which somebody has a part.
package struct KnownShare: Sendable, Equatable {
    package let title: String?
    /// Whose it is; empty for somebody without a name, and for one's own.
    package let owner: String
    package let isOwn: Bool
    /// How many others take part or are invited; only of one's own.
    package let others: Int
    /// Whether everybody with the link may join.
    package let isOpen: Bool
    package let app: AppLabel
    /// The last part of the address of its page.
    package let link: String

    package init(
        title: String?, owner: String, isOwn: Bool, others: Int, isOpen: Bool, app: AppLabel,
        link: String
    ) {
        self.title = title
        self.owner = owner
        self.isOwn = isOwn
        self.others = others
        self.isOpen = isOpen
        self.app = app
        self.link = link
    }
}

/// What one app keeps of somebody.
package struct AppUsage: Sendable, Equatable {
    package let app: AppLabel
    package let environment: Environment
    package let bytes: Int64
    package let records: Int

    package init(app: AppLabel, environment: Environment, bytes: Int64, records: Int) {
        self.app = app
        self.environment = environment
        self.bytes = bytes
        self.records = records
    }
}
