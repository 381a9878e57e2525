import Foundation
import LenticularCloudKit

/// A clock that goes only when a test says so.
public actor VirtualClock {
    private var now = 0.0
    private var sleepers: [(wakes: Double, number: Int, continuation: Sleeper)] = []
    private var arrivals: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
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
                tellArrivals()
            }
        } onCancel: {
            Task { await self.cancel(number) }
        }
    }

    private func cancel(_ number: Int) {
        guard let index = sleepers.firstIndex(where: { $0.number == number }) else { return }
        sleepers.remove(at: index).continuation.resume(throwing: CancellationError())
    }

    /// Lets time pass: everybody whose time has come goes on, in order.
    public func advance(by seconds: Double) {
        now += seconds
        let due = sleepers.filter { $0.wakes <= now }.sorted { $0.wakes < $1.wakes }
        sleepers.removeAll { $0.wakes <= now }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Waits until at least so many tasks sleep, so that a test knows what time will wake.
    public func waitForSleepers(_ count: Int) async {
        guard sleepers.count < count else { return }
        await withCheckedContinuation { arrivals.append((count, $0)) }
    }

    private func tellArrivals() {
        let reached = arrivals.filter { $0.count <= sleepers.count }
        arrivals.removeAll { $0.count <= sleepers.count }
        for arrival in reached { arrival.continuation.resume() }
    }
}

extension CKSyncEngine {
    /// An engine whose waiting is in a test's hands.
    public convenience init(_ configuration: Configuration, clock: VirtualClock) {
        self.init(configuration) { try await clock.sleep($0) }
    }
}
