import Dispatch
import Storage

/// How much more one page of a query may look at.
final class QueryBudget {
    private var rowsLeft: Int
    private var rowsToClock = 0
    private let endsAt: UInt64
    private let now: () -> UInt64
    private let checkStop: () throws -> Void

    /// How many rows pass between two checks of the clock.
    private static let rowsBetween = 64

    /// - Parameters:
    ///   - checkStop: throws when the query must end for another reason.
    ///   - now: a monotonic clock, in nanoseconds.
    init(
        _ bounds: QueryBounds, checkStop: @escaping () throws -> Void = {},
        now: @escaping () -> UInt64 = { DispatchTime.now().uptimeNanoseconds }
    ) {
        self.now = now
        self.checkStop = checkStop
        rowsLeft = bounds.recordsMax
        endsAt = now() &+ UInt64(max(0, bounds.millisecondsMax)) * 1_000_000
    }

    /// Counts rows that are about to be looked at.
    ///
    /// - Throws: `QueryRefusal`, and what `checkStop` throws.
    func spend(_ rows: Int) throws {
        rowsLeft -= rows
        guard rowsLeft >= 0 else { throw QueryRefusal.tooManyRecords }
        rowsToClock -= rows
        guard rowsToClock <= 0 else { return }
        rowsToClock = Self.rowsBetween
        try checkStop()
        guard now() < endsAt else { throw QueryRefusal.tooLong }
    }

    /// How many rows to read at once: what is left, and one more to see whether that was enough.
    var rowsAtOnceMax: Int { max(0, rowsLeft) + 1 }
}
