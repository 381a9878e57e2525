import Foundation
import Seeding
import Telemetry
import Testing

@Suite("Latency histograms")
struct LatencyHistogramTests {
    /// Lognormal times around two milliseconds, in nanoseconds.
    private func sample(_ random: inout SeededRandom) -> UInt64 {
        let (first, second) = (
            Double.random(in: Double.leastNonzeroMagnitude...1, using: &random),
            Double.random(in: 0...1, using: &random)
        )
        let normal = (-2 * log(first)).squareRoot() * cos(2 * .pi * second)
        return UInt64(min(1e11, max(1e4, 2e6 * exp(1.4 * normal))))
    }

    @Test("Quantiles are within 4.5 % of those of the samples themselves")
    func quantiles() throws {
        var random = SeededRandom("histogram")
        for count in [1, 20, 1_000, 100_000] {
            var histogram = LatencyHistogram()
            var samples: [UInt64] = []
            for _ in 0..<count {
                let nanoseconds = sample(&random)
                samples.append(nanoseconds)
                histogram.record(nanoseconds: nanoseconds)
            }
            samples.sort()
            #expect(histogram.total == UInt64(count))
            for part in [0.5, 0.95, 0.99, 0.999, 1] {
                let rank = max(1, Int((part * Double(count)).rounded(.up)))
                let exact = Double(samples[rank - 1]) / 1e9
                let told = try #require(histogram.seconds(atQuantile: part))
                #expect(abs(told - exact) / exact < 0.045, "\(count) \(part) \(told) \(exact)")
            }
        }
    }

    @Test("A time falls into the bucket whose bounds are around it, as a logarithm would find it")
    func bounds() {
        var random = SeededRandom("buckets")
        for _ in 0..<200_000 {
            let nanoseconds = UInt64(exp2(Double.random(in: 10...39, using: &random)))
            let index = LatencyScale.index(nanoseconds: nanoseconds)
            let seconds = Double(nanoseconds) / 1e9
            #expect(seconds <= LatencyScale.upperSeconds(of: index) * (1 + 1e-12))
            #expect(seconds > LatencyScale.upperSeconds(of: index - 1) * (1 - 1e-12))
        }
        // A power of two ends its bucket, and does not begin the next.
        #expect(LatencyScale.index(nanoseconds: 1_000_000_000) == -1)
        #expect(LatencyScale.index(nanoseconds: 500_000_000) == -9)
        #expect(LatencyScale.index(nanoseconds: 0) == LatencyScale.first)
        #expect(LatencyScale.index(nanoseconds: .max) == LatencyScale.last)
    }

    @Test("Two histograms together are the histogram of all samples")
    func sum() {
        var random = SeededRandom("sum")
        for _ in 0..<50 {
            var (left, right, all) = (LatencyHistogram(), LatencyHistogram(), LatencyHistogram())
            for _ in 0..<Int.random(in: 0...300, using: &random) {
                let nanoseconds = sample(&random)
                all.record(nanoseconds: nanoseconds)
                if Bool.random(using: &random) {
                    left.record(nanoseconds: nanoseconds)
                } else {
                    right.record(nanoseconds: nanoseconds)
                }
            }
            left.add(right)
            #expect(left == all)
        }
    }

    @Test("Nothing has no quantile")
    func empty() { #expect(LatencyHistogram().seconds(atQuantile: 0.5) == nil) }
}

@Suite("Sketches of users")
struct UserSketchTests {
    @Test("A sketch tells about how many users there were, and a union counts nobody twice")
    func counts() {
        var random = SeededRandom("users")
        let hash = UserHash(key: random.next())
        for count in [0, 1, 5, 50, 500, 5_000, 100_000] {
            var (first, second) = (UserSketch(), UserSketch())
            for number in 0..<count {
                first.record(hash.of("_\(number)"))
                if number % 2 == 0 { second.record(hash.of("_\(number)")) }
            }
            // Three standard deviations.
            let allowed = max(1, Double(count) * 0.2)
            #expect(abs(Double(first.count - count)) <= allowed, "\(count) \(first.count)")
            var both = first
            both.add(second)
            #expect(both == first)
        }
    }
}

@Suite("The form in which totals are kept")
struct TotalsCodingTests {
    private func totals(_ random: inout SeededRandom) -> TelemetryTotals {
        var totals = TelemetryTotals()
        for _ in 0..<Int.random(in: 0...400, using: &random) {
            totals.latency.record(nanoseconds: .random(in: 0...5_000_000_000, using: &random))
        }
        totals.bytesIn = .random(in: 0 ... .max, using: &random)
        totals.microseconds = .random(in: 0...900, using: &random)
        totals.noticesFailed = .random(in: 0...3, using: &random)
        for code in ["CONFLICT", "", "é"] where Bool.random(using: &random) {
            totals.errors[code] = .random(in: 1...1_000_000, using: &random)
            totals.itemFaults["I" + code] = 7
        }
        for _ in 0..<[0, 3, 5_000][Int.random(in: 0...2, using: &random)] {
            totals.affected.record(random.next())
        }
        return totals
    }

    @Test("Totals come back as they were put away")
    func roundTrip() {
        var random = SeededRandom("totals")
        for _ in 0..<300 {
            let totals = totals(&random)
            let bytes = totals.encoded
            #expect(bytes.withUnsafeBytes { TelemetryTotals(encoded: $0) } == totals)
        }
    }

    @Test("Bytes that are cut, changed or added to are refused or read, and never end the process")
    func damage() {
        var random = SeededRandom("damage")
        for _ in 0..<100 {
            var bytes = totals(&random).encoded
            for cut in stride(from: 0, to: bytes.count, by: 7) {
                #expect(bytes.prefix(cut).withUnsafeBytes { TelemetryTotals(encoded: $0) } == nil)
            }
            #expect((bytes + [0]).withUnsafeBytes { TelemetryTotals(encoded: $0) } == nil)
            for _ in 0..<50 {
                let at = Int.random(in: bytes.indices, using: &random)
                bytes[at] = .random(in: 0 ... .max, using: &random)
                _ = bytes.withUnsafeBytes { TelemetryTotals(encoded: $0) }
            }
        }
    }
}
