import Synchronization

/// Counts the outcomes of steps of queued work, over all stores of a server.
package final class WorkCounts: Sendable {
    private let stepsDone = Atomic<UInt64>(0)
    private let stepsFailed = Atomic<UInt64>(0)

    package init() {}

    package var done: UInt64 { stepsDone.load(ordering: .relaxed) }
    package var failed: UInt64 { stepsFailed.load(ordering: .relaxed) }

    func noteDone() { stepsDone.wrappingAdd(1, ordering: .relaxed) }
    func noteFailed() { stepsFailed.wrappingAdd(1, ordering: .relaxed) }
}
