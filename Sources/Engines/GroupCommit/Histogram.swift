/// Counts of observations by upper bound, as metrics show them.
package struct Histogram: Sendable {
    /// The upper bounds, inclusive and ascending; what is above the last is only in `count`.
    package let bounds: [Double]
    /// How many observations fell under each bound and over the one before.
    package private(set) var counts: [UInt64]
    package private(set) var count: UInt64 = 0
    package private(set) var sum = 0.0

    package init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count)
    }

    /// Adds one observation.
    package mutating func record(_ value: Double) {
        count &+= 1
        sum += value
        if let bucket = bounds.firstIndex(where: { value <= $0 }) { counts[bucket] &+= 1 }
    }

    /// Adds the observations of another one with the same bounds.
    package mutating func add(_ other: Histogram) {
        // Bounds are constants of the program, one for each kind: no data reach this.
        precondition(bounds == other.bounds, "histograms of one kind have the same bounds")
        count &+= other.count
        sum += other.sum
        for bucket in counts.indices { counts[bucket] &+= other.counts[bucket] }
    }

    /// Bounds for times from a tenth of a millisecond to five seconds.
    package static let secondsBounds = [
        0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5,
    ]
}
