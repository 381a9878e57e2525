import AssetStorage
import CloudModel
import Storage

/// Removes the bytes of assets that nothing refers to, in bounded steps.
///
/// There are two kinds of such files. For the first, the store has a row, but no record and no receipt has
/// referred to the file for the grace period: the store forgets it, then its bytes are removed. For the
/// second, the store has no row; a crash or the loss of a store leaves such files. After the same time they
/// go to the trash, where there is one, and later they are removed from there. On its way it makes the sums
/// again that a crash has kept from the disk. Blocks.
package struct CollectAssets: Sendable {
    /// How many files one step handles.
    package static let filesPerStepMax = 100
    /// How many of them it reads to make their sums again.
    private static let mendedPerStepMax = 16

    private let storage: any Store
    private let assetStore: AssetStore

    package init(_ storage: any Store, assetStore: AssetStore) {
        self.storage = storage
        self.assetStore = assetStore
    }

    /// Whether looking at many files costs little.
    package var isLocal: Bool { assetStore.storage.isLocal }

    /// Removes the parts of uploads that nobody will finish.
    package func removeAbandoned(begunBefore moment: Milliseconds) throws {
        try assetStore.storage.removeAbandoned(begunBefore: moment)
    }

    /// Removes some of the files that nothing has used since a moment.
    ///
    /// - Returns: whether there may be more.
    package func removeUnused(since moment: Milliseconds) throws -> Bool {
        let found = try storage.read {
            try $0.assets(.unused(since: moment, limit: Self.filesPerStepMax))
        }
        let claimed = assetStore.claims.claim(found)
        guard !claimed.isEmpty else { return false }
        defer { assetStore.claims.unclaim(claimed) }
        let forgotten = try storage.writeAndWait(cost: Self.filesPerStepMax) {
            try $0.forgetUnusedAssets(claimed, since: moment)
        }
        for digest in forgotten { try assetStore.storage.delete(digest) }
        return found.count == Self.filesPerStepMax
    }

    /// Checks the next files for those without a row, and takes away those that were put there before a
    /// moment; the others get the sums that they lack.
    ///
    /// - Returns: false once the last file was checked; the next call begins again.
    package func removeStray(
        placedBefore moment: Milliseconds, now: Milliseconds
    ) throws -> Bool {
        let page = try assetStore.nextListings(Self.filesPerStepMax)
        let old = page.filter { $0.placed < moment }.map(\.digest)
        let claimed = assetStore.claims.claim(try unknown(old))
        defer { assetStore.claims.unclaim(claimed) }
        // Checked again, because a row for a claimed file may have been written just before.
        for digest in try unknown(claimed) {
            try assetStore.storage.trash?.put(digest, at: now)
            try assetStore.storage.delete(digest)
        }
        mendSums(of: page.map(\.digest).filter { !claimed.contains($0) })
        return page.count == Self.filesPerStepMax
    }

    private func mendSums(of digests: [AssetDigest]) {
        // So that nothing is left of a file that goes meanwhile.
        let claimed = assetStore.claims.claim(digests)
        defer { assetStore.claims.unclaim(claimed) }
        var rest = Self.mendedPerStepMax
        for digest in claimed where rest > 0 {
            do throws(AssetFailure) {
                if try assetStore.storage.mendSums(digest, comparing: false) { rest -= 1 }
            } catch {
                // NB: readers of the file learn what is wrong with it, and so does a check of everything.
                rest -= 1
            }
        }
    }

    /// Puts back files from the trash that have rows again, and removes those that were put there before a
    /// moment.
    ///
    /// While the disk has less room than must stay free, the oldest of the rest are removed too.
    ///
    /// - Returns: whether there may be more to remove.
    package func emptyTrash(putBefore moment: Milliseconds) throws -> Bool {
        guard let trash = assetStore.storage.trash else { return false }
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
        return try storage.read { try $0.assets(.unknown(among: digests)) }
    }
}
