import CloudModel
import Storage
import Synchronization

/// Works through the trees of one store's shares in bounded steps between other writes.
///
/// What is to be done is in the store, so that a restart goes on where the last step ended.
package final class ShareWorker: Sendable {
    private let storage: any Storage
    private let recordsPerStep: Int

    private enum State { case idle, running, runningAndAskedAgain }
    private let state = Mutex(State.idle)

    /// - Parameter limits: `shareStepRecordsMax` bounds a step.
    package init(_ storage: any Storage, limits: ServiceLimits) {
        self.storage = storage
        recordsPerStep = max(1, limits.shareStepRecordsMax)
    }

    /// Goes on with what a stop has left undone, when a store is opened.
    package func resume() {
        // NB: what cannot be read now is worked off after the next write that leaves work.
        let hasWork = try? storage.read(loop: nil) { try $0.nextShareWork() != nil }
        if hasWork == true { start() }
    }

    /// Begins to work off what there is, unless that goes on already.
    ///
    /// Does not block.
    ///
    /// Called after every write that has left work.
    package func start() {
        let begins = state.withLock { state in
            defer { state = state == .idle ? .running : .runningAndAskedAgain }
            return state == .idle
        }
        if begins { step() }
    }

    private func step() {
        let recordsMax = recordsPerStep
        storage.write(cost: recordsMax, frees: false) { transaction in
            try Coverage.workOff(transaction, recordsMax: recordsMax)
        } completion: { [weak self] result in
            // NB: a step that failed is in the store still: the next start does it.
            self?.stepEnded(hasMore: (try? result.get()) ?? false)
        }
    }

    private func stepEnded(hasMore: Bool) {
        let goesOn = state.withLock { state in
            let goesOn = hasMore || state == .runningAndAskedAgain
            state = goesOn ? .running : .idle
            return goesOn
        }
        if goesOn { step() }
    }
}
