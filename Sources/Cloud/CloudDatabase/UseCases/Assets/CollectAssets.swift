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
        let outcome = try remove(found, unusedSince: moment) { try assetStore.storage.delete($0) }
        return found.count == Self.filesPerStepMax && !outcome.gone.isEmpty
    }

    private func remove(
        _ digests: [AssetDigest], unusedSince moment: Milliseconds,
        _ delete: (AssetDigest) throws -> Void
    ) throws -> RemoveFiles.Outcome {
        try RemoveFiles(storage: storage, assetStore: assetStore)
            .run(digests, unusedSince: moment, delete)
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
        let unknown = try unknown(old)
        // Looked at again in its transaction: a row may have been written just before.
        _ = try remove(unknown, unusedSince: .min) { digest in
            try assetStore.storage.trash?.put(digest, at: now)
            try assetStore.storage.delete(digest)
        }
        let strays = Set(unknown)
        mendSums(of: page.map(\.digest).filter { !strays.contains($0) })
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
            let strays = page.filter { unknown.contains($0.digest) }
            let old = strays.filter { $0.placed < moment }.map(\.digest)
            removed += try remove(old, unusedSince: .min) { try trash.remove($0) }.gone.count
            for file in strays where file.placed >= moment {
                guard try trash.isRoomWanted else { break }
                removed += try remove([file.digest], unusedSince: .min) {
                    try trash.remove($0)
                }.gone.count
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
