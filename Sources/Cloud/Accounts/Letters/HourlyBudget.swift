import CloudModel
import Synchronization

/// A limit on what all callers together may do in an hour.
///
/// Of several processes each has its part of it. Any thread may call.
final class HourlyBudget: Sendable {
    private static let hourMilliseconds: Milliseconds = 3_600_000

    private struct State {
        var hour: Milliseconds = 0
        var used = 0
    }

    private let countMax: Int
    private let processCount: @Sendable () -> Int
    private let state = Mutex(State())

    /// - Parameter processCount: how many processes share the limit.
    init(countMax: Int, processCount: @escaping @Sendable () -> Int) {
        self.countMax = countMax
        self.processCount = processCount
    }

    /// Takes one.
    ///
    /// - Returns: the seconds to wait for the next hour; nil when one was left.
    func take(now: Milliseconds) -> Int? {
        let hour = now / Self.hourMilliseconds
        // However many they are, each lets one through.
        let part = min(countMax, max(1, countMax / processCount()))
        return state.withLock { state in
            if state.hour != hour { state = State(hour: hour) }
            guard state.used < part else {
                return Int(((hour + 1) * Self.hourMilliseconds - now + 999) / 1_000)
            }
            state.used += 1
            return nil
        }
    }
}
