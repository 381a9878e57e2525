import CloudModel
import Storage

/// Does the work that one store keeps (`WorkQueue`), in steps between other writes.
///
/// What is done within the store's transactions and what blocks elsewhere go on beside each other.
package final class WorkRunner: StoreWorker {
    /// What a runner is given.
    package struct Options: Sendable {
        package var limits = ServiceLimits()
        /// How long rows that tell of deletions are kept.
        package var retentionMilliseconds: Milliseconds = 180 * 86_400_000
        /// What work of kinds does that blocks, outside of transactions; each step says whether there is
        /// more to do.
        package var blocking: [WorkKind: @Sendable () throws -> Bool] = [:]
        /// Told of the first failure of each piece of work, and of no further one until a step of it
        /// goes well.
        package var report: @Sendable (WorkKind, any Error) -> Void = { _, _ in }
        package var counts = WorkCounts()

        package init() {}
    }

    private let inWriter: WriterLane
    private let blocking: BlockingLane?

    /// - Parameters:
    ///   - storage: outlives the work; it is not kept.
    ///   - holder: a number that no other runner of the store has at the same time.
    package init(_ storage: any Store, _ options: Options, holder: WorkHolder = WorkHolder(1)) {
        inWriter = WriterLane(storage, options, holder)
        blocking = options.blocking.isEmpty ? nil : BlockingLane(storage, options, holder)
    }

    package func wake() {
        inWriter.wake()
        blocking?.wake()
    }

    package var isBusy: Bool { inWriter.isBusy || blocking?.isBusy ?? false }

    package func stop() {
        inWriter.stop()
        blocking?.stop()
    }
}
