import CloudModel
import Dispatch

/// How much more one page of a query may look at.
final class QueryBudget {
    private var rowsLeft: Int
    private var rowsToClock = 0
    private let limits: ServiceLimits
    private let endsAt: UInt64
    private let now: () -> UInt64
    private let checkStop: () throws -> Void

    /// How many rows pass between two checks of the clock.
    private static let rowsBetween = 64

    /// - Parameters:
    ///   - checkStop: throws when the query must end for another reason.
    ///   - now: a monotonic clock, in nanoseconds.
    init(
        _ limits: ServiceLimits, checkStop: @escaping () throws -> Void = {},
        now: @escaping () -> UInt64 = { DispatchTime.now().uptimeNanoseconds }
    ) {
        self.limits = limits
        self.now = now
        self.checkStop = checkStop
        rowsLeft = limits.queryRowsMax
        endsAt = now() &+ UInt64(max(0, limits.queryMillisecondsMax)) * 1_000_000
    }

    /// Counts rows that are about to be looked at.
    ///
    /// - Throws: `QueryLimitReached`, and what `checkStop` throws.
    func spend(_ rows: Int) throws {
        rowsLeft -= rows
        guard rowsLeft >= 0 else { throw QueryLimitReached.rows }
        rowsToClock -= rows
        guard rowsToClock <= 0 else { return }
        rowsToClock = Self.rowsBetween
        try checkStop()
        guard now() < endsAt else { throw QueryLimitReached.time }
    }

    /// How many rows to read at once: what is left, and one more to see whether that was enough.
    var rowsAtOnceMax: Int { max(0, rowsLeft) + 1 }
}

/// A page took more than a query may.
enum QueryLimitReached: Error {
    case rows, time

    /// The fault that the client gets.
    func fault(_ limits: ServiceLimits, hint: String) -> Fault {
        switch self {
        case .rows:
            return .badRequest(
                "the query looked at \(limits.queryRowsMax) records without filling a page "
                    + "(limits.queryRowsMax); \(hint)", detail: .queryTooCostly)
        case .time:
            var fault = Fault.tryAgainLater(
                "the query took longer than \(limits.queryMillisecondsMax) ms "
                    + "(limits.queryMillisecondsMax); \(hint)")
            fault.detail = .queryTooCostly
            return fault
        }
    }
}
