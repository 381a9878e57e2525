import Dispatch
import Synchronization

/// Looks for something to do: when it is woken, when a time has come, and after a failure, later each time.
///
/// It looks on a queue of its own, one look at a time, and never after `stop`. While it waits it holds no
/// thread.
package final class Runner: Sendable {
    /// When the next look begins.
    package enum Next: Sendable {
        /// After a pause that nothing cuts short.
        case afterPause(nanoseconds: UInt64)
        /// After some time, or when it is woken.
        case later(milliseconds: Int64)
        case whenWoken
        /// As `goOn` says, once what the look has begun is done.
        case open
        case never
    }

    /// What is done in a look; what it throws counts as a failure.
    package typealias Look = @Sendable () throws -> Next

    private enum Stage: Equatable { case idle, looking, waiting(Int) }

    private struct State {
        var look: Look?
        var stage = Stage.idle
        var waits = 0
        /// It was woken during a look, which may have looked before there was something new.
        var isWokenAgain = false
        var isStopped = false
        var failures = 0
    }

    /// After looks that failed, where nobody says otherwise.
    package static let backoff = Backoff(first: 500, longest: 60_000)

    private let queue: DispatchQueue
    private let backoff: Backoff
    private let alarm: Alarm
    private let report: @Sendable (any Error) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - label: the queue's name, as tools that examine the process show it.
    ///   - report: told of the first failure, and of no further one until a look goes well.
    package init(
        _ label: String, qos: DispatchQoS = .utility, backoff: Backoff = Runner.backoff,
        alarm: Alarm = .system, report: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        queue = DispatchQueue(label: label, qos: qos)
        self.backoff = backoff
        self.alarm = alarm
        self.report = report
    }

    /// Says what a look does; called once, before anybody wakes it.
    package func use(_ look: @escaping Look) { state.withLock { $0.look = look } }

    /// Starts a look soon; callable from any thread, and never blocks.
    package func wake() {
        let begins = state.withLock { state in
            guard !state.isStopped else { return false }
            guard state.stage != .looking else {
                state.isWokenAgain = true
                return false
            }
            state.stage = .looking
            return true
        }
        if begins { queue.async { [weak self] in self?.run(nil) } }
    }

    /// Whether a look goes on, or is about to; false while it waits to be woken or for a time.
    package var isBusy: Bool { state.withLock { $0.stage == .looking && !$0.isStopped } }

    /// Whether a look should come to its end.
    package var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Begins no further look, and waits for the one that goes on; not to be called in a look.
    package func stop() {
        goOn(.never)
        queue.sync {}
    }

    /// Says when the next look begins, after one that has left it open.
    package func goOn(_ next: Next) {
        let pause: (nanoseconds: UInt64, wait: Int?)? = state.withLock { state in
            guard !state.isStopped else { return nil }
            switch next {
            case .open: return nil
            case .never:
                state.isStopped = true
                return nil
            case .afterPause(let nanoseconds): return (nanoseconds, nil)
            case .later where state.isWokenAgain, .whenWoken where state.isWokenAgain:
                return (0, nil)
            case .whenWoken:
                state.stage = .idle
                return nil
            case .later(let milliseconds):
                state.waits += 1
                state.stage = .waiting(state.waits)
                return (UInt64(max(0, milliseconds)) * 1_000_000, state.waits)
            }
        }
        guard let pause else { return }
        guard pause.nanoseconds > 0 else {
            return queue.async { [weak self] in self?.run(pause.wait) }
        }
        alarm.set(queue, pause.nanoseconds) { [weak self] in self?.run(pause.wait) }
    }

    /// - Parameter wait: which wait has come to its end; nil where nothing could cut it short.
    private func run(_ wait: Int?) {
        let look = state.withLock { state -> Look? in
            guard !state.isStopped, wait.map({ state.stage == .waiting($0) }) ?? true else {
                return nil
            }
            state.stage = .looking
            state.isWokenAgain = false
            return state.look
        }
        guard let look else { return }
        do {
            let next = try look()
            state.withLock { $0.failures = 0 }
            goOn(next)
        } catch {
            let failures = state.withLock { state in
                state.failures += 1
                return state.failures
            }
            if failures == 1 { report(error) }
            let pause = UInt64(backoff.milliseconds(after: failures))
            goOn(.afterPause(nanoseconds: pause * 1_000_000))
        }
    }
}

/// What runs something on a queue after some time; tests have their own.
package struct Alarm: Sendable {
    package typealias Set =
        @Sendable (
            _ queue: DispatchQueue, _ nanoseconds: UInt64, _ action: @escaping @Sendable () -> Void
        ) -> Void

    package let set: Set

    package init(_ set: @escaping Set) { self.set = set }

    package static let system = Alarm { queue, nanoseconds, action in
        let moment = DispatchTime.now() + .nanoseconds(Int(clamping: nanoseconds))
        queue.asyncAfter(deadline: moment, execute: action)
    }
}
