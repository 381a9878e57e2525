import AssetStorage
import CloudDatabase
import CloudModel
import Configuration
import Storage

/// Does the queued work of every open store.
final class StoreWork: Sendable {
    /// How many pages of files one step goes through to find some without a row.
    private static let searchStepsMax = 20

    let counts = WorkCounts()
    private let options: WorkRunner.Options
    private let clock: Clock
    private let graceMilliseconds: Milliseconds
    private let abandonedMilliseconds: Milliseconds
    private let trashMilliseconds: Milliseconds

    init(_ configuration: Configuration, clock: Clock, log: Log) {
        var options = WorkRunner.Options()
        options.limits = configuration.serviceLimits
        options.retentionMilliseconds =
            Milliseconds(configuration.retention.tombstoneDays) * 86_400_000
        options.counts = counts
        options.report = { kind, error in
            log.warning(
                "queued work failed; it is tried again",
                [("kind", .text("\(kind)")), ("failure", .text("\(error)"))])
        }
        self.options = options
        self.clock = clock
        let assets = configuration.assets
        graceMilliseconds = Milliseconds(assets.graceSeconds) * 1_000
        trashMilliseconds = Milliseconds(configuration.retention.assetTrashHours) * 3_600_000
        abandonedMilliseconds =
            Milliseconds(max(assets.graceSeconds, assets.resumeSeconds)) * 1_000
    }

    /// Begins to do a store's work; closing the store ends it.
    func begin(_ store: any EngineStore, _ depot: AssetDepot) {
        var options = options
        options.blocking[.collectAssets] = { [weak store, self] in
            guard let store else { return false }
            return try self.collectAssets(CollectAssets(store, depot: depot))
        }
        store.attach(WorkRunner(store, options))
    }

    /// - Returns: whether there is more to do.
    private func collectAssets(_ collection: CollectAssets) throws -> Bool {
        let moment = clock.now() - graceMilliseconds
        if try collection.removeUnused(since: moment) { return true }
        let stepsMax = collection.isLocal ? Self.searchStepsMax : 1
        for _ in 0..<stepsMax {
            guard try collection.removeStray(placedBefore: moment, now: clock.now()) else { break }
        }
        if try collection.emptyTrash(putBefore: clock.now() - trashMilliseconds) { return true }
        try collection.removeAbandoned(begunBefore: clock.now() - abandonedMilliseconds)
        return false
    }
}
