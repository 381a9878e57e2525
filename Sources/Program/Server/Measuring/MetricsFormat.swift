import Telemetry

/// A form of the page of metrics: takes one metric after the other.
protocol MetricsFormat {
    init()

    /// Begins a metric; its samples follow.
    mutating func metric(_ name: String, _ kind: MetricKind, _ help: String)
    mutating func sample(
        _ name: String, labels: [(name: String, value: String)], _ value: Double)
    /// - Parameter native: the same values in buckets of `LatencyScale`, where they are counted in them too.
    mutating func histogram(
        _ name: String, labels: [(name: String, value: String)], _ histogram: Distribution,
        native: LatencyHistogram?)

    /// All of it, once the last metric is whole.
    var page: [UInt8] { get }
    /// What the page is, in HTTP's words.
    static var contentType: String { get }
}

enum MetricKind: String { case counter, gauge, histogram }

extension MetricsFormat {
    /// A metric with one sample.
    mutating func single(_ name: String, _ kind: MetricKind, _ help: String, _ value: Double) {
        metric(name, kind, help)
        sample(name, labels: [], value)
    }
}
