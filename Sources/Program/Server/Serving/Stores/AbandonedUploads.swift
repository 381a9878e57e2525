import Background
import CloudModel

/// Removes what uploads on their way into a bucket have left in this process's folder, where processes share the data.
///
/// Whose turn it is to collect a store's assets may be another process, which does not see this folder. A process that has
/// its data to itself removes such files when it opens a store, and with what else it collects.
final class AbandonedUploads: Sendable {
    private static let pauseMilliseconds: Milliseconds = 3_600_000

    private let runner: Runner

    /// Begins to look, at once and then each hour.
    init(_ folder: DataFolder, log: Log) {
        let life = folder.configuration.abandonedUploadMilliseconds
        runner = Runner("lenticular.abandoned") { error in
            log.warning(
                "what uploads have left is not removed; tried again",
                [("failure", .text("\(error)"))])
        }
        runner.use { [weak self, stores = folder.stores, clock = folder.clock] in
            guard let self, !stores.engine.processes.living.isEmpty else { return .never }
            try stores.keeper.removeAbandonedUploads(begunBefore: clock.now() - life) {
                [self] in !runner.isStopped
            }
            return .later(milliseconds: Self.pauseMilliseconds)
        }
        runner.wake()
    }

    /// Ends it, and waits for a look that goes on.
    func stop() { runner.stop() }
}
