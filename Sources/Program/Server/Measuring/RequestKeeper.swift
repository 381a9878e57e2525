import CloudModel
import Dispatch
import RequestRecords
import Synchronization
import WebServices

/// Takes a line of each finished request, and has a thread of its own write them, many at a time.
///
/// A crash loses what was taken in the last second; a machine that loses its power, what the system had not written yet.
package final class RequestKeeper: Sendable {
    private struct Pending {
        var requests: [(at: Milliseconds, request: RequestObservation)] = []
        /// Whether the thread will look by itself.
        var isScheduled = false
        var lost: UInt64 = 0
        /// Of requests that anybody can send.
        var anonymous = LineSampler()
    }

    private static let secondsMax = 1
    /// So many are written at once without waiting for the second to be over.
    private static let batch = 2_048
    /// More do not wait for the thread: they are lost, and counted.
    private static let waitingMax = 32_768

    private let ring: RequestRing
    private let clock: Clock
    private let report: @Sendable (any Error) -> Void
    private let pending = Mutex(Pending())
    private let queue = DispatchQueue(label: "lenticular.requests", qos: .utility)
    // Used on the queue alone.
    private nonisolated(unsafe) var conversion = RequestConversion()

    /// - Parameter report: told of what cannot be written.
    package init(
        _ ring: RequestRing, clock: Clock, report: @escaping @Sendable (any Error) -> Void
    ) {
        self.ring = ring
        self.clock = clock
        self.report = report
    }

    /// Takes one; from any thread, and never blocks.
    ///
    /// Of those that show nobody's credentials only some are kept, as in the log: a flood of them must not drive out
    /// the others.
    package func keep(_ request: RequestObservation) {
        let now = clock.now()
        let isAnonymous = request.isAnonymous && request.claimedUser == nil
        let count = pending.withLock { pending -> Int? in
            if isAnonymous, !pending.anonymous.takeNext(now: now).isWritten { return nil }
            guard pending.requests.count < Self.waitingMax else {
                pending.lost &+= 1
                return nil
            }
            pending.requests.append((now, request))
            if pending.requests.count == Self.batch { return Self.batch }
            if pending.isScheduled { return nil }
            pending.isScheduled = true
            return 0
        }
        guard let count else { return }
        if count >= Self.batch { return queue.async { self.write() } }
        queue.asyncAfter(deadline: .now() + .seconds(Self.secondsMax)) { self.write() }
    }

    /// Returns when all that was taken so far can be searched.
    package func flush() { queue.sync { write() } }

    /// How many were not kept, for metrics.
    package var lostCount: UInt64 { pending.withLock { $0.lost } }

    private func write() {
        let taken = pending.withLock { pending in
            pending.isScheduled = false
            defer {
                pending.requests.removeAll(keepingCapacity: pending.requests.count <= Self.batch)
            }
            return pending.requests
        }
        guard !taken.isEmpty else { return }
        do {
            try ring.append(
                taken.map { conversion.entry(of: $0.request, at: $0.at) }, now: clock.now())
        } catch {
            pending.withLock { $0.lost &+= UInt64(taken.count) }
            report(error)
        }
    }
}
