import Telemetry

/// Builds a page in Prometheus' text format, version 0.0.4.
struct MetricsText: MetricsFormat {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var page: [UInt8] = []

    init() {}

    mutating func metric(_ name: String, _ kind: MetricKind, _ help: String) {
        append("# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n")
    }

    mutating func sample(
        _ name: String, labels: [(name: String, value: String)], _ value: Double
    ) {
        append("\(name)\(form(of: labels)) \(form(of: value))\n")
    }

    /// Native buckets cannot be said in this format.
    mutating func histogram(
        _ name: String, labels: [(name: String, value: String)], _ histogram: Distribution,
        native: LatencyHistogram?
    ) {
        var total: UInt64 = 0
        for (index, count) in histogram.counts.enumerated() {
            total &+= count
            let bound =
                index < histogram.bounds.count ? form(of: histogram.bounds[index]) : "+Inf"
            sample("\(name)_bucket", labels: labels + [("le", bound)], Double(total))
        }
        sample("\(name)_sum", labels: labels, histogram.sum)
        sample("\(name)_count", labels: labels, Double(total))
    }

    private func form(of labels: [(name: String, value: String)]) -> String {
        guard !labels.isEmpty else { return "" }
        let pairs = labels.map { label in
            var value = ""
            for character in label.value.unicodeScalars {
                switch character {
                case "\\": value += "\\\\"
                case "\"": value += "\\\""
                case "\n": value += "\\n"
                default: value.unicodeScalars.append(character)
                }
            }
            return "\(label.name)=\"\(value)\""
        }
        return "{" + pairs.joined(separator: ",") + "}"
    }

    private func form(of value: Double) -> String {
        if let whole = Int64(exactly: value) { return String(whole) }
        if value.isNaN { return "NaN" }
        return value.isInfinite ? (value < 0 ? "-Inf" : "+Inf") : value.description
    }

    private mutating func append(_ text: String) { page.append(contentsOf: text.utf8) }
}
