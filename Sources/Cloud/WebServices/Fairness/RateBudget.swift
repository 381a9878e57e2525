/// One budget of one caller: it fills by itself at so much a second, up to the size of a burst.
///
/// Its whole state is the moment at which it is full again. So a budget that nobody has used for a while
/// equals a new one. All times are of one monotonic clock, in nanoseconds.
struct RateBudget: Sendable {
    /// The setting that gives it, as reasons name it.
    let setting: StaticString
    let perSecond: Int
    private let burstNanoseconds: UInt64
    private let unitNanoseconds: Double

    /// - Returns: nil for a rate of 0, which bounds nothing.
    init?(_ setting: StaticString, perSecond: Int, burstSeconds: Int) {
        guard perSecond > 0 else { return nil }
        self.setting = setting
        self.perSecond = perSecond
        burstNanoseconds = UInt64(max(1, burstSeconds)) * 1_000_000_000
        unitNanoseconds = 1e9 / Double(perSecond)
    }

    /// How long it takes until it is full again.
    static func missing(_ fullAt: UInt64, _ now: UInt64) -> UInt64 {
        fullAt > now ? fullAt - now : 0
    }

    /// Whether more than a tenth has been used, so that the client should be told.
    func isNotable(_ fullAt: UInt64, _ now: UInt64) -> Bool {
        Self.missing(fullAt, now) > burstNanoseconds / 10
    }

    /// Whether nothing is left.
    func isExhausted(_ fullAt: UInt64, _ now: UInt64) -> Bool {
        Self.missing(fullAt, now) >= burstNanoseconds
    }

    /// The state after some units were taken.
    ///
    /// The caller who takes the last unit may take more than there are, and then waits longer.
    func taking(_ units: Int, from fullAt: UInt64, _ now: UInt64) -> UInt64 {
        let time = min(Double(max(0, units)) * unitNanoseconds, Self.debtMax)
        return max(fullAt, now).addingReportingOverflow(UInt64(time)).partialValue
    }

    /// About a year: the moment at which a budget is full is never further ahead.
    private static let debtMax = 3e16

    /// What is left, as answers say it.
    func status(_ fullAt: UInt64, _ now: UInt64) -> RateStatus {
        let missing = Self.missing(fullAt, now)
        let left = missing < burstNanoseconds ? burstNanoseconds - missing : 0
        let over = missing < burstNanoseconds ? 0 : missing - burstNanoseconds
        return RateStatus(
            setting: setting, perSecond: perSecond,
            limit: Int(Double(burstNanoseconds) / unitNanoseconds),
            remaining: Int(Double(left) / unitNanoseconds),
            resetSeconds: Self.seconds(missing), retrySeconds: max(1, Self.seconds(over)))
    }

    private static func seconds(_ nanoseconds: UInt64) -> Int {
        Int((nanoseconds + 999_999_999) / 1_000_000_000)
    }
}

/// How a budget stands (rulings.md 53).
struct RateStatus: Sendable {
    let setting: StaticString
    let perSecond: Int
    /// Units that the budget holds when it is full.
    let limit: Int
    let remaining: Int
    /// Until it is full again.
    let resetSeconds: Int
    /// Until something can be taken again.
    let retrySeconds: Int
}
