import Storage

/// Counts of values by their size, as Prometheus draws distributions from.
struct Distribution: Sendable {
    /// The upper ends of the buckets, smallest first; a last one without an end follows.
    let bounds: [Double]
    /// One more than `bounds`; each counts only its own values.
    private(set) var counts: [UInt64]
    private(set) var sum: Double = 0

    init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// From a tenth of a millisecond, which is a read without contention, to the 10 s of a stall.
    static let seconds = Distribution(bounds: [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
        5, 10,
    ])

    init(_ distribution: ValueDistribution) {
        bounds = distribution.bounds
        counts = distribution.counts
        sum = distribution.sum
    }

    mutating func record(_ value: Double) {
        let index = bounds.firstIndex { value <= $0 } ?? bounds.count
        counts[index] &+= 1
        sum += value
    }

    mutating func add(_ other: Distribution) {
        for index in counts.indices { counts[index] &+= other.counts[index] }
        sum += other.sum
    }
}
