import CloudModel
import JSON

/// A minute of telemetry as OpenTelemetry's protocol takes it over HTTP, in JSON.
///
/// Latencies go out as exponential histograms of the same scale, so that nothing is lost. Each minute tells what was
/// counted in it alone (delta temporality).
package enum OTLPMetrics {
    /// What a collector is told of who sends.
    package struct Source: Sendable {
        let version: String
        let instance: String

        /// - Parameter instance: by which several servers are told apart, such as the address of this one.
        package init(version: String, instance: String) {
            self.version = version
            self.instance = instance
        }

        var attributes: [(name: String, value: String)] {
            [
                ("service.name", "lenticular"), ("service.version", version),
                ("service.instance.id", instance),
            ]
        }
    }

    private static let delta: Int64 = 1

    /// The body of a post to `/v1/metrics`.
    ///
    /// - Parameter end: when the minute was over.
    package static func body(
        of minute: TelemetryMinute, until end: Milliseconds, from source: Source
    ) -> [UInt8] {
        let series = minute.series.sorted { "\($0.key)" < "\($1.key)" }
        let requests = series.filter { $0.key.kind == .requests }
        let notices = series.filter { $0.key.kind == .notices }
        var body = Body(start: minute.start, end: end)
        body.begin(source)
        body.histogram("lenticular.request.duration", requests)
        body.sum("lenticular.request.body.size", "By", requests.map { ($0.key, $0.value.bytesIn) })
        body.sum(
            "lenticular.response.body.size", "By", requests.map { ($0.key, $0.value.bytesOut) })
        body.sum("lenticular.request.errors", "{request}", requests, by: \.errors)
        body.sum("lenticular.item.faults", "{item}", requests, by: \.itemFaults)
        body.sum(
            "lenticular.notices.sent", "{notice}", notices.map { ($0.key, $0.value.noticesSent) })
        body.sum(
            "lenticular.notices.failed", "{notice}",
            notices.map { ($0.key, $0.value.noticesFailed) })
        return body.ended()
    }

    /// The JSON as it grows.
    private struct Body {
        private var line = JSONLine(reserving: 16_384)
        private let start: Milliseconds
        private let end: Milliseconds

        init(start: Milliseconds, end: Milliseconds) {
            self.start = start
            self.end = end
        }

        mutating func begin(_ source: Source) {
            line.beginObject()
            line.key("resourceMetrics")
            line.beginArray()
            line.beginObject()
            line.key("resource")
            line.beginObject()
            line.attributes(source.attributes)
            line.endObject()
            line.key("scopeMetrics")
            line.beginArray()
            line.beginObject()
            line.key("scope")
            line.beginObject()
            line.key("name")
            line.text("lenticular")
            line.endObject()
            line.key("metrics")
            line.beginArray()
        }

        mutating func ended() -> [UInt8] {
            line.endArray()
            line.endObject()
            line.endArray()
            line.endObject()
            line.endArray()
            line.endObject()
            return line.bytes
        }

        mutating func histogram(
            _ name: String, _ series: [(key: SeriesName, value: TelemetryTotals)]
        ) {
            metric(name, "s", "exponentialHistogram")
            for (name, totals) in series {
                point(name, code: nil)
                // Numbers of 64 bits are texts in this JSON.
                line.key("count")
                line.text("\(totals.requests)")
                line.key("sum")
                line.decimal(Double(totals.microseconds) / 1e6)
                line.key("scale")
                line.number(Int64(LatencyScale.scale))
                line.key("zeroCount")
                line.text("0")
                line.key("positive")
                line.beginObject()
                line.key("offset")
                line.number(Int64(totals.latency.first))
                line.key("bucketCounts")
                line.beginArray()
                for count in totals.latency.counts { line.text("\(count)") }
                line.endArray()
                line.endObject()
                line.endObject()
            }
            endMetric()
        }

        mutating func sum(_ name: String, _ unit: String, _ values: [(SeriesName, UInt64)]) {
            metric(name, unit, "sum")
            for (series, value) in values where value > 0 { point(series, code: nil, value) }
            endMetric(isSum: true)
        }

        mutating func sum(
            _ name: String, _ unit: String, _ series: [(key: SeriesName, value: TelemetryTotals)],
            by counts: (TelemetryTotals) -> [String: UInt64]
        ) {
            metric(name, unit, "sum")
            for (series, totals) in series {
                for (code, count) in counts(totals).sorted(by: { $0.key < $1.key }) {
                    point(series, code: code, count)
                }
            }
            endMetric(isSum: true)
        }

        private mutating func metric(_ name: String, _ unit: String, _ kind: String) {
            line.beginObject()
            line.key("name")
            line.text(name)
            line.key("unit")
            line.text(unit)
            line.key(kind)
            line.beginObject()
            line.key("dataPoints")
            line.beginArray()
        }

        private mutating func endMetric(isSum: Bool = false) {
            line.endArray()
            line.key("aggregationTemporality")
            line.number(OTLPMetrics.delta)
            if isSum {
                line.key("isMonotonic")
                line.flag(true)
            }
            line.endObject()
            line.endObject()
        }

        private mutating func point(_ series: SeriesName, code: String?, _ value: UInt64) {
            point(series, code: code)
            line.key("asInt")
            line.text("\(value)")
            line.endObject()
        }

        /// Begins a point; its caller ends it.
        private mutating func point(_ series: SeriesName, code: String?) {
            line.beginObject()
            line.attributes(
                [
                    ("container", series.container), ("environment", series.environment),
                    ("database", series.database), ("operation", series.operation),
                    ("client", series.client), ("code", code ?? ""),
                ].filter { !$0.1.isEmpty })
            line.key("startTimeUnixNano")
            line.text("\(start)000000")
            line.key("timeUnixNano")
            line.text("\(end)000000")
        }
    }
}
