import CloudModel
import Storage

/// A share as its owner and participants know it, in their list.
package struct ShareEntry: Sendable, Equatable {
    package let title: String?
    package let owner: Person?
    package let isOwn: Bool
    /// How many take part or are invited beside the owner.
    package let others: Int
    package let isOpen: Bool
    package let guid: ShortGUID
}

/// Lists the shares that a user owns, and those that they have joined.
///
/// - Limits: at most `countMax` of both together; which ones is not said.
package struct ListShares: Sendable {
    package static let countMax = 200

    private let user: UserRecordName
    private let database: Database

    /// - Parameter database: the public one, as the user.
    package init(of user: UserRecordName, in database: Database) {
        self.user = user
        self.database = database
    }

    /// The shares, the user's own first.
    ///
    /// - Throws: what the snapshot and the identities report.
    package func run(_ snapshot: any StoreSnapshot) throws -> [ShareEntry] {
        var found: [ShareEntry] = []
        if let owner = try snapshot.owner(named: user) {
            for zone in try snapshot.zones(of: owner.number) where found.count < Self.countMax {
                let shares = try snapshot.shares(
                    in: zone.number, limit: Self.countMax - found.count)
                for share in shares { found += try entry(share, isOwn: true, snapshot) }
            }
        }
        for (number, participant) in try snapshot.participations(of: user)
        where participant.status == .accepted && participant.role != .owner {
            guard found.count < Self.countMax else { break }
            guard let share = try snapshot.share(number), share.ended == nil else { continue }
            found += try entry(share, isOwn: false, snapshot)
        }
        return found
    }

    /// Nothing for a share without a link, or without an owner.
    private func entry(
        _ share: StoredShare, isOwn: Bool, _ snapshot: any StoreSnapshot
    ) throws -> [ShareEntry] {
        let participants = ParticipantList(try snapshot.participants(of: share.number))
        guard let owner = participants.owner?.user,
            let text = try snapshot.shortGUID(of: share.root ?? share.record),
            let guid = ShortGUID(text)
        else { return [] }
        return [
            ShareEntry(
                title: try SharedFields(of: share, snapshot).title,
                owner: try database.identities.person(named: owner), isOwn: isOwn,
                others: participants.all.count { $0.role != .owner && $0.status != .removed },
                isOpen: share.publicPermission != .none, guid: guid)
        ]
    }
}
