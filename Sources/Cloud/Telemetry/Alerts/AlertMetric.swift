/// What an alert looks at.
package enum AlertMetric: String, Sendable, CaseIterable {
    case requests, errors
    /// Of requests, in percent.
    case errorRate = "error-rate"
    /// Of latencies, in milliseconds.
    case p50, p95, p99
    case usersAffected = "users-affected"
    case bytesIn = "bytes-in"
    case bytesOut = "bytes-out"
    case noticesFailed = "notices-failed"

    /// What a series has of it; nil where nothing says how much it is.
    ///
    /// - Parameter code: of the errors that count; empty for all.
    package func value(of totals: TelemetryTotals, code: String) -> Double? {
        switch self {
        case .requests: Double(totals.requests)
        case .errors: Double(errors(totals, code))
        case .errorRate:
            totals.requests == 0
                ? nil : Double(errors(totals, code)) / Double(totals.requests) * 100
        case .p50: totals.latency.seconds(atQuantile: 0.5).map { $0 * 1_000 }
        case .p95: totals.latency.seconds(atQuantile: 0.95).map { $0 * 1_000 }
        case .p99: totals.latency.seconds(atQuantile: 0.99).map { $0 * 1_000 }
        case .usersAffected: Double(totals.affected.count)
        case .bytesIn: Double(totals.bytesIn)
        case .bytesOut: Double(totals.bytesOut)
        case .noticesFailed: Double(totals.noticesFailed)
        }
    }

    private func errors(_ totals: TelemetryTotals, _ code: String) -> UInt64 {
        code.isEmpty ? totals.errorCount : totals.errors[code] ?? 0
    }
}
