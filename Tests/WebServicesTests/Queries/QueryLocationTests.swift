import Foundation
import Seeding
import Testing

/// NEAR and sorting by distance, where the globe is not a plane.
@Suite("Locations in queries")
struct QueryLocationTests {
    private let ida: WireClient

    init() throws {
        ida = try WireServer().user()
        try ida.make("Shelf")
    }

    private func save(_ locations: [(Double, Double)]) throws {
        let answer = try ida.modify(
            locations.enumerated().map { index, location in
                operation(
                    "create", "p\(index)",
                    fields:
                        "{\"spot\":{\"value\":{\"latitude\":\(location.0),\"longitude\":\(location.1)}}}"
                )
            })
        guard answer.records.allSatisfy({ $0.code == nil }) else { throw WireFailure(answer.text) }
    }

    private func near(_ location: (Double, Double), _ metres: Double) throws -> [Int] {
        let filter = PlainFilter(
            field: "spot", comparator: "NEAR",
            value: .location(latitude: location.0, longitude: location.1), distance: metres)
        return try ida.names(filters: [filter.json()]).compactMap { Int($0.dropFirst()) }.sorted()
    }

    @Test("Circles reach over the date line, over poles and around the whole globe")
    func circles() throws {
        try save([
            (0, 179.999), (0, -179.999), (0, 0), (89.999, 0), (89.999, 180), (-90, 55), (90, -120),
            (52.52, 13.405), (48.8566, 2.3522), (0, 180), (0, -180),
        ])
        // A degree along the equator is 111,195 metres.
        #expect(try near((0, 180), 112) == [0, 1, 9, 10])
        #expect(try near((0, -180), 112) == [0, 1, 9, 10])
        #expect(try near((0, 179.9985), 100) == [0])
        #expect(try near((0, -179.9985), 200) == [1, 9, 10])
        #expect(try near((90, 0), 112) == [3, 4, 6])
        #expect(try near((89.999, 90), 158) == [3, 4, 6])
        #expect(try near((89.999, 90), 100) == [])
        #expect(try near((-90, 0), 0.001) == [5])
        #expect(try near((0, 0), 0) == [2])
        // A pole has every longitude, the date line two.
        #expect(try near((90, 17), 0) == [6])
        #expect(try near((-90, 17), 0) == [5])
        #expect(try near((0, 180), 0) == [9, 10])
        #expect(try near((0, -180), 0) == [9, 10])
        #expect(try near((0, 0), 20_016_000) == Array(0...10))
        #expect(try near((0, 0), 1e300) == Array(0...10))
        // Berlin and Paris are 877 or 878 kilometres apart.
        #expect(try near((52.52, 13.405), 877_000) == [7])
        #expect(try near((52.52, 13.405), 878_500) == [7, 8])
    }

    @Test(
        "Records are sorted by distance, nearest or farthest first, those without a place at the far end"
    )
    func distanceOrder() throws {
        try save([(0, 179), (0, -179.5), (10, 180), (0, 0), (-90, 0), (0, 180)])
        try ida.save("none")
        let sort = { (ascending: Bool) in
            "{\"fieldName\":\"spot\",\"ascending\":\(ascending),\"relativeLocation\":{\"latitude\":0,\"longitude\":180}}"
        }
        let nearest = ["p5", "p1", "p0", "p2", "p4", "p3", "none"]
        for limit in [nil, 1, 2] {
            #expect(try ida.names(sorts: [sort(true)], limit: limit) == nearest)
            #expect(try ida.names(sorts: [sort(false)], limit: limit) == nearest.reversed())
        }
    }

    @Test("Places at one pole are equally far, and so are those on either side of the date line")
    func sameLocations() throws {
        try save([(90, 120), (0, -180), (90, -60), (0, 180), (90, 0)])
        let sort = { (latitude: Int, longitude: Int) in
            "{\"fieldName\":\"spot\",\"relativeLocation\":{\"latitude\":\(latitude),\"longitude\":\(longitude)}}"
        }
        for limit in [nil, 1, 2] {
            #expect(
                try ida.names(sorts: [sort(90, 33)], limit: limit)
                    == ["p0", "p2", "p4", "p1", "p3"])
            #expect(
                try ida.names(sorts: [sort(0, 180)], limit: limit)
                    == ["p1", "p3", "p0", "p2", "p4"])
            #expect(
                try ida.names(sorts: [sort(0, -180)], limit: limit)
                    == ["p1", "p3", "p0", "p2", "p4"])
        }
    }

    @Test("Circles and nearest places are found among random ones as by vectors")
    func random() throws {
        var random = SeededRandom("places")
        var locations: [(Double, Double)] = []
        for _ in 0..<180 {
            let location = RandomValues.location(&random)
            locations.append((location.latitude, location.longitude))
        }
        try save(locations)
        for _ in 0..<100 {
            let centre = RandomValues.location(&random)
            let metres = RandomValues.metres(&random)
            let distances = locations.map {
                PlainGlobe.metres($0, (centre.latitude, centre.longitude))
            }
            guard distances.allSatisfy({ abs($0 - metres) > 1 }) else { continue }
            let inside = distances.indices.filter { distances[$0] < metres }
            #expect(
                try near((centre.latitude, centre.longitude), metres) == inside,
                "\(centre) \(metres) LENTICULAR_SEED=\(random.seed)")
        }
    }

    @Test(
        "Circles come in order of the distance from their own and from another centre, page by page"
    )
    func sortedCircles() throws {
        var random = SeededRandom("sorted circles")
        var locations: [(Double, Double)] = []
        for _ in 0..<180 {
            let location = RandomValues.location(&random)
            locations.append((location.latitude, location.longitude))
        }
        try save(locations)
        try ida.save("none")
        for round in 0..<60 {
            let centre = RandomValues.location(&random)
            let origin = round.isMultiple(of: 3) ? RandomValues.location(&random) : centre
            let metres = RandomValues.metres(&random)
            let ascending = random.happens(50)
            let from = { (here: (latitude: Double, longitude: Double)) in
                locations.map { PlainGlobe.metres($0, here) }
            }
            let (distances, sorted) = (from(centre), from(origin))
            guard distances.allSatisfy({ abs($0 - metres) > 1 }) else { continue }
            let inside = distances.indices.filter { distances[$0] < metres }
            let filter = PlainFilter(
                field: "spot", comparator: "NEAR",
                value: .location(latitude: centre.latitude, longitude: centre.longitude),
                distance: metres
            ).json()
            let sort = PlainSort(field: "spot", ascending: ascending, from: origin).json
            let got = try ida.names(
                filters: [filter], sorts: [sort], limit: random.one(of: [3, 17, 200])
            ).compactMap { Int($0.dropFirst()) }
            let request = "\(filter) \(sort) LENTICULAR_SEED=\(random.seed)"
            #expect(got.sorted() == inside, "\(request)")
            for (left, right) in zip(got, got.dropFirst()) {
                let ahead = sorted[right] - sorted[left]
                #expect((ascending ? ahead : -ahead) > -1, "\(left), \(right): \(request)")
            }
        }
    }
}
