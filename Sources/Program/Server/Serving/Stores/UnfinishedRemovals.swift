import Background
import CloudModel

/// Takes up deletions of containers that have failed midway, where processes share the data: the one that leads does.
///
/// One that has the data to itself does it when it starts.
final class UnfinishedRemovals: Sendable {
    private let stores: Stores
    private let runner: Runner

    /// Begins to look.
    ///
    /// - Parameter pauseMilliseconds: between two looks; after one that has failed, the pauses are the runner's.
    init(_ stores: Stores, log: Log, pauseMilliseconds: Milliseconds = 60_000) {
        self.stores = stores
        runner = Runner("lenticular.removals") { error in
            log.warning(
                "something is left of a deleted container; tried again",
                [("failure", .text("\(error)"))])
        }
        runner.use { [weak self] in
            guard let self, !self.stores.engine.processes.living.isEmpty else { return .never }
            if self.stores.engine.processes.leads {
                try self.stores.finishDeletions { [self] in !runner.isStopped }
            }
            return .later(milliseconds: pauseMilliseconds)
        }
        runner.wake()
    }

    /// Ends it; does not wait for what goes on, which may take long and is done by the process that leads next.
    func stop() { runner.goOn(.never) }
}
