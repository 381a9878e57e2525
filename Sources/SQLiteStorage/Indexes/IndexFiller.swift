import CloudModel
import Dispatch
import Storage
import Synchronization

/// Has a store's indexes filled and emptied in the background, step by step between its other writes.
///
/// While others write, a step takes about a millisecond and is followed by a pause as long as itself and
/// its commit, so that others have half of the writer's time; alone it takes more and does not pause. The
/// commit counts, because the rows of an index lie all over it: it writes more pages than that of a save.
/// What a restart cuts short goes on when the store is opened again.
final class IndexFiller: Sendable {
    /// How long a step may hold the writer up before its commit, alone and beside other writes.
    private static let aloneNanoseconds: UInt64 = 20_000_000
    private static let besideNanoseconds: UInt64 = 1_000_000
    /// What a step counts towards the most that a group takes.
    private static let cost = 64
    /// Fewer would not make a commit noticeably shorter.
    private static let recordsMin = 64
    private static let recordsMax = 4_096

    private struct State {
        var isRunning = false
        var isStopped = false
        var recordsPerStep = 64
        /// The writer's jobs when the last step ended, the step's own with them.
        var jobs: UInt64 = 0
        var waiters: [DispatchSemaphore] = []
    }

    private let queue = DispatchQueue(label: "store.indexes", qos: .utility)
    private let state = Mutex(State())

    /// Begins to work if nothing is going on.
    func wake(_ store: SQLiteStore) {
        let starts = state.withLock { state in
            guard !state.isRunning, !state.isStopped else { return false }
            state.isRunning = true
            return true
        }
        if starts { queue.async { [weak store] in store.map(self.step) } }
    }

    /// Begins no more steps.
    func stop() {
        state.withLock {
            $0.isStopped = true
            Self.tell(&$0)
        }
    }

    /// Waits until a step has ended, or the work, or the time is over.
    ///
    /// - Returns: false when the time was over first, or nothing goes on.
    func waitForStep(until deadline: DispatchTime) -> Bool {
        let step = DispatchSemaphore(value: 0)
        let isRunning = state.withLock { state in
            guard state.isRunning, !state.isStopped else { return false }
            state.waiters.append(step)
            return true
        }
        return isRunning && step.wait(timeout: deadline) == .success
    }

    private func step(_ store: SQLiteStore) {
        let (records, goesOn) = state.withLock { ($0.recordsPerStep, !$0.isStopped) }
        guard goesOn else { return }
        store.write(cost: Self.cost, frees: false) { transaction in
            let start = DispatchTime.now().uptimeNanoseconds
            _ = try transaction.workOnIndexes(recordsMax: records)
            return (start, DispatchTime.now().uptimeNanoseconds)
        } completion: { [weak store] result in
            guard let store else { return }
            // NB: a store that cannot be written to is tried again when a query asks.
            let times = (try? result.get()).map { start, end in
                Times(step: end &- start, whole: DispatchTime.now().uptimeNanoseconds &- start)
            }
            self.ended(times, store)
        }
    }

    /// Nanoseconds.
    private struct Times {
        let step: UInt64
        /// With the commit.
        let whole: UInt64
    }

    /// - Parameter times: nil for a step that failed.
    private func ended(_ times: Times?, _ store: SQLiteStore) {
        let jobs = store.measurements.jobs
        let hasMore = times != nil && store.indexes.hasWork
        let times = times ?? Times(step: 0, whole: 0)
        let pause = state.withLock { state -> UInt64? in
            let isAlone = jobs &- state.jobs <= 1
            state.jobs = jobs
            let wanted = isAlone ? Self.aloneNanoseconds : Self.besideNanoseconds
            let fitting =
                Double(state.recordsPerStep) * Double(wanted) / Double(max(1, times.step))
            // No faster than by doubling: a step may have met few records of the type.
            state.recordsPerStep = max(
                Self.recordsMin,
                min(Self.recordsMax, Int(min(fitting, 2 * Double(state.recordsPerStep)))))
            if !hasMore || state.isStopped { state.isRunning = false }
            Self.tell(&state)
            guard state.isRunning else { return nil }
            return isAlone ? 0 : times.whole
        }
        guard let pause else { return }
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(pause))) { [weak store] in
            store.map(self.step)
        }
    }

    private static func tell(_ state: inout State) {
        for waiter in state.waiters { waiter.signal() }
        state.waiters.removeAll()
    }
}

extension SQLiteStore {
    package func prepareIndexes(
        _ needs: [IndexNeed], ofType type: Int64, waitMillisecondsMax: Int
    ) throws -> IndexProgress? {
        let deadline = DispatchTime.now() + .milliseconds(waitMillisecondsMax)
        let isThere = needs.allSatisfy { need in
            indexes.ofType(type).contains { $0.need == need && $0.state != .leaving }
        }
        if !isThere {
            try writeAndWait(frees: false) { try $0.makeIndexes(needs, ofType: type) }
        }
        filler.wake(self)
        while unfinished(needs, ofType: type) != nil, filler.waitForStep(until: deadline) {}
        guard let through = unfinished(needs, ofType: type) else { return nil }
        let last = try read(loop: nil) { try $0.indexReader.lastRecord() }
        return IndexProgress(through: through, last: max(last, through))
    }

    /// The last record that all of the indexes hold; nil once they are whole.
    private func unfinished(_ needs: [IndexNeed], ofType type: Int64) -> Int64? {
        indexes.ofType(type).filter { needs.contains($0.need) && $0.state != .whole }
            .map(\.filledThrough.value).min()
    }
}
