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

extension StoreSnapshot {
    /// The standing shares of a user's own zones.
    func ownShares(of user: UserRecordName, limit: Int) throws -> [StoredShare] {
        guard let owner = try owner(named: user) else { return [] }
        return try shares(in: zones(of: owner.number).map(\.number), limit: limit)
    }

    /// The standing shares that a user has joined.
    func joinedShares(of user: UserRecordName, limit: Int) throws -> [StoredShare] {
        let joined = try participations(of: user).lazy.filter {
            $1.status == .accepted && $1.role != .owner
        }
        return try shares(.numbers(joined.prefix(max(limit, 0)).map(\.0)))
            .compactMap { $0?.ended == nil ? $0 : nil }
    }
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
        let own = try snapshot.ownShares(of: user, limit: Self.countMax)
        let all = try own + snapshot.joinedShares(of: user, limit: Self.countMax - own.count)
        let fields = try SharedFields.all(of: all, snapshot)
        let stored = ShownShares(snapshot) { all.map(\.record) }
        return try all.enumerated().compactMap { index, share in
            guard let entry = try stored.entry(of: share.record),
                let owner = entry.participants.owner?.user, let guid = entry.shortGUID
            else { return nil }
            return ShareEntry(
                title: fields[share.record]?.title,
                owner: try database.identities.person(named: owner), isOwn: index < own.count,
                others: entry.participants.all.count { $0.role != .owner && $0.status != .removed },
                isOpen: share.publicPermission != .none, guid: guid)
        }
    }
}
