import Background
import CloudModel
import Storage
import Synchronization

/// Does the queued work of one store (`WorkQueue`), in steps between other writes.
///
/// Work in the store's transactions and work that blocks elsewhere go on side by side.
package final class WorkRunner: Sendable {
    /// What a runner is given.
    package struct Options: Sendable {
        package var limits = ServiceLimits()
        /// How long rows that tell of deletions are kept, in milliseconds.
        package var retentionMilliseconds: Milliseconds = 180 * 86_400_000
        /// The work, by kind, that blocks outside of transactions; each step returns whether there is more to
        /// do.
        package var blocking: [WorkKind: @Sendable () throws -> Bool] = [:]
        /// Called with what work is called (`WorkTask.word`) and its first failure, and not again until one of its
        /// steps goes well.
        package var report: @Sendable (String, any Error) -> Void = { _, _ in }
        package var counts = WorkCounts()
        /// How long work waits after its steps have failed.
        package var backoff = Backoff(first: 1_000, longest: 3_600_000)

        package init() {}
    }

    private let inWriter: WriterLane
    private let blocking: BlockingLane?
    /// Somebody may wait for what it does, so that nothing else may keep it.
    private let maintenance: BlockingLane
    private let flag: StopFlag
    private weak let storage: (any Store)?
    private let holder: WorkHolder
    private let notices: CommitNotices
    /// What wakes the runner.
    private let watch = LatestWatch()

    /// - Parameters:
    ///   - storage: must outlive the work; the runner does not keep it.
    ///   - holder: a number that no other runner of the store has at the same time.
    package init(_ storage: any Store, _ options: Options, holder: WorkHolder = WorkHolder(1)) {
        self.storage = storage
        self.holder = holder
        notices = storage.notices
        inWriter = WriterLane(storage, options, holder)
        blocking = options.blocking.isEmpty ? nil : BlockingLane(storage, options, holder)
        let flag = StopFlag()
        self.flag = flag
        var late = options
        late.blocking = [
            .maintenanceBeside: { [weak storage] in
                try storage?.maintain(while: { !flag.isSet }) ?? false
            }
        ]
        maintenance = BlockingLane(storage, late, holder)
    }

    /// Begins with what waits, and goes on whenever work is queued.
    ///
    /// Blocks for a short read.
    package func begin() {
        listen()
        // What was not finished before goes on, and what was queued before anybody was there.
        // NB: what cannot be looked at now is done after the next write that queues some.
        let next = try? storage?.read { try $0.nextWorkMoment(nil, for: holder) }
        if next ?? nil != nil { wake() }
    }

    private func listen() {
        watch.begin(notices.watch([.work])) { [weak self] in
            guard let self else { return }
            // First, so that nothing is missed that is queued during the look.
            listen()
            wake()
        }
        if flag.isSet { watch.end() }
    }

    package func wake() {
        inWriter.wake()
        blocking?.wake()
        maintenance.wake()
    }

    package var isBusy: Bool {
        inWriter.isBusy || maintenance.isBusy || blocking?.isBusy ?? false
    }

    package func stop() {
        flag.set()
        watch.end()
        inWriter.stop()
        maintenance.stop()
        blocking?.stop()
    }

    /// Ends work that goes on for many steps.
    private final class StopFlag: Sendable {
        private let stored = Atomic(false)

        var isSet: Bool { stored.load(ordering: .acquiring) }
        func set() { stored.store(true, ordering: .releasing) }
    }
}
