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
        var lines = WaitingLines()
        /// Whether the thread will look by itself.
        var isScheduled = false
        /// Whether it was told not to wait.
        var isUrgent = false
        var lost: UInt64 = 0
        /// Whether lines could not be written the last time.
        var isFailing = false
        /// Of requests that anybody can send.
        var anonymous = LineSampler()
        var heads = LineHeads()
    }

    /// When the thread is to write.
    private enum Due { case soon, now }

    private static let secondsMax = 1
    /// So many are written at once without waiting for the second to be over.
    private static let urgentBytes = 524_288
    /// More do not wait for the thread: they are lost, and counted.
    private static let waitingBytesMax = 8_388_608

    private let storage: any RequestStorage
    private let clock: Clock
    private let report: @Sendable (any Error) -> Void
    private let pending = Mutex(Pending())
    private let queue = DispatchQueue(label: "lenticular.requests", qos: .utility)
    // Used on the queue alone: what was written last, for its memory.
    private nonisolated(unsafe) var spare = WaitingLines()

    /// - Parameter report: told of what cannot be written.
    package init(
        _ storage: any RequestStorage, clock: Clock, report: @escaping @Sendable (any Error) -> Void
    ) {
        self.storage = storage
        self.clock = clock
        self.report = report
    }

    /// Takes one; from any thread, and never blocks.
    ///
    /// Of those that show nobody's credentials only some are kept, as in the log: a flood of them must not drive out
    /// the others.
    package func keep(_ request: borrowing RequestObservation) {
        let now = clock.now()
        let isAnonymous = request.isAnonymous && request.claimedUser == nil
        let due = pending.withLock { pending -> Due? in
            if isAnonymous, !pending.anonymous.takeNext(now: now).isWritten { return nil }
            guard pending.lines.byteCount < Self.waitingBytesMax else {
                pending.lost &+= 1
                return nil
            }
            let head = pending.heads.head(of: request)
            pending.lines.append { request.write(to: &$0, at: now, head) }
            if pending.lines.byteCount >= Self.urgentBytes, !pending.isUrgent {
                pending.isUrgent = true
                return .now
            }
            if pending.isScheduled { return nil }
            pending.isScheduled = true
            return .soon
        }
        switch due {
        case nil: break
        case .now: queue.async { self.write() }
        case .soon: writeSoon()
        }
    }

    /// Returns when all that was taken so far can be searched.
    package func flush() { queue.sync { write() } }

    /// How many were not kept, for metrics.
    package var lostCount: UInt64 { pending.withLock { $0.lost } }

    private func write() {
        var taken = spare
        spare = WaitingLines()
        pending.withLock { pending in
            (pending.isScheduled, pending.isUrgent) = (false, false)
            swap(&pending.lines, &taken)
        }
        defer {
            // What a flood has made large is given back.
            if taken.capacity <= 4 * Self.urgentBytes {
                taken.removeAll()
                spare = taken
            }
        }
        guard taken.count > 0 else { return }
        do {
            try storage.append(taken, now: clock.now())
            pending.withLock { $0.isFailing = false }
        } catch {
            if putBack(&taken) { report(error) }
        }
    }

    /// Lines that could not be written wait for the next time where they can, or are lost.
    ///
    /// - Returns: whether this is the first failure since lines were written.
    private func putBack(_ taken: inout WaitingLines) -> Bool {
        let (isFirst, waits) = pending.withLock { pending in
            defer { pending.isFailing = true }
            guard storage.storesAllOrNone,
                taken.byteCount + pending.lines.byteCount < Self.waitingBytesMax
            else {
                pending.lost &+= UInt64(taken.count)
                return (!pending.isFailing, false)
            }
            taken.append(pending.lines)
            swap(&pending.lines, &taken)
            defer { pending.isScheduled = true }
            return (!pending.isFailing, !pending.isScheduled)
        }
        if waits { writeSoon() }
        return isFirst
    }

    private func writeSoon() {
        queue.asyncAfter(deadline: .now() + .seconds(Self.secondsMax)) { self.write() }
    }
}
