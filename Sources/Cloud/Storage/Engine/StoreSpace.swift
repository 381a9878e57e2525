import CloudModel

/// What a store takes on the disk.
package struct StoreSpace: Sendable, Equatable {
    /// Of all that the engine keeps of it, assets aside.
    package let bytes: Int64
    /// How much of that holds nothing, and can be given back.
    package let freeBytes: Int64

    package init(bytes: Int64, freeBytes: Int64) {
        self.bytes = bytes
        self.freeBytes = freeBytes
    }
}

/// How much is stored, as quotas count it: an asset for each record that holds it.
package struct StoredAmount: Sendable, Equatable {
    package var records: Int64
    /// Of records, assets aside.
    package var recordBytes: Int64
    package var assetBytes: Int64

    package init(records: Int64 = 0, recordBytes: Int64 = 0, assetBytes: Int64 = 0) {
        self.records = records
        self.recordBytes = recordBytes
        self.assetBytes = assetBytes
    }
}

/// What one user stores in a private database, or everybody in the public one.
package struct OwnerAmount: Sendable {
    package let owner: UserRecordName
    package let amount: StoredAmount

    package init(owner: UserRecordName, amount: StoredAmount) {
        self.owner = owner
        self.amount = amount
    }
}

/// What of a store has to be counted one by one.
package struct StoreCounts: Sendable, Equatable {
    /// Files, each once however many records hold it.
    package let assets: Int64
    /// Deleted records of which the feed still tells.
    package let tombstones: Int64
    /// Who has a zone.
    package let users: Int64

    package init(assets: Int64, tombstones: Int64, users: Int64) {
        self.assets = assets
        self.tombstones = tombstones
        self.users = users
    }
}

/// How much a store holds, what that takes, and who holds the most of it.
package struct StoreSize: Sendable {
    package let space: StoreSpace
    package let amount: StoredAmount
    /// The largest first.
    package let owners: [OwnerAmount]
    /// Nil where nobody wanted them.
    package let counts: StoreCounts?

    package init(
        space: StoreSpace, amount: StoredAmount, owners: [OwnerAmount], counts: StoreCounts?
    ) {
        self.space = space
        self.amount = amount
        self.owners = owners
        self.counts = counts
    }
}

/// Knows what a store takes, and gives back to the file system what it does not need.
package protocol SpaceKeeping: Sendable {
    /// Goes through a row for each zone.
    ///
    /// - Parameters:
    ///   - ownersMax: how many owners are named.
    ///   - isCounted: whether files and tombstones are counted, too, which goes through all of them.
    func size(owners ownersMax: Int, counts isCounted: Bool) throws -> StoreSize

    /// Gives back what holds nothing, in steps of some milliseconds between the writes of others.
    ///
    /// Whatever ends it, nothing is lost, and what was given back is.
    ///
    /// - Parameter goesOn: told before each step what the store takes; false ends it.
    /// - Throws: as a write.
    func giveBackSpace(while goesOn: (StoreSpace) -> Bool) throws
}

extension SpaceKeeping {
    /// Goes through a row for each zone, and counts nothing one by one.
    package func size(owners ownersMax: Int) throws -> StoreSize {
        try size(owners: ownersMax, counts: false)
    }
}
