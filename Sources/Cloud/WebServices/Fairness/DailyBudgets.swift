import CloudModel
import Synchronization

/// How much of something each account may ask for within a day (UTC), in the memory of this process.
///
/// Only accounts that have used some are kept, and only until the day is over. Of several processes each has its part of
/// what an account may ask for. Any thread may call.
package final class DailyBudgets: Sendable {
    private static let dayMilliseconds: Milliseconds = 86_400_000

    private struct Day {
        var number: Milliseconds = 0
        var used: [AccountID: Int] = [:]
    }

    private let day = Mutex(Day())
    private let processCount: @Sendable () -> Int

    /// - Parameter processCount: how many processes share the budgets.
    package init(processCount: @escaping @Sendable () -> Int) { self.processCount = processCount }

    /// Takes as much as is asked for, or nothing.
    ///
    /// - Returns: the seconds until the next day; nil when it was left.
    package func take(_ count: Int, of account: AccountID, most: Int, now: Milliseconds) -> Int? {
        let number = now / Self.dayMilliseconds
        // However many they are, each lets one through.
        let part = min(most, max(1, most / processCount()))
        return day.withLock { day in
            if day.number != number { day = Day(number: number) }
            let used = day.used[account, default: 0]
            guard count <= part - used else {
                return Int(((number + 1) * Self.dayMilliseconds - now + 999) / 1_000)
            }
            if count > 0 { day.used[account] = used + count }
            return nil
        }
    }
}
