import AssetStorage
import CloudModel
import Storage

/// Removes the bytes of assets that nothing refers to, in bounded steps.
///
/// What no record and no receipt has referred to for the grace period is forgotten by the store, then
/// removed. Files that no row stands for, as a crash or the loss of a store leaves them, go to the trash after
/// the same time, where there is one, and from there later. Blocks.
package struct CollectAssets: Sendable {
    /// Of one step.
    package static let filesPerStepMax = 100

    private let storage: any Store
    private let depot: AssetStore

    package init(_ storage: any Store, depot: AssetStore) {
        self.storage = storage
        self.depot = depot
    }

    /// Whether looking at many files costs little.
    package var isLocal: Bool { depot.storage.isLocal }

    /// Removes parts of uploads that nobody will finish.
    package func removeAbandoned(begunBefore moment: Milliseconds) throws {
        try depot.storage.removeAbandoned(begunBefore: moment)
    }

    /// Removes some of what has been unused since before a moment.
    ///
    /// - Returns: whether there may be more.
    package func removeUnused(since moment: Milliseconds) throws -> Bool {
        let found = try storage.read {
            try $0.unusedAssets(since: moment, limit: Self.filesPerStepMax)
        }
        let claimed = depot.claims.claim(found)
        guard !claimed.isEmpty else { return false }
        defer { depot.claims.unclaim(claimed) }
        let forgotten = try storage.writeAndWait(cost: Self.filesPerStepMax) {
            try $0.forgetUnusedAssets(claimed, since: moment)
        }
        for digest in forgotten { try depot.storage.delete(digest) }
        return found.count == Self.filesPerStepMax
    }

    /// Looks at the next files for some that no row stands for, and takes away those put there before a
    /// moment.
    ///
    /// - Returns: false when the last file has been looked at; the next call begins anew.
    package func removeStray(
        placedBefore moment: Milliseconds, now: Milliseconds
    ) throws -> Bool {
        let page = try depot.nextListings(Self.filesPerStepMax)
        let old = page.filter { $0.placed < moment }.map(\.digest)
        let claimed = depot.claims.claim(try unknown(old))
        defer { depot.claims.unclaim(claimed) }
        // Looked at again: what was claimed may have been noted just before.
        for digest in try unknown(claimed) {
            try depot.storage.trash?.put(digest, at: now)
            try depot.storage.delete(digest)
        }
        return page.count == Self.filesPerStepMax
    }

    /// Moves back from the trash what rows stand for again, and removes what was put there before a moment.
    ///
    /// While the disk has less room than must stay free, the oldest of the rest go too.
    ///
    /// - Returns: whether there may be more to remove.
    package func emptyTrash(putBefore moment: Milliseconds) throws -> Bool {
        guard let trash = depot.storage.trash else { return false }
        var removed = 0
        var rest = try trash.list()[...]
        while !rest.isEmpty {
            let page = rest.prefix(Self.filesPerStepMax)
            rest = rest.dropFirst(Self.filesPerStepMax)
            let unknown = Set(try unknown(page.map(\.digest)))
            for file in page where !unknown.contains(file.digest) {
                try trash.takeBack(file.digest)
            }
            for file in page where unknown.contains(file.digest) {
                guard try file.placed < moment || trash.isRoomWanted else { continue }
                try trash.remove(file.digest)
                removed += 1
            }
            if removed >= Self.filesPerStepMax { return true }
        }
        return false
    }

    private func unknown(_ digests: [AssetDigest]) throws -> [AssetDigest] {
        guard !digests.isEmpty else { return [] }
        return try storage.read { try $0.unknownAssets(among: digests) }
    }
}
