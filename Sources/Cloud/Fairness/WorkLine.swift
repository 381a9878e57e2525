import Synchronization

/// Pieces of work that are done one after the other, each in its principal's turn.
///
/// They are of something that was admitted before, and none is refused.
package final class WorkLine<Principal: Hashable & Sendable>: Sendable {
    private struct State {
        var work: [@Sendable () -> Void] = []
        var isAtWork = false
    }

    private let pool: WorkPool<Principal>
    private let lane: WorkLaneName
    private let principal: Principal
    private let state = Mutex(State())

    package init(_ pool: WorkPool<Principal>, _ lane: WorkLaneName, for principal: Principal) {
        self.pool = pool
        self.lane = lane
        self.principal = principal
    }

    /// Runs a piece of work after those that were handed in before; from any thread.
    package func async(_ work: @escaping @Sendable () -> Void) {
        let begins = state.withLock { state in
            state.work.append(work)
            defer { state.isAtWork = true }
            return !state.isAtWork
        }
        if begins { submit() }
    }

    private func submit() {
        // NB: what was admitted before is not refused.
        try? pool.submit(lane, for: principal, isAdmitted: true) { self.step() }
    }

    private func step() {
        let work = state.withLock { state in
            let work = state.work
            state.work = []
            return work
        }
        for piece in work { piece() }
        let goesOn = state.withLock { state in
            state.isAtWork = !state.work.isEmpty
            return state.isAtWork
        }
        if goesOn { submit() }
    }
}
