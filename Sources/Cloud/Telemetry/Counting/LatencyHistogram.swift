/// How many requests took how long, in the buckets of `LatencyScale`.
///
/// It has memory for the buckets from the first to the last that anything fell into.
package struct LatencyHistogram: Sendable, Equatable {
    /// The bucket that `counts` begins with.
    package private(set) var first = 0
    package private(set) var counts: [UInt64] = []
    package private(set) var total: UInt64 = 0

    package init() {}

    /// - Returns: nil for buckets that no histogram has.
    init?(first: Int, counts: [UInt64]) {
        guard counts.isEmpty || Self.isLegal(first) && Self.isLegal(first + counts.count - 1) else {
            return nil
        }
        self.first = first
        self.counts = counts
        total = counts.reduce(0) { $0 &+ $1 }
    }

    private static func isLegal(_ index: Int) -> Bool {
        (LatencyScale.first...LatencyScale.last).contains(index)
    }

    package mutating func record(nanoseconds: UInt64) {
        add(1, at: LatencyScale.index(nanoseconds: nanoseconds))
    }

    /// Whether it has the bucket of a time already.
    func covers(nanoseconds: UInt64) -> Bool {
        counts.indices.contains(LatencyScale.index(nanoseconds: nanoseconds) - first)
    }

    private mutating func add(_ count: UInt64, at index: Int) {
        total &+= count
        var offset = index - first
        if !counts.indices.contains(offset) {
            widen(to: index)
            offset = index - first
        }
        counts[offset] &+= count
    }

    private mutating func widen(to index: Int) {
        if counts.isEmpty {
            first = index
            counts = [0]
        } else if index < first {
            counts.insert(contentsOf: repeatElement(0, count: first - index), at: 0)
            first = index
        } else {
            let missing = index - (first + counts.count - 1)
            counts.append(contentsOf: repeatElement(0, count: missing))
        }
    }

    /// Adds what another one has counted: what comes of it is what one for both would have counted.
    package mutating func add(_ other: LatencyHistogram) {
        for (offset, count) in other.counts.enumerated() where count > 0 {
            add(count, at: other.first + offset)
        }
    }

    /// The time that a part of all requests took at most, within 4.5 %; nil where there were none.
    ///
    /// - Parameter part: such as 0.95.
    package func seconds(atQuantile part: Double) -> Double? {
        guard total > 0 else { return nil }
        let rank = max(1, UInt64((part * Double(total)).rounded(.up)))
        var passed: UInt64 = 0
        for (offset, count) in counts.enumerated() {
            passed &+= count
            if passed >= rank { return LatencyScale.middleSeconds(of: first + offset) }
        }
        return nil
    }
}
