/// The budgets of one kind of caller; nil for what is not bounded.
struct RateBudgetSet: Sendable {
    let requests: RateBudget?
    let records: RateBudget?
    let bytes: RateBudget?

    /// - Parameter settings: that give the rates of requests, records and bytes, as reasons name them.
    init(
        _ rate: RateLimits.Rate, burstSeconds: Int,
        settings: (requests: StaticString, records: StaticString, bytes: StaticString)
    ) {
        let make = { RateBudget($0, perSecond: $1, burstSeconds: burstSeconds) }
        requests = make(settings.requests, rate.requests)
        records = make(settings.records, rate.records)
        bytes = make(settings.bytes, rate.bytes)
    }

    /// Takes one request and what it writes from a caller's budgets, unless one is used up.
    ///
    /// - Parameters:
    ///   - count: bytes of its body; nil for a request that only reads, which no budget of what is written
    ///     holds back.
    ///   - takes: false to look only.
    ///   - weight: how often each counts.
    func admit(
        _ entry: inout RateTable.Entry, writing count: Int?, takes: Bool, weight: Int = 1,
        _ now: UInt64
    ) -> RateVerdict {
        let writes = count != nil
        if let (budget, fullAt) = nearest(entry, writes), budget.isExhausted(fullAt, now) {
            return RateVerdict(isAdmitted: false, status: budget.status(fullAt, now))
        }
        guard takes else { return RateVerdict(isAdmitted: true, status: nil) }
        if let requests { entry.requests = requests.taking(weight, from: entry.requests, now) }
        if let bytes, let count {
            entry.bytes = bytes.taking(count * weight, from: entry.bytes, now)
        }
        guard let (budget, fullAt) = nearest(entry, writes), budget.isNotable(fullAt, now) else {
            return RateVerdict(isAdmitted: true, status: nil)
        }
        return RateVerdict(isAdmitted: true, status: budget.status(fullAt, now))
    }

    /// The budget that is nearest to being used up; all take equally long to fill.
    private func nearest(
        _ entry: RateTable.Entry, _ writes: Bool
    ) -> (RateBudget, fullAt: UInt64)? {
        // Without an array: every request comes through here.
        var found: (RateBudget, fullAt: UInt64)?
        if let requests { found = (requests, entry.requests) }
        guard writes else { return found }
        if let records, entry.records > found?.fullAt ?? 0 { found = (records, entry.records) }
        if let bytes, entry.bytes > found?.fullAt ?? 0 { found = (bytes, entry.bytes) }
        return found
    }
}
