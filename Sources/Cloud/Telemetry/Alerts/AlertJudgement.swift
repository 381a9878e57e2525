import CloudModel

/// What an alert says of the time that has just passed.
package struct AlertJudgement: Sendable, Equatable {
    package let moments: Range<Milliseconds>
    /// Nil where nothing was counted that says how much it is.
    package let value: Double?
    /// What the time before had, of a relative alert.
    package let before: Double?
    /// What the value was compared with; nil where there was nothing to compare.
    package let limit: Double?

    /// Looks at what is kept.
    package init(_ rule: AlertRule, in storage: any TelemetryStorage, at now: Milliseconds) throws {
        let step: TelemetryStep = rule.minutes < 120 ? .minute : .quarterHour
        let length = Milliseconds(rule.minutes) * 60_000
        let end = step.start(of: now)
        moments = (end - length)..<end
        value = try Self.value(rule, in: storage, step, moments)
        guard rule.isRelative else {
            (before, limit) = (nil, rule.threshold)
            return
        }
        let before = try Self.value(rule, in: storage, step, (end - 2 * length)..<(end - length))
        self.before = before
        // Nothing is so many percent above nothing.
        limit = before.flatMap { before in
            before > 0 ? before * (1 + (rule.isAbove ? 1 : -1) * rule.threshold / 100) : nil
        }
    }

    /// Whether there is something to tell.
    package func isMet(by rule: AlertRule) -> Bool {
        guard let value, let limit else { return false }
        return rule.isAbove ? value > limit : value < limit
    }

    private static func value(
        _ rule: AlertRule, in storage: any TelemetryStorage, _ step: TelemetryStep,
        _ moments: Range<Milliseconds>
    ) throws -> Double? {
        let filter = rule.filter
        let series = try storage.rows(
            RowQuestion(
                rule.metric == .noticesFailed ? [.notices] : [.requests],
                of: filter.container.isEmpty ? nil : filter.container,
                in: filter.environment.isEmpty ? nil : filter.environment, step: step,
                moments: moments))
        var total = TelemetryTotals()
        for one in series where filter.takes(one.name) {
            for row in one.rows where moments.contains(row.start) { total.add(row.totals) }
        }
        return rule.metric.value(of: total, code: filter.code)
    }
}
