import Telemetry

/// Builds a page of messages in Prometheus' binary form (`io.prometheus.client.MetricFamily`, each behind its length).
///
/// Native histograms can be said in no other form that Prometheus reads.
struct MetricsMessages: MetricsFormat {
    static let mediaType = "application/vnd.google.protobuf"
    static let contentType =
        "\(mediaType); proto=io.prometheus.client.MetricFamily; encoding=delimited"

    /// What is nearer to nothing counts as nothing, as Prometheus' clients say it.
    private static let zeroThreshold = 0x1p-128

    private var whole: [UInt8] = []
    private var kind = MetricKind.gauge
    private var family = Message()

    init() {}

    var page: [UInt8] {
        var page = whole
        if !family.bytes.isEmpty { page += Message.behindLength(family) }
        return page
    }

    mutating func metric(_ name: String, _ kind: MetricKind, _ help: String) {
        if !family.bytes.isEmpty { whole += Message.behindLength(family) }
        self.kind = kind
        family = Message()
        family.text(1, name)
        family.text(2, help)
        let type: UInt64 =
            switch kind {
            case .counter: 0
            case .gauge: 1
            case .histogram: 4
            }
        family.number(3, type)
    }

    mutating func sample(
        _ name: String, labels: [(name: String, value: String)], _ value: Double
    ) {
        var sample = Message()
        sample.double(1, value)
        append(labels, kind == .counter ? 3 : 2, sample)
    }

    mutating func histogram(
        _ name: String, labels: [(name: String, value: String)], _ histogram: Distribution,
        native: LatencyHistogram?
    ) {
        var message = Message()
        message.number(1, histogram.counts.reduce(0, &+))
        message.double(2, histogram.sum)
        var total: UInt64 = 0
        for (index, count) in histogram.counts.enumerated() {
            total &+= count
            var bucket = Message()
            bucket.number(1, total)
            bucket.double(
                2, index < histogram.bounds.count ? histogram.bounds[index] : .infinity)
            message.message(3, bucket)
        }
        if let native { Self.append(native, to: &message) }
        append(labels, 7, message)
    }

    private static func append(_ native: LatencyHistogram, to message: inout Message) {
        message.signed(5, Int64(LatencyScale.scale))
        message.double(6, zeroThreshold)
        guard !native.counts.isEmpty else { return }
        var span = Message()
        // Prometheus numbers a bucket by its upper end.
        span.signed(1, Int64(native.first + 1))
        span.number(2, UInt64(native.counts.count))
        message.message(12, span)
        var deltas = Message()
        var previous: UInt64 = 0
        for count in native.counts {
            deltas.zigzag(Int64(truncatingIfNeeded: count &- previous))
            previous = count
        }
        message.message(13, deltas)
    }

    private mutating func append(
        _ labels: [(name: String, value: String)], _ field: UInt64, _ value: Message
    ) {
        var metric = Message()
        for label in labels {
            var pair = Message()
            pair.text(1, label.name)
            pair.text(2, label.value)
            metric.message(1, pair)
        }
        metric.message(field, value)
        family.message(4, metric)
    }
}

/// A message of protocol buffers that is being written, field by field.
private struct Message {
    private enum Wire: UInt64 { case number = 0, double = 1, bytes = 2 }

    private(set) var bytes: [UInt8] = []

    /// A message as it stands in a file of many.
    static func behindLength(_ message: Message) -> [UInt8] {
        var length = Message()
        length.varint(UInt64(message.bytes.count))
        return length.bytes + message.bytes
    }

    mutating func number(_ field: UInt64, _ value: UInt64) {
        key(field, .number)
        varint(value)
    }

    mutating func signed(_ field: UInt64, _ value: Int64) {
        key(field, .number)
        zigzag(value)
    }

    mutating func double(_ field: UInt64, _ value: Double) {
        key(field, .double)
        withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes += $0 }
    }

    mutating func text(_ field: UInt64, _ value: String) {
        key(field, .bytes)
        varint(UInt64(value.utf8.count))
        bytes += value.utf8
    }

    mutating func message(_ field: UInt64, _ value: Message) {
        key(field, .bytes)
        varint(UInt64(value.bytes.count))
        bytes += value.bytes
    }

    /// A number of a list that stands without keys.
    mutating func zigzag(_ value: Int64) {
        varint(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    private mutating func key(_ field: UInt64, _ wire: Wire) { varint(field << 3 | wire.rawValue) }

    private mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}
