import CloudModel
import Foundation
import Seeding
import Testing

@Suite("Rings around a place")
struct GlobeRingTests {
    private static let halfway = Double.pi * RecordQuery.Place.earthRadius

    private static func anyPlace(_ random: inout SeededRandom) -> RecordQuery.Place {
        RecordQuery.Place(
            latitude: random.happens(20)
                ? random.one(of: [-90, 90, 0, 89.99999, -89.9])
                : .random(in: -90...90, using: &random),
            longitude: random.happens(20)
                ? random.one(of: [-180, 180, 0, 179.99999, -90])
                : .random(in: -180...180, using: &random))
    }

    /// The place that one comes to from another in a direction.
    private static func place(
        _ metres: Double, from start: RecordQuery.Place, towards bearing: Double
    ) -> RecordQuery.Place {
        let angle = metres / RecordQuery.Place.earthRadius
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
        return RecordQuery.Place(
            latitude: reached * 180 / .pi, longitude: max(-180, min(180, degrees)))
    }

    private static func mayMeet(
        _ rectangle: RecordQuery.Place.Rectangle, _ centre: RecordQuery.Place, from inner: Double,
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
            let (centre, corner) = (Self.anyPlace(&random), Self.anyPlace(&random))
            // Distances from a street to the globe are equally likely.
            let place =
                random.happens(50)
                ? Self.anyPlace(&random)
                : Self.place(
                    50 * pow(10, Double.random(in: 0...5.6, using: &random)), from: centre,
                    towards: .random(in: 0...(2 * .pi), using: &random))
            let rectangle = RecordQuery.Place.Rectangle(
                south: min(corner.latitude, place.latitude),
                north: max(corner.latitude, place.latitude),
                west: min(corner.longitude, place.longitude),
                east: max(corner.longitude, place.longitude))
            let alone = RecordQuery.Place.Rectangle(
                south: place.latitude, north: place.latitude, west: place.longitude,
                east: place.longitude)
            let metres = place.distance(to: centre)
            for (inner, outer) in [(0, metres), (metres, metres), (metres, Self.halfway)] {
                for found in [rectangle, alone] {
                    #expect(
                        Self.mayMeet(found, centre, from: inner, to: outer),
                        "\(centre) \(found) \(place) LENTICULAR_SEED=\(random.seed)")
                }
            }
        }
    }

    @Test("A rectangle that is nearer than a ring or farther does not meet it")
    func beside() {
        var random = SeededRandom("beside rings")
        for _ in 0..<20_000 {
            let (centre, place) = (Self.anyPlace(&random), Self.anyPlace(&random))
            // No corner is 1,600 metres away.
            let small = RecordQuery.Place.Rectangle(
                south: max(-90, place.latitude - 0.01), north: min(90, place.latitude + 0.01),
                west: max(-180, place.longitude - 0.01), east: min(180, place.longitude + 0.01))
            let metres = place.distance(to: centre)
            for (inner, outer) in [(0, metres - 1_600), (metres + 1_600, Self.halfway + 5_000)]
            where inner < min(outer, Self.halfway) {
                #expect(
                    !Self.mayMeet(small, centre, from: inner, to: outer),
                    "\(centre) \(place) LENTICULAR_SEED=\(random.seed)")
            }
        }
    }
}
