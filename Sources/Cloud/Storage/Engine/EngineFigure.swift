/// Something that an engine counts about itself, shown as a metric.
package struct EngineFigure: Sendable {
    package enum Value: Sendable {
        case gauge(Double)
        /// Only grows.
        case counter(Double)
        case distribution(ValueDistribution)
    }

    /// The name in the form that Prometheus uses, with its unit.
    package let name: String
    /// What it counts, in one sentence.
    package let help: String
    package let value: Value

    package init(_ name: String, _ help: String, _ value: Value) {
        self.name = name
        self.help = help
        self.value = value
    }
}

/// How many observations there were of each size.
package struct ValueDistribution: Sendable {
    /// The upper bounds, inclusive and ascending.
    package let bounds: [Double]
    /// How many observations fell under each bound and over the one before; the last counts those over all
    /// bounds.
    package let counts: [UInt64]
    package let sum: Double

    package init(bounds: [Double], counts: [UInt64], sum: Double) {
        self.bounds = bounds
        self.counts = counts
        self.sum = sum
    }
}
