import Synchronization

@testable import GroupCommit

/// An engine whose database is a list in memory: jobs write by `append`.
final class ListEngine: GroupEngine, Sendable {
    struct Full: Error {}
    struct Refused: Error {}

    struct State {
        var committed: [String] = []
        var written: [String] = []
        /// What the committer has asked for, in order.
        var calls: [String] = []
        /// What the next commit comes to.
        var nextEnd: GroupEnd?
        /// How much the list may hold.
        var room = Int.max
    }

    let state = Mutex(State())

    var committed: [String] { state.withLock { $0.committed } }
    var calls: [String] { state.withLock { $0.calls } }

    /// Called by jobs.
    func append(_ text: String) throws {
        try state.withLock { state in
            guard state.committed.count + state.written.count < state.room else { throw Full() }
            state.written.append(text)
        }
    }

    private func note(_ call: String) { state.withLock { $0.calls.append(call) } }

    func begin() {
        note("begin")
        state.withLock { $0.written = [] }
    }

    func run(_ job: PendingJob, isIsolated: Bool) throws -> JobEnd {
        note(isIsolated ? "run alone" : "run")
        let before = state.withLock { $0.written.count }
        do {
            try job.run()
        } catch let error as Full {
            throw error
        } catch {
            return state.withLock { state in
                guard state.written.count > before else { return .undone }
                guard isIsolated else { return .needsIsolation }
                state.written.removeSubrange(before...)
                return .undone
            }
        }
        return .done
    }

    func prepare() { note("prepare") }

    func commit() -> GroupEnd {
        note("commit")
        return state.withLock { state in
            if let end = state.nextEnd { return end }
            state.committed += state.written
            state.written = []
            return .committed
        }
    }

    func rollBack(_ error: any Error) -> GroupEnd {
        note("roll back")
        state.withLock { $0.written = [] }
        return .rolledBack(error)
    }

    func told() { note("told") }

    var refusalWhileFull: any Error { Refused() }

    func saysFull(_ error: any Error) -> Bool { error is Full }

    func becameFull() { note("full") }

    func makeRoom() {}

    func hasRoomAgain() -> Bool { state.withLock { $0.room > $0.committed.count } }

    func failed() { note("failed") }

    func close() { note("close") }
}
