import CloudModel

/// Decides whose request an event loop serves next; on that loop's thread only.
///
/// What comes is served as it comes, until its principal has had `ownNanosecondsMax` of the loop's time, or all
/// together have had `roundNanosecondsMax`. What comes beyond that waits. The loop looks at its sockets again
/// before it goes on, and then takes what waits in turns, as `WorkLane` says. So others wait for a round, however
/// many connections one principal has.
package final class LoopTurns<Principal: Hashable & Sendable>: @unchecked Sendable {
    // Unchecked: everything belongs to the loop's thread.

    /// Runs work on the loop's thread once it has looked at its sockets.
    package typealias Later = @Sendable (@escaping @Sendable () -> Void) -> Void

    /// What one principal gets of a round.
    package static var ownNanosecondsMax: UInt64 { 2_000_000 }
    /// What all get of a round.
    package static var roundNanosecondsMax: UInt64 { 4_000_000 }

    private let now: @Sendable () -> UInt64
    private var lane = WorkLane<Principal>(threadsMax: 1)
    /// What each has had of this round.
    private var used: [Principal: UInt64] = [:]
    private var usedByAll: UInt64 = 0
    /// The next round begins soon, with what waits.
    private var isPosted = false

    /// - Parameter now: a monotonic clock in nanoseconds.
    package init(now: @escaping @Sendable () -> UInt64) { self.now = now }

    /// How much waits for its turn.
    package var waitingCount: Int { lane.waitingCount }

    /// Does a principal's work now, or in their turn.
    ///
    /// - Parameters:
    ///   - stop: where it says that the work is abandoned before its turn, it is never done.
    ///   - later: how the loop goes on with what waits.
    package func serve(
        _ principal: Principal, stop: StopSignal, later: @escaping Later,
        _ work: @escaping @Sendable () -> Void
    ) {
        post(later)
        guard mayGoOn(principal) else {
            return lane.append(for: principal, stop: stop, body: work, drop: {})
        }
        let began = now()
        work()
        note(now() &- began, of: principal)
    }

    private func mayGoOn(_ principal: Principal) -> Bool {
        usedByAll < Self.roundNanosecondsMax && used[principal] ?? 0 < Self.ownNanosecondsMax
            // A principal's requests stay in order.
            && (lane.waitingCount == 0 || lane.waitingCount(of: principal) == 0)
    }

    private func note(_ nanoseconds: UInt64, of principal: Principal) {
        used[principal, default: 0] &+= nanoseconds
        usedByAll &+= nanoseconds
    }

    private func post(_ later: @escaping Later) {
        guard !isPosted else { return }
        isPosted = true
        later { self.takeTurns(later) }
    }

    /// Begins a round, with what waits.
    private func takeTurns(_ later: @escaping Later) {
        isPosted = false
        used.removeAll(keepingCapacity: true)
        usedByAll = 0
        let began = now()
        var time = began
        var dropped: [WorkLane<Principal>.Item] = []
        while time &- began < Self.roundNanosecondsMax,
            let item = lane.takeNext(by: 0, now: time, dropped: &dropped)
        {
            item.body()
            time = now()
            lane.end(item, now: time)
        }
        if lane.waitingCount > 0 { post(later) }
    }
}
