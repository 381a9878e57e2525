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

/// One index as it stands.
///
/// An engine makes it when a query first needs it.
package struct IndexSize: Sendable, Equatable {
    package enum State: String, Sendable {
        case filling, whole, leaving
    }

    package enum Kind: String, Sendable {
        /// Values as they are compared and sorted.
        case values
        /// Text without regard to case.
        case text
        case words
        case locations
    }

    package let type: String
    package let field: String
    package let kind: Kind
    package let state: State
    /// How much of the records it holds, in hundredths.
    package let percent: Int
    /// How many entries it has, at most `entriesMax`; nil for words and locations, which nothing counts.
    package let entries: Int64?

    package static let entriesMax: Int64 = 100_000

    package init(
        type: String, field: String, kind: Kind, state: State, percent: Int, entries: Int64?
    ) {
        self.type = type
        self.field = field
        self.kind = kind
        self.state = state
        self.percent = percent
        self.entries = entries
    }
}

/// What is to be counted one by one, which takes its time.
package struct StoreCounting: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// Files, tombstones and users.
    package static let contents = StoreCounting(rawValue: 1)
    /// The entries of each index.
    package static let indexes = StoreCounting(rawValue: 2)
}

/// How much a store holds, what that takes, and who holds the most of it.
package struct StoreSize: Sendable {
    package let space: StoreSpace
    package let amount: StoredAmount
    /// The largest first.
    package let owners: [OwnerAmount]
    /// Nil where nobody wanted them.
    package let counts: StoreCounts?
    /// In no particular order; empty where nobody wanted them.
    package let indexes: [IndexSize]

    package init(
        space: StoreSpace, amount: StoredAmount, owners: [OwnerAmount], counts: StoreCounts?,
        indexes: [IndexSize] = []
    ) {
        self.space = space
        self.amount = amount
        self.owners = owners
        self.counts = counts
        self.indexes = indexes
    }
}

/// Knows what a store takes, and gives back to the file system what it does not need.
package protocol SpaceKeeping: Sendable {
    /// Looks at each zone.
    ///
    /// - Parameters:
    ///   - ownersMax: how many owners are named.
    ///   - counting: what is counted, too, by going through all of it.
    func size(owners ownersMax: Int, counting: StoreCounting) throws -> StoreSize

    /// Gives back what holds nothing, in steps of some milliseconds between the writes of others.
    ///
    /// Whatever ends it, nothing is lost, and what was given back is.
    ///
    /// - Parameter goesOn: told before each step what the store takes; false ends it.
    /// - Throws: as a write.
    func giveBackSpace(while goesOn: (StoreSpace) -> Bool) throws
}

extension SpaceKeeping {
    /// Looks at each zone, and counts nothing one by one.
    package func size(owners ownersMax: Int) throws -> StoreSize {
        try size(owners: ownersMax, counting: [])
    }
}
