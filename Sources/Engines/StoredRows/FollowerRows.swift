import CloudModel
import Storage

/// The rows of those who follow a store, by which an engine keeps `ChangeFollowing`.
package protocol FollowerRows: StoreTransaction {
    /// One row of `previous_version_needs` without its follower.
    typealias Need = (scope: Int64, number: Int64, type: Int64)

    /// Adds a follower, from the last position on.
    func insert(_ follower: FollowerName) throws -> Position

    /// Adds what a follower needs.
    ///
    /// - Returns: whether some of it is new.
    func insert(_ needs: [Need], of follower: FollowerName) throws -> Bool

    func removeNeeds(of follower: FollowerName) throws

    /// Has what is written next see who follows by now.
    func renewFollowing() throws

    /// The owner of that name, who is made where there is none yet.
    func madeOwner(_ name: UserRecordName) throws -> StoredOwner
}

extension FollowerRows {
    package func follow(
        as follower: FollowerName, wanting wanted: Set<PreviousVersionNeed>, alone: Bool
    ) throws -> Position {
        let known = try position(of: follower)
        let start = try known ?? insert(follower)
        if alone { try removeNeeds(of: follower) }
        let isWider = try !wanted.isEmpty && insert(wanted.map(need), of: follower)
        if known == nil || alone || isWider { try renewFollowing() }
        return start
    }

    private func need(_ wanted: PreviousVersionNeed) throws -> Need {
        let type = wanted.type ?? Following.allTypes
        return switch wanted.scope {
        case .owner(let owner): (Following.ownerScope, try madeOwner(owner).number.value, type)
        case .zone(let zone): (Following.zoneScope, zone.value, type)
        }
    }
}
