import Foundation
import Telemetry
import Testing

@Suite("Telemetry in OpenTelemetry's form")
struct OTLPMetricsTests {
    @Test("A minute is JSON of the protocol's form, and its histograms lose nothing")
    func form() throws {
        var totals = TelemetryTotals.of(7, milliseconds: 3)
        totals.latency.record(nanoseconds: 900_000_000)
        totals.microseconds = 921_000
        totals.errors = ["CONFLICT": 2]
        let name = SeriesName(
            .requests, container: "icloud.\"a", environment: "production", operation: "o")
        let body = OTLPMetrics.body(
            of: TelemetryMinute(start: 60_000, series: [name: totals]), until: 120_000,
            from: OTLPMetrics.Source(version: "1", instance: "https://a.example"))
        let json = try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
        let resource = try #require((json?["resourceMetrics"] as? [[String: Any]])?.first)
        let scope = try #require((resource["scopeMetrics"] as? [[String: Any]])?.first)
        let metrics = try #require(scope["metrics"] as? [[String: Any]])
        let duration = try #require(metrics.first)
        #expect(duration["name"] as? String == "lenticular.request.duration")
        let histogram = try #require(duration["exponentialHistogram"] as? [String: Any])
        #expect(histogram["aggregationTemporality"] as? Int == 1)
        let point = try #require((histogram["dataPoints"] as? [[String: Any]])?.first)
        #expect(point["count"] as? String == "8" && point["scale"] as? Int == 3)
        #expect(point["sum"] as? Double == 0.921)
        #expect(point["startTimeUnixNano"] as? String == "60000000000")
        let positive = try #require(point["positive"] as? [String: Any])
        let counts = try #require(positive["bucketCounts"] as? [String]).compactMap { UInt64($0) }
        #expect(counts == totals.latency.counts)
        let offset = try #require(positive["offset"] as? Int)
        #expect(offset == LatencyScale.index(nanoseconds: 3_000_000))
        let errors = metrics.first { $0["name"] as? String == "lenticular.request.errors" }
        let sums = (errors?["sum"] as? [String: Any])?["dataPoints"] as? [[String: Any]]
        #expect(sums?.first?["asInt"] as? String == "2")
    }
}
