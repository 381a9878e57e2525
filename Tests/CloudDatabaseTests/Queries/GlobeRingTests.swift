import CloudModel
import Foundation
import Seeding
import Testing

@Suite("Rings around a place")
struct GlobeRingTests {
    private static let halfway = Double.pi * RecordQuery.Coordinate.earthRadius

    private static func anyCoordinate(_ random: inout SeededRandom) -> RecordQuery.Coordinate {
        RecordQuery.Coordinate(
            latitude: random.happens(20)
                ? random.one(of: [-90, 90, 0, 89.99999, -89.9])
                : .random(in: -90...90, using: &random),
            longitude: random.happens(20)
                ? random.one(of: [-180, 180, 0, 179.99999, -90])
                : .random(in: -180...180, using: &random))
    }

    /// The place that one comes to from another in a direction.
    private static func location(
        _ metres: Double, from start: RecordQuery.Coordinate, towards bearing: Double
    ) -> RecordQuery.Coordinate {
        let angle = metres / RecordQuery.Coordinate.earthRadius
        let (latitude, longitude) = (start.latitude * .pi / 180, start.longitude * .pi / 180)
        let sine =
            sin(latitude) * cos(angle) + cos(latitude) * sin(angle) * cos(bearing)
        let reached = asin(max(-1, min(1, sine)))
        let east =
            longitude
            + atan2(
                sin(bearing) * sin(angle) * cos(latitude), cos(angle) - sin(latitude) * sin(reached)
            )
        let degrees = (east * 180 / .pi + 540).truncatingRemainder(dividingBy: 360) - 180
        return RecordQuery.Coordinate(
            latitude: reached * 180 / .pi, longitude: max(-180, min(180, degrees)))
    }

    private static func mayMeet(
        _ rectangle: RecordQuery.Coordinate.Rectangle, _ centre: RecordQuery.Coordinate,
        from inner: Double,
        to outer: Double
    ) -> Bool {
        let numbers = GlobeRing(around: centre, from: inner, to: outer).numbers
        return numbers.withUnsafeBufferPointer {
            GlobeRing(numbers: $0)?.mayMeet(rectangle) ?? false
        }
    }

    @Test("A rectangle with a place of a ring meets it, at poles and the date line too")
    func whole() {
        var random = SeededRandom("rings")
        for _ in 0..<20_000 {
            let (centre, corner) = (Self.anyCoordinate(&random), Self.anyCoordinate(&random))
            // Distances from a street to the globe are equally likely.
            let location =
                random.happens(50)
                ? Self.anyCoordinate(&random)
                : Self.location(
                    50 * pow(10, Double.random(in: 0...5.6, using: &random)), from: centre,
                    towards: .random(in: 0...(2 * .pi), using: &random))
            let rectangle = RecordQuery.Coordinate.Rectangle(
                south: min(corner.latitude, location.latitude),
                north: max(corner.latitude, location.latitude),
                west: min(corner.longitude, location.longitude),
                east: max(corner.longitude, location.longitude))
            let alone = RecordQuery.Coordinate.Rectangle(
                south: location.latitude, north: location.latitude, west: location.longitude,
                east: location.longitude)
            let metres = location.distance(to: centre)
            for (inner, outer) in [(0, metres), (metres, metres), (metres, Self.halfway)] {
                for found in [rectangle, alone] {
                    #expect(
                        Self.mayMeet(found, centre, from: inner, to: outer),
                        "\(centre) \(found) \(location) LENTICULAR_SEED=\(random.seed)")
                }
            }
        }
    }

    @Test("A rectangle that is nearer than a ring or farther does not meet it")
    func beside() {
        var random = SeededRandom("beside rings")
        for _ in 0..<20_000 {
            let (centre, location) = (Self.anyCoordinate(&random), Self.anyCoordinate(&random))
            // No corner is 1,600 metres away.
            let small = RecordQuery.Coordinate.Rectangle(
                south: max(-90, location.latitude - 0.01), north: min(90, location.latitude + 0.01),
                west: max(-180, location.longitude - 0.01),
                east: min(180, location.longitude + 0.01))
            let metres = location.distance(to: centre)
            for (inner, outer) in [(0, metres - 1_600), (metres + 1_600, Self.halfway + 5_000)]
            where inner < min(outer, Self.halfway) {
                #expect(
                    !Self.mayMeet(small, centre, from: inner, to: outer),
                    "\(centre) \(location) LENTICULAR_SEED=\(random.seed)")
            }
        }
    }
}
