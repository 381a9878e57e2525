import CloudModel
import Storage

// Queries for places and for words.
extension StoragePromise {
    static let locations = [
        StoragePromise("Places are found within circles, and sorted by their exact distance") {
            testStore in
            let test = try TestQueries(testStore)
            let locations = (0..<300).map { (number: Int) -> RecordQuery.Coordinate in
                let (latitude, longitude) = (number * 37 % 181 - 90, number * 101 % 361 - 180)
                return RecordQuery.Coordinate(
                    latitude: Double(latitude), longitude: Double(longitude))
            }
            try test.save(
                locations.enumerated().map { number, location in
                    let json =
                        "{\"latitude\":\(location.latitude),\"longitude\":\(location.longitude)}"
                    return ("r\(number)", (json, "LOCATION"))
                })
            try test.save([("nowhere", nil)])
            for centre in [(10, 170), (-89.5, 3), (0, -180), (45, 45)].map({
                RecordQuery.Coordinate(latitude: $0.0, longitude: $0.1)
            }) {
                for metres in [1_000.0, 900_000, 3_000_000, 15_000_000] {
                    let near = try TestQueries.filter(.near, .location(centre), distance: metres)
                    let wanted = locations.indices.filter {
                        locations[$0].distance(to: centre) <= metres
                    }.map { "r\($0)" }
                    try expect(Set(test.names([near], limit: 7)), is: Set(wanted))
                }
                let nearest = try test.names(by: [TestQueries.sort(from: centre)], limit: 40)
                try expect(nearest.count == 301 && nearest.last == "nowhere")
                let distances = try nearest.dropLast().map { name in
                    locations[try require(Int(name.dropFirst()))].distance(to: centre)
                }
                try expect(distances == distances.sorted())
                let farthest = try test.names(
                    by: [TestQueries.sort(ascending: false, from: centre)], limit: 40)
                try expect(farthest, is: nearest.reversed())
            }
            let centre = locations[0]
            let here = try TestQueries.filter(.near, .location(centre), distance: 1)
            try expect(test.names([here]).contains("r0"))
            try test.save([("r0", nil)])
            try expect(!test.names([here]).contains("r0"))
        }
    ]

    static let words = [
        StoragePromise("Records are found by all of some words, or by any of them") { testStore in
            let test = try TestQueries(testStore)
            let texts = ["red green", "Green blue", "RED, blue!", "réd", "yellow", ""]
            try test.save(texts.enumerated().map { ("r\($0)", ("\"\($1)\"", "STRING")) })
            func find(_ words: String, all: Bool, limit: Int = 100) throws -> [String] {
                let wanted = Words.of(words)
                let filter = try TestQueries.filter(
                    all ? .containsAllTokens : .containsAnyTokens, .string(words))
                return try test.names([filter], words: wanted, limit: limit)
            }
            for limit in [1, 2, 100] {
                try expect(find("red", all: true, limit: limit), is: ["r0", "r2", "r3"])
                try expect(find("green blue", all: true, limit: limit), is: ["r1"])
                try expect(find("green yellow", all: false, limit: limit), is: ["r0", "r1", "r4"])
            }
            try expect(find("nothing", all: false), is: [])
            try test.save([("r0", ("\"blue\"", "STRING")), ("r2", nil)])
            try expect(find("red", all: true), is: ["r3"])
            try expect(find("blue", all: true), is: ["r0", "r1"])
        }
    ]
}
