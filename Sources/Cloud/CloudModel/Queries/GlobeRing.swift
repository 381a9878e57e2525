import Platform

/// All that is between two distances from a place, as a search of rectangles asks for it.
package struct GlobeRing: Sendable {
    /// What rounding may take from it, as an angle: more than half a metre.
    private static let slack = 1e-7
    private static let radians = Double.pi / 180

    private let longitude: Double
    /// Of the place's latitude.
    private let sine: Double
    private let cosine: Double
    /// Of the angles at which the ring begins and ends.
    private let inner: Double
    private let outer: Double

    /// - Parameters:
    ///   - inner: metres; nearer points lie outside.
    ///   - outer: metres; farther points lie outside.
    package init(around centre: RecordQuery.Coordinate, from inner: Double, to outer: Double) {
        longitude = centre.longitude
        sine = sin(centre.latitude * Self.radians)
        cosine = cos(centre.latitude * Self.radians)
        let angles = (
            inner: inner / RecordQuery.Coordinate.earthRadius - Self.slack,
            outer: outer / RecordQuery.Coordinate.earthRadius + Self.slack
        )
        // No rounding takes a cosine beyond 2.
        self.inner = angles.inner <= 0 ? 2 : cos(min(.pi, angles.inner))
        self.outer = angles.outer >= .pi ? -2 : cos(angles.outer)
    }

    /// The ring as numbers, which `init(numbers:)` reads.
    package var numbers: [Double] { [longitude, sine, cosine, inner, outer] }

    package init?(numbers: UnsafeBufferPointer<Double>) {
        guard numbers.count == 5 else { return nil }
        longitude = numbers[0]
        sine = numbers[1]
        cosine = numbers[2]
        inner = numbers[3]
        outer = numbers[4]
    }

    /// Whether a rectangle may have places of the ring.
    package func mayMeet(_ rectangle: RecordQuery.Coordinate.Rectangle) -> Bool {
        let (west, east) = (rectangle.west - longitude, rectangle.east - longitude)
        let sides = (
            abs(west.remainder(dividingBy: 360)), abs(east.remainder(dividingBy: 360))
        )
        // At any latitude what is less to the east or west is nearer.
        let least = (west / 360).rounded(.up) * 360 <= east ? 0 : min(sides.0, sides.1)
        let most =
            ((west - 180) / 360).rounded(.up) * 360 + 180 <= east ? 180 : max(sides.0, sides.1)
        let (south, north) = (rectangle.south * Self.radians, rectangle.north * Self.radians)
        let ends = (
            south: (sine: sin(south), cosine: cos(south)),
            north: (sine: sin(north), cosine: cos(north))
        )
        let near = Meridian(sine, cosine * cos(least * Self.radians))
        guard near.most(between: ends.south, and: ends.north) >= outer else { return false }
        let far = Meridian(sine, cosine * cos(most * Self.radians))
        return far.least(between: ends.south, and: ends.north) <= inner
    }

    /// The cosines of the angles from the place to those of one meridian: a wave over the latitude.
    private struct Meridian {
        typealias Latitude = (sine: Double, cosine: Double)

        private let up: Double
        private let along: Double

        init(_ up: Double, _ along: Double) {
            self.up = up
            self.along = along
        }

        private func value(_ at: Latitude) -> Double { up * at.sine + along * at.cosine }

        private func rises(_ at: Latitude) -> Bool { up * at.cosine > along * at.sine }

        private var height: Double { (up * up + along * along).squareRoot() }

        func most(between south: Latitude, and north: Latitude) -> Double {
            rises(south) && !rises(north) ? height : max(value(south), value(north))
        }

        func least(between south: Latitude, and north: Latitude) -> Double {
            !rises(south) && rises(north) ? -height : min(value(south), value(north))
        }
    }
}
