import CloudModel

/// What happened in a container environment in some time: the points of charts, and tables beside them.
package struct TelemetryReport: Sendable {
    /// What was counted in the time of one point.
    package struct Point: Sendable {
        package let start: Milliseconds
        package let totals: TelemetryTotals
    }

    /// What was counted of one operation, or one version of a client.
    package struct Row: Sendable {
        package let name: String
        package let totals: TelemetryTotals
    }

    package let span: ChartSpan
    /// One for each part of the time, also where nothing happened.
    package let points: [Point]
    /// Of the whole time.
    package let total: TelemetryTotals
    /// The most requests first, as in the other tables.
    package let operations: [Row]
    package let databases: [Row]
    package let clients: [Row]
    package let versions: [Row]
    /// Notices by what carried them.
    package let carriers: [Row]

    /// - Parameters:
    ///   - series: of the container environment, in the span.
    ///   - operation: that alone is wanted; nil for all.
    package init(_ span: ChartSpan, of series: [SeriesRows], operation: String?) {
        self.span = span
        let requests = series.filter {
            $0.name.kind == .requests && (operation ?? $0.name.operation) == $0.name.operation
        }
        let notices = operation == nil ? series.filter { $0.name.kind == .notices } : []
        var byPoint: [Milliseconds: TelemetryTotals] = [:]
        var total = TelemetryTotals()
        for row in (requests + notices).flatMap(\.rows) where span.moments.contains(row.start) {
            let into = (row.start - span.moments.lowerBound) % span.width
            byPoint[row.start - into, default: TelemetryTotals()].add(row.totals)
            total.add(row.totals)
        }
        self.total = total
        points = span.points.map { Point(start: $0, totals: byPoint[$0] ?? TelemetryTotals()) }
        operations = Self.rows(requests) { $0.operation }
        databases = Self.rows(requests) { $0.database }
        clients = Self.rows(requests) { $0.client }
        versions =
            operation == nil
            ? Self.rows(series.filter { $0.name.kind == .versions }) {
                [$0.client, $0.version].filter { !$0.isEmpty }.joined(separator: " ")
            } : []
        carriers = Self.rows(notices) { $0.operation }
    }

    private static func rows(
        _ series: [SeriesRows], by name: (SeriesName) -> String
    ) -> [Row] {
        var totals: [String: TelemetryTotals] = [:]
        for one in series {
            for row in one.rows {
                totals[name(one.name), default: TelemetryTotals()].add(row.totals)
            }
        }
        return totals.map { Row(name: $0.key, totals: $0.value) }
            .sorted { ($1.totals.requests, $0.name) < ($0.totals.requests, $1.name) }
    }
}
