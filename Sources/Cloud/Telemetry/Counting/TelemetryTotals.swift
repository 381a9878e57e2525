/// What was counted of one series in some time.
package struct TelemetryTotals: Sendable, Equatable {
    /// Of the server alone, the network aside.
    package var latency = LatencyHistogram()
    package var microseconds: UInt64 = 0
    package var bytesIn: UInt64 = 0
    package var bytesOut: UInt64 = 0
    /// Requests that failed as a whole, by code.
    package var errors: [String: UInt64] = [:]
    /// Items of requests that failed, by code.
    package var itemFaults: [String: UInt64] = [:]
    /// Whose requests failed, as a whole or in an item.
    package var affected = UserSketch()
    package var noticesSent: UInt64 = 0
    package var noticesFailed: UInt64 = 0

    package init() {}

    package var requests: UInt64 { latency.total }

    package var errorCount: UInt64 { errors.values.reduce(0) { $0 &+ $1 } }

    /// Adds what was counted elsewhere, or at another time.
    package mutating func add(_ other: TelemetryTotals) {
        latency.add(other.latency)
        microseconds &+= other.microseconds
        bytesIn &+= other.bytesIn
        bytesOut &+= other.bytesOut
        errors.merge(other.errors) { $0 &+ $1 }
        itemFaults.merge(other.itemFaults) { $0 &+ $1 }
        affected.add(other.affected)
        noticesSent &+= other.noticesSent
        noticesFailed &+= other.noticesFailed
    }
}
