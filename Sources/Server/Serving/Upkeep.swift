import AssetStorage
import CloudDatabase
import CloudModel
import Dispatch
import SQLiteStorage
import Storage
import Synchronization

/// Removes from every open store what nobody can ask for any more, now and then, in small steps.
final class Upkeep: Sendable {
    /// How long stores are left alone between two rounds.
    static let intervalSecondsDefault = 60
    /// Of one step, which other writes wait for.
    static let rowsPerStepMax = 500
    /// Steps of one round that look for files without a row.
    static let searchStepsMax = 20

    private let stores: Stores
    private let clock: Clock
    private let retentionMilliseconds: Milliseconds
    private let graceMilliseconds: Milliseconds
    private let abandonedMilliseconds: Milliseconds
    private let log: Log
    /// What else is due in each round.
    private let alsoDue: @Sendable () -> Void
    private let queue = DispatchQueue(label: "lenticular.upkeep", qos: .utility)
    private let isStopped = Atomic(false)
    // Dispatch's own objects may be used from any thread; only their Swift class does not say so.
    private nonisolated(unsafe) let timer: any DispatchSourceTimer

    /// Begins the rounds.
    ///
    /// - Parameters:
    ///   - tombstoneDays: how long deletions stay in the feeds.
    ///   - graceSeconds: how long files stay that nothing refers to.
    ///   - resumeSeconds: how long uploads stay that nobody goes on with.
    ///   - alsoDue: run at the start of each round; must not block for long.
    init(
        stores: Stores, clock: Clock, tombstoneDays: Int, graceSeconds: Int = 86_400,
        resumeSeconds: Int = 0, log: Log,
        intervalSeconds: Int = Upkeep.intervalSecondsDefault,
        alsoDue: @escaping @Sendable () -> Void = {}
    ) {
        self.stores = stores
        self.clock = clock
        retentionMilliseconds = Milliseconds(tombstoneDays) * 86_400_000
        graceMilliseconds = Milliseconds(graceSeconds) * 1_000
        abandonedMilliseconds = Milliseconds(max(graceSeconds, resumeSeconds)) * 1_000
        self.log = log
        self.alsoDue = alsoDue
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(
            deadline: .now() + .seconds(intervalSeconds), repeating: .seconds(intervalSeconds),
            leeway: .seconds(5))
        timer.setEventHandler { [weak self] in self?.round() }
        timer.activate()
    }

    /// Ends the rounds, and waits for the step that runs.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
        timer.cancel()
        queue.sync {}
    }

    /// Removes all that can be removed now; on the queue, or before anybody else uses it.
    func round() {
        alsoDue()
        let moment = clock.now() - retentionMilliseconds
        for (store, depot) in stores.openWithAssets {
            do {
                while try !isStopped.load(ordering: .relaxed)
                    && store.writeAndWait({
                        try $0.collect(olderThan: moment, rowsMax: Self.rowsPerStepMax)
                    })
                {}
                try collectAssets(CollectAssets(store, depot: depot))
            } catch {
                log.warning("upkeep failed", [("failure", .text("\(error)"))])
            }
        }
    }

    private func collectAssets(_ collection: CollectAssets) throws {
        let moment = clock.now() - graceMilliseconds
        while try !isStopped.load(ordering: .relaxed) && collection.removeUnused(since: moment) {}
        let stepsMax = collection.isLocal ? Self.searchStepsMax : 1
        for _ in 0..<stepsMax where !isStopped.load(ordering: .relaxed) {
            guard try collection.removeStray(placedBefore: moment) else { break }
        }
        try collection.removeAbandoned(begunBefore: clock.now() - abandonedMilliseconds)
    }
}
