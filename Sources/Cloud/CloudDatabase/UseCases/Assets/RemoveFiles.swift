import AssetStorage
import CloudModel
import Storage

/// Removes the bytes of files that a store does not know, once it has forgotten those of them that nothing uses.
///
/// An equal file that is put in place meanwhile waits where it is the same process (`AssetClaims`). In another process
/// the store refuses the note of it (`AssetRemoval`), so no file goes that was acknowledged. The right to remove ends by
/// itself, and what is left by then stays: a process that was stopped removes nothing when it wakes up. Blocks.
struct RemoveFiles {
    /// What has become of some files.
    struct Outcome {
        var gone: [AssetDigest] = []
        /// Not looked at, or not come to in time: to be tried again.
        var left: [AssetDigest] = []
    }

    let storage: any Store
    let assetStore: AssetStore

    /// - Parameters:
    ///   - moment: those that something has used since then stay.
    ///   - delete: removes the bytes of one.
    /// - Throws: `StorageFailure.unavailable(.busy)` while a copy is made of the store.
    func run(
        _ digests: [AssetDigest], unusedSince moment: Milliseconds,
        _ delete: (AssetDigest) throws -> Void
    ) throws -> Outcome {
        let claimed = assetStore.claims.claim(digests)
        defer { assetStore.claims.unclaim(claimed) }
        let others = Set(claimed)
        var outcome = Outcome(left: digests.filter { !others.contains($0) })
        guard !claimed.isEmpty else { return outcome }
        let end = ContinuousClock.now + .seconds(AssetRemoval.secondsMax / 2)
        let removable = try storage.writeAndWait(cost: claimed.count) {
            try $0.remove(.begin(claimed, unusedSince: moment))
        }
        for digest in removable {
            guard ContinuousClock.now < end else {
                outcome.left.append(digest)
                continue
            }
            try delete(digest)
            outcome.gone.append(digest)
        }
        let gone = outcome.gone
        guard !gone.isEmpty else { return outcome }
        // NB: one that is not told of ends by itself; so does one whose removal has failed, and may come late.
        storage.write(cost: 1, frees: true) {
            try $0.remove(.end(gone))
        } completion: { _ in
        }
        return outcome
    }
}
