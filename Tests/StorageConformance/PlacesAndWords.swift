import CloudModel
import Storage

// Indexes of places and of words.
extension StoragePromise {
    static let places = [
        StoragePromise("Places are found by rectangles and rings, and exactly by their record") {
            trial in
            let test = try IndexTrial(trial)
            let places = (0..<300).map { (number: Int) -> RecordQuery.Place in
                let (latitude, longitude) = (number * 37 % 181 - 90, number * 101 % 361 - 180)
                return RecordQuery.Place(
                    latitude: Double(latitude), longitude: Double(longitude))
            }
            try test.save(
                places.enumerated().map { number, place in
                    let json = "{\"latitude\":\(place.latitude),\"longitude\":\(place.longitude)}"
                    return ("r\(number)", (json, "LOCATION"))
                })
            try test.save([("nowhere", nil)])
            let index = try test.prepare(.places)
            let zone = test.zone.number
            var names: [RecordNumber: String] = [:]
            for number in places.indices { names[try test.number("r\(number)")] = "r\(number)" }
            try trial.read { snapshot in
                let reader = snapshot.indexReader
                let box = RecordQuery.Place.Rectangle(south: -30, north: 20, west: -50, east: 60)
                let inBox = try reader.places(of: index, in: zone, box, limit: 1_000)
                let wanted = places.enumerated().filter { _, place in
                    (-30...20).contains(place.latitude) && (-50...60).contains(place.longitude)
                }
                let found = Set(inBox.compactMap { names[$0.record] })
                try expect(found.isSuperset(of: wanted.map { "r\($0.offset)" }))
                for placed in inBox {
                    let exact = try require(reader.place(of: placed.record, in: index))
                    try expect(
                        exact.distance(to: placed.place) <= PlacedRecord.metresOff)
                    try expect("r\(places.firstIndex(of: exact) ?? -1)" == names[placed.record])
                }
                let centre = RecordQuery.Place(latitude: 10, longitude: 170)
                let ring = GlobeRing(around: centre, from: 1_000_000, to: 3_000_000)
                let inRing = Set(
                    try reader.places(of: index, in: zone, ring, limit: 1_000).compactMap {
                        names[$0.record]
                    })
                for (number, place) in places.enumerated() {
                    let metres = place.distance(to: centre)
                    if metres > 1_000_100, metres < 2_999_900 {
                        try expect(inRing.contains("r\(number)"), "\(metres) m")
                    }
                    if metres < 900_000 || metres > 3_100_000 {
                        try expect(!inRing.contains("r\(number)"), "\(metres) m")
                    }
                }
                try expect(
                    reader.places(of: index, in: zone, box, limit: 3).count, is: 3)
                let elsewhere = ZoneNumber(zone.value + 1)
                try expect(reader.places(of: index, in: elsewhere, box, limit: 9).isEmpty)
            }
            let absent = IndexRange.absent(index: index, zone: zone)
            try expect(test.names(absent), is: ["nowhere"])
            try test.save([("r0", nil)])
            let moved = try test.number("r0")
            try expect(trial.read { try $0.indexReader.place(of: moved, in: index) } == nil)
        }
    ]

    /// Texts and the words that every engine finds in them.
    private static let texts: [(text: String, words: Set<String>)] = [
        ("", []), ("  ... --- !", []), ("one", ["one"]), ("One, two; TWO", ["one", "two"]),
        ("it's", ["it", "s"]), ("a1b2 3c", ["a1b2", "3c"]), ("été ÉTÉ Ete", ["ete"]),
        ("Straße", ["straße"]), ("naïve café", ["naive", "cafe"]), ("Ünïcödé", ["unicode"]),
        ("Привет МИР", ["привет", "мир"]), ("ёлка", ["елка"]),
        ("Ἑλλάς Ελλάδα", ["ελλασ", "ελλαδα"]),
        ("snake_case kebab-case", ["snake", "case", "kebab"]),
        ("x@y.example", ["x", "y", "example"]),
        ("日本語 text", ["日本語", "text"]), ("😀 smile", ["smile"]),
        (String(repeating: "a", count: 70), [String(repeating: "a", count: 64)]),
        (String(repeating: "я", count: 40), [String(repeating: "я", count: 32)]),
    ]

    static let words = [
        StoragePromise("A text has the same words in every engine") { trial in
            try trial.read { snapshot in
                for (text, words) in texts {
                    let found = try snapshot.indexReader.words(in: text)
                    try expect(
                        Set(found.map { String(decoding: $0, as: UTF8.self) }), is: words)
                    try expect(found.count, is: words.count)
                }
            }
        },
        StoragePromise("Records are found by all of some words, or by any of them") { trial in
            let test = try IndexTrial(trial)
            let texts = ["red green", "Green blue", "RED, blue!", "réd", "yellow", ""]
            try test.save(texts.enumerated().map { ("r\($0)", ("\"\($1)\"", "STRING")) })
            let index = try test.prepare(.words)
            func find(
                _ words: String, all: Bool, after: RecordNumber = RecordNumber(0), limit: Int = 100
            ) throws -> [String] {
                try trial.read { snapshot in
                    let search = WordSearch(
                        words: try snapshot.indexReader.words(in: words), needsAll: all)
                    return try snapshot.indexReader.records(
                        of: index, in: test.zone.number, with: search, after: after, limit: limit
                    ).map { try require(snapshot.place(of: $0)).name.text }
                }
            }
            try expect(find("red", all: true), is: ["r0", "r2", "r3"])
            try expect(find("green blue", all: true), is: ["r1"])
            try expect(find("green yellow", all: false), is: ["r0", "r1", "r4"])
            try expect(find("nothing", all: false), is: [])
            try expect(find("red", all: true, after: test.number("r0"), limit: 1), is: ["r2"])
            try test.save([("r0", ("\"blue\"", "STRING")), ("r2", nil)])
            try expect(find("red", all: true), is: ["r3"])
            try expect(find("blue", all: true), is: ["r0", "r1"])
        },
    ]
}
