/// Something that an engine counts of itself, as metrics show it.
package struct EngineFigure: Sendable {
    package enum Value: Sendable {
        case gauge(Double)
        /// Only grows.
        case counter(Double)
        case distribution(ValueDistribution)
    }

    /// In the form of Prometheus' names, with its unit.
    package let name: String
    /// One sentence.
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
    /// How many were under each bound and over the one before; the last is what is over all of them.
    package let counts: [UInt64]
    package let sum: Double

    package init(bounds: [Double], counts: [UInt64], sum: Double) {
        self.bounds = bounds
        self.counts = counts
        self.sum = sum
    }
}
