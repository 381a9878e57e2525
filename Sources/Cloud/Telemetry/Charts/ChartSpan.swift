import CloudModel

/// The time that a chart covers, and how much of it one point stands for.
package struct ChartSpan: Sendable, Equatable {
    /// A year, and what rows are kept beyond it.
    package static let hoursMax = 400 * 24
    private static let pointsMax: Int64 = 120
    private static let widthsInMinutes: [Int64] = [1, 2, 5, 15, 60, 120, 360, 1_440]

    /// Of the rows that points are made of.
    package let step: TelemetryStep
    package let width: Milliseconds
    /// Whole points.
    package let moments: Range<Milliseconds>

    /// The last so many hours.
    ///
    /// An hour has a point for each minute, a day one for a quarter of an hour, a month for six hours, a year for
    /// a day.
    package init(hours: Int, until now: Milliseconds) {
        let minutes = Int64(min(max(1, hours), Self.hoursMax)) * 60
        let width = Self.widthsInMinutes.first { minutes <= $0 * Self.pointsMax } ?? 1_440
        self.width = width * 60_000
        step =
            TelemetryStep.allCases.last {
                width * 60 >= $0.rawValue && width * 60 % $0.rawValue == 0
            }
            ?? .minute
        // The minute that goes on has no row yet; the longer ones have one.
        let begun = now - (now % self.width + self.width) % self.width
        let end = width == 1 ? begun : begun + self.width
        let count = (minutes + width - 1) / width
        moments = (end - count * self.width)..<end
    }

    package var points: [Milliseconds] {
        Array(stride(from: moments.lowerBound, to: moments.upperBound, by: Int(width)))
    }
}
