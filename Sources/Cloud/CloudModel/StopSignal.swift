import Synchronization

/// Tells one piece of work, from any thread, that it should end.
///
/// It is looked at within the scans of a snapshot and by loops over what was read; what writes is never
/// stopped.
package final class StopSignal: Sendable {
    package enum Reason: Sendable, Equatable {
        /// The caller does not wait for the outcome any more.
        case abandoned
        /// It has turned out to be long: it is to leave its thread, and is done anew elsewhere.
        case makesRoom
    }

    private static let abandonedBit: UInt8 = 1
    private static let roomBit: UInt8 = 2
    private let bits = Atomic<UInt8>(0)

    package init() {}

    package func stop(_ reason: Reason) {
        let bit = reason == .abandoned ? Self.abandonedBit : Self.roomBit
        bits.bitwiseOr(bit, ordering: .relaxed)
    }

    /// Takes back that it was to make room, before it is done anew.
    package func goOn() { bits.bitwiseAnd(Self.abandonedBit, ordering: .relaxed) }

    package var isAbandoned: Bool { bits.load(ordering: .relaxed) & Self.abandonedBit != 0 }

    /// Whether it is to end, for whatever reason.
    package var isStopped: Bool { bits.load(ordering: .relaxed) != 0 }

    /// - Throws: `WorkStopped`.
    package func check() throws(WorkStopped) {
        if isStopped { throw WorkStopped(isAbandoned ? .abandoned : .makesRoom) }
    }
}

/// Thrown by work that was told to end, and has changed nothing.
package struct WorkStopped: Error, Sendable, Equatable {
    package let reason: StopSignal.Reason

    package init(_ reason: StopSignal.Reason) { self.reason = reason }
}
