import Synchronization

/// What the wire has done since the start, for metrics.
package struct WireCounts: Sendable, Equatable {
    package var connectionsOpened: UInt64 = 0
    package var connectionsClosed: UInt64 = 0
    package var connectionsOpen: UInt64 { connectionsOpened &- connectionsClosed }
    /// Requests handed to the responder.
    package var requests: UInt64 = 0
    /// Bytes over the sockets, of TLS where there is TLS.
    package var bytesIn: UInt64 = 0
    package var bytesOut: UInt64 = 0
    /// Requests that the wire itself answered, by status.
    package var faultsByStatus: [Int: UInt64] = [:]
}

/// A request that the wire itself refused, for the log.
package struct WireRejection: Sendable {
    package let requestID: String
    package let status: Int
    package let reason: String
    package let peer: Peer
}

/// The closures that hear of what happens on the wire.
package struct WireObserver: Sendable {
    /// Called on an event loop's thread: must not block.
    package let rejected: @Sendable (WireRejection) -> Void
    /// Called with an invariant that did not hold; on any thread, must not block.
    package let broken: @Sendable (String) -> Void

    package init(
        rejected: @escaping @Sendable (WireRejection) -> Void = { _ in },
        broken: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.rejected = rejected
        self.broken = broken
    }
}

/// The counters of one event loop: written by its thread, read by any.
final class WireCounters: Sendable {
    let connectionsOpened = Atomic<UInt64>(0)
    let connectionsClosed = Atomic<UInt64>(0)
    let requests = Atomic<UInt64>(0)
    let bytesIn = Atomic<UInt64>(0)
    let bytesOut = Atomic<UInt64>(0)
    private let faults = Mutex<[Int: UInt64]>([:])

    @inline(__always)
    static func add(_ number: Int, to counter: borrowing Atomic<UInt64>) {
        // With one writer a load and a store are enough, and cheaper than a locked addition.
        let old = counter.load(ordering: .relaxed)
        counter.store(old &+ UInt64(truncatingIfNeeded: number), ordering: .relaxed)
    }

    func countFault(_ status: Int) {
        faults.withLock { $0[status, default: 0] += 1 }
    }

    func add(to counts: inout WireCounts) {
        // Closed before opened, so that what is open never comes out negative.
        counts.connectionsClosed &+= connectionsClosed.load(ordering: .acquiring)
        counts.connectionsOpened &+= connectionsOpened.load(ordering: .relaxed)
        counts.requests &+= requests.load(ordering: .relaxed)
        counts.bytesIn &+= bytesIn.load(ordering: .relaxed)
        counts.bytesOut &+= bytesOut.load(ordering: .relaxed)
        let faults = faults.withLock { $0 }
        counts.faultsByStatus.merge(faults) { $0 &+ $1 }
    }
}
