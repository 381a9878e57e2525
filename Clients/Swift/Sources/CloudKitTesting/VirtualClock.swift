import CloudKitWire
import Foundation
import LenticularCloudKit

/// A clock that goes only when a test says so.
public actor VirtualClock {
    private var now = 0.0
    private var sleepers: [(wakes: Double, number: Int, continuation: Sleeper)] = []
    private let waiters = Waiters()
    /// How many tasks sleep, for those who are not on the clock's actor.
    private let sleeping = Locked(0)
    private var next = 0

    private typealias Sleeper = CheckedContinuation<Void, any Error>

    /// A clock at zero.
    public init() {}

    /// Waits until the clock has gone on by so many seconds.
    ///
    /// - Throws: `CancellationError`.
    public func sleep(_ seconds: Double) async throws {
        let number = next
        next += 1
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: Sleeper) in
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                    return
                }
                sleepers.append((now + seconds, number, continuation))
                count()
            }
        } onCancel: {
            Task { await self.cancel(number) }
        }
    }

    private func cancel(_ number: Int) {
        guard let index = sleepers.firstIndex(where: { $0.number == number }) else { return }
        sleepers.remove(at: index).continuation.resume(throwing: CancellationError())
        count()
    }

    /// Lets time pass: everybody whose time has come goes on, in order.
    public func advance(by seconds: Double) {
        now += seconds
        let due = sleepers.filter { $0.wakes <= now }.sorted { $0.wakes < $1.wakes }
        sleepers.removeAll { $0.wakes <= now }
        count()
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Waits until at least so many tasks sleep, so that a test knows what time will wake.
    ///
    /// - Throws: `NothingCame` when there were fewer after so many seconds of real time.
    public nonisolated func waitForSleepers(
        _ count: Int, within seconds: Double = 20
    ) async throws {
        let isReached = await waiters.wait(within: seconds) {
            self.sleeping.withLock { $0 } >= count
        }
        guard !isReached else { return }
        let there = sleeping.withLock { $0 }
        throw NothingCame(awaited: "\(count) sleepers", instead: ["\(there) sleepers"])
    }

    private func count() {
        let count = sleepers.count
        sleeping.withLock { $0 = count }
        waiters.look()
    }
}

extension CKSyncEngine {
    /// An engine whose waiting is in a test's hands.
    public convenience init(_ configuration: Configuration, clock: VirtualClock) {
        self.init(configuration) { try await clock.sleep($0) }
    }
}
