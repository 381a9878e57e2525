#if PostgreSQL
    import CloudModel
    import Foundation
    import PostgreSQLStorage
    import SQLiteStorage
    import Seeding
    import Storage
    import StorageConformance
    import Testing

    /// Two stores in two engines that are told the same.
    private final class TwoStores {
        let stores: [any Store]
        private let sqlite: SQLiteStore
        private(set) var zones: [[StoredZone]] = [[], []]
        let type: Int64
        private let location: PostgreSQLLocation
        private let folder: URL

        static let typeName = RecordTypeName("Note")

        init() throws {
            location = try PostgreSQLLocation()
            folder = FileManager.default.temporaryDirectory.appending(
                path: "queries-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            var options = SQLiteStore.Options(
                clock: TestClock().clock,
                random: { count in (0..<count).map { _ in .random(in: 0...255) } })
            options.readers.snapshotSecondsMax = 600
            let path = folder.appending(path: "store.sqlite").path
            sqlite = try SQLiteStore(path: path, options: options, onIndeterminate: { _ in })
            stores = [sqlite, try location.openPostgreSQLStore()]
            let typeName = try #require(Self.typeName)
            let names = try ["One", "Two"].map { try #require(ZoneName($0)) }
            let user = try #require(UserRecordName("_00000000000000000000000000000001"))
            for (index, store) in stores.enumerated() {
                zones[index] = try store.writeAndWait { transaction in
                    var schema = try transaction.schema
                    schema.types[typeName] = Schema.RecordType()
                    try transaction.replaceSchema(by: schema, who: "trial", difference: ["+"])
                    return try names.map {
                        try transaction.makeZone(named: $0, ofOwnerNamed: user)
                    }
                }
            }
            type = try #require(stores[0].read { try $0.schema.types[typeName]?.number })
            #expect(try stores[1].read { try $0.schema.types[typeName]?.number } == type)
        }

        func end() throws {
            #expect(try location.problems() == [])
            sqlite.close()
            location.remove()
            try FileManager.default.removeItem(at: folder)
        }

        /// Saves records, or deletes those without a body, in one write.
        func save(_ records: [(name: String, zone: Int, body: [UInt8]?)]) throws {
            for (store, zones) in zip(stores, zones) {
                let type = type
                try store.writeAndWait { transaction in
                    for record in records {
                        let name = try #require(RecordName(record.name))
                        let zone = zones[record.zone]
                        let head = try transaction.head(of: name, in: zone.number)
                        var (bytes, isAlive) = (0, false)
                        try transaction.current(of: [name], in: zone.number, inOrder: false) {
                            isAlive = !$1.flags.contains(.tombstone)
                            bytes = isAlive ? $1.body.count : 0
                            return true
                        }
                        _ = try transaction.save(
                            NewVersion(
                                zone: zone, name: name, position: transaction.takePosition(),
                                previous: head, previousBytes: bytes, previousIsAlive: isAlive,
                                type: type, flags: record.body == nil ? .tombstone : [],
                                body: record.body
                                    ?? Array(#"{"recordName":"\#(record.name)"}"#.utf8)
                            ))
                    }
                }
            }
        }

        /// The names on each page of a query, or what it is refused with.
        func pages(
            _ query: RecordQuery, in chosen: [Int], words: [Int: [[UInt8]]], limit: Int,
            of engine: Int
        ) throws -> [[String]] {
            func ask(_ start: QueryCursor?) -> StoreQuery {
                StoreQuery(
                    query, type: type, zones: chosen.map { zones[engine][$0] }, sight: .all,
                    words: words, start: start, limit: limit, bytesMax: .max,
                    bounds: QueryBounds(
                        recordsMax: 1_000_000, millisecondsMax: 600_000, sharedRecordsMax: 100))
            }
            return try stores[engine].readWithIndexes { snapshot in
                var (pages, start): ([[String]], QueryCursor?) = ([], nil)
                repeat {
                    var records: [RecordNumber] = []
                    start = try snapshot.page(of: ask(start)) { records.append($0.record) }
                    pages.append(
                        try records.map { try #require(try snapshot.location(of: $0)).name.text })
                } while start != nil
                return pages
            }
        }
    }

    /// Random records and queries, in which every kind of value comes, and the longest ones.
    private struct Wanderer {
        var random: SeededRandom

        private static let words = [
            "red", "Green", "BLUE", "été", "naïve", "Привет", "日本", "x1", "",
        ]

        private mutating func text() -> String {
            switch random.below(9) {
            case 0: ""
            case 1: "\u{0}" + random.one(of: Self.words)
            case 2: String(repeating: "long", count: 124 + random.below(4)) + "tail"
            case 3: String(repeating: "я", count: 250) + random.one(of: Self.words)
            case 4: "\u{FFFD}\u{10FFFF}" + random.one(of: Self.words)
            default: random.one(of: Self.words) + " " + random.one(of: Self.words)
            }
        }

        private mutating func whole() -> Int64 {
            random.one(of: [
                .max, .max - 1, .min, 0, 1, -1, 1 << 53, 1 << 53 + 1, -(1 << 53) - 1,
                Int64(random.below(20)),
            ])
        }

        private mutating func real() -> Double {
            random.one(of: [
                -0.0, 0, 0.5, -0.5, 0x1p53, 0x1p62, -0x1p63, 1e300, -1e300, 1e-300,
                Double(random.below(20)),
            ])
        }

        private mutating func coordinate() -> RecordQuery.Coordinate {
            random.one(of: [
                RecordQuery.Coordinate(latitude: 90, longitude: 0),
                RecordQuery.Coordinate(latitude: -90, longitude: 180),
                RecordQuery.Coordinate(latitude: 0, longitude: -180),
                RecordQuery.Coordinate(latitude: -0.0, longitude: 179.999_999),
                RecordQuery.Coordinate(
                    latitude: Double(random.below(181)) - 90,
                    longitude: Double(random.below(361)) - 180),
                RecordQuery.Coordinate(
                    latitude: 48 + Double(random.below(1_000)) / 1e5,
                    longitude: 16 + Double(random.below(1_000)) / 1e5),
            ])
        }

        private static func json(_ text: String) -> String {
            "\"" + text.replacing("\u{0}", with: "\\u0000") + "\""
        }

        private static func json(_ place: RecordQuery.Coordinate) -> String {
            "{\"latitude\":\(place.latitude),\"longitude\":\(place.longitude)}"
        }

        mutating func body(_ name: String) -> [UInt8] {
            var fields: [String] = []
            func add(_ field: String, _ json: String, _ type: String) {
                fields.append("\"\(field)\":{\"value\":\(json),\"type\":\"\(type)\"}")
            }
            if random.happens(80) { add("text", Self.json(text()), "STRING") }
            if random.happens(80) { add("whole", "\(whole())", "INT64") }
            if random.happens(80) { add("real", "\(real())", "DOUBLE") }
            if random.happens(80) { add("place", Self.json(coordinate()), "LOCATION") }
            if random.happens(80) {
                let texts = (0..<random.below(4)).map { _ in Self.json(text()) }
                add("texts", "[\(texts.joined(separator: ","))]", "STRING_LIST")
            }
            if random.happens(80) {
                let numbers = (0..<random.below(4)).map { _ in "\(whole())" }
                add("numbers", "[\(numbers.joined(separator: ","))]", "INT64_LIST")
            }
            if random.happens(50) {
                if random.happens(50) {
                    add("mixed", "\(real())", "DOUBLE")
                } else {
                    add("mixed", "\(whole())", "INT64")
                }
            }
            return Array(
                """
                {"recordName":"\(name)","created":{"timestamp":\(random.below(50)),\
                "userRecordName":"_a"},"fields":{\(fields.joined(separator: ","))}}
                """.utf8)
        }

        private mutating func filter() -> (RecordQuery.Filter, words: String?) {
            let compared: [RecordQuery.Comparator] = [
                .equals, .notEquals, .lessThan, .lessThanOrEquals, .greaterThan,
                .greaterThanOrEquals,
            ]
            func make(
                _ field: String, _ comparator: RecordQuery.Comparator,
                _ value: RecordQuery.Value, _ type: FieldType.Element, distance: Double? = nil
            ) -> RecordQuery.Filter {
                RecordQuery.Filter(
                    subject: Self.subject(field), comparator: comparator, type: FieldType(type),
                    value: value, distance: distance)
            }
            switch random.below(8) {
            case 0:
                return (make("text", random.one(of: compared), .string(text()), .string), nil)
            case 1:
                let comparator = random.one(of: [RecordQuery.Comparator.beginsWith, .notBeginsWith])
                let start = String(text().prefix(random.below(3)))
                return (make("text", comparator, .string(start), .string), nil)
            case 2:
                let field = random.one(of: ["whole", "real", "mixed"])
                let value: RecordQuery.Value =
                    random.happens(50) ? .int64(whole()) : .double(real())
                return (make(field, random.one(of: compared), value, .double), nil)
            case 3:
                let comparator = random.one(of: [RecordQuery.Comparator.in, .notIn])
                let members = (0..<random.below(4)).map { _ in RecordQuery.Value.int64(whole()) }
                return (make("whole", comparator, .list(members), .int64), nil)
            case 4:
                let metres = random.one(of: [0.0, 1, 50, 500, 1e5, 5e6, 2.1e7])
                return (
                    make("place", .near, .location(coordinate()), .location, distance: metres), nil
                )
            case 5:
                let comparator = random.one(
                    of: [RecordQuery.Comparator.containsAllTokens, .containsAnyTokens])
                let words = text() + " " + random.one(of: Self.words)
                let field = random.one(of: ["text", "texts"])
                return (make(field, comparator, .string(words), .string), words)
            case 6:
                let comparator = random.one(of: [
                    RecordQuery.Comparator.listContains, .notListContains, .listMemberBeginsWith,
                    .notListMemberBeginsWith,
                ])
                return (make("texts", comparator, .string(text()), .string), nil)
            default:
                let comparator = random.one(of: [
                    RecordQuery.Comparator.listContainsAny, .notListContainsAny, .listContainsAll,
                    .notListContainsAll,
                ])
                let members = (0..<random.below(3)).map { _ in RecordQuery.Value.int64(whole()) }
                return (make("numbers", comparator, .list(members), .int64), nil)
            }
        }

        private static func subject(_ field: String) -> RecordQuery.Subject {
            FieldName(field).map { .field($0) } ?? .system(.recordID)
        }

        mutating func query(_ type: RecordTypeName) -> (RecordQuery, words: [Int: String]) {
            var query = RecordQuery(type: type)
            var words: [Int: String] = [:]
            for index in 0..<random.below(3) {
                let (filter, text) = filter()
                query.filters.append(filter)
                words[index] = text
            }
            for _ in 0..<random.below(3) {
                let field = random.one(of: ["text", "whole", "real", "mixed", "place"])
                query.sorts.append(
                    RecordQuery.Sort(
                        subject: Self.subject(field), ascending: random.happens(50),
                        relativeTo: field == "place" ? coordinate() : nil))
            }
            return (query, words)
        }
    }

    @Suite("PostgreSQL and SQLite answer queries alike")
    struct QueryEqualityTests {
        @Test("Random queries of random records have the same pages, whatever is saved in between")
        func equal() throws {
            var wanderer = Wanderer(random: SeededRandom("queries of two engines"))
            let two = try TwoStores()
            let type = try #require(TwoStores.typeName)
            for round in 0..<4 {
                var records: [(name: String, zone: Int, body: [UInt8]?)] = []
                for _ in 0..<80 {
                    let name = "r\(wanderer.random.below(150))"
                    let zone = wanderer.random.below(2)
                    let isGone = wanderer.random.happens(15)
                    records.append((name, zone, isGone ? nil : wanderer.body(name)))
                }
                try two.save(records)
                for number in 0..<25 {
                    let (query, texts) = wanderer.query(type)
                    let limit = wanderer.random.one(of: [4, 25, 200])
                    let zones = wanderer.random.one(of: [[0], [1], [0, 1]])
                    let answers = try (0..<2).map { engine in
                        let words = texts.mapValues(Words.of)
                        return try two.pages(
                            query, in: zones, words: words, limit: limit, of: engine)
                    }
                    try #require(
                        answers[0] == answers[1], "round \(round), query \(number): \(query)")
                }
            }
            try two.end()
        }

        @Test("The longest values are told apart, and found by each of their words")
        func longest() throws {
            let two = try TwoStores()
            let type = try #require(TwoStores.typeName)
            let many = (0..<20_000).map { "word\($0)" }.joined(separator: " ")
            let long = String(repeating: "ä", count: 400_000)
            let texts = [many, many + "!", long + "a", long + "b", "\u{0}", "", "\u{0}\u{0}"]
            let name = String(repeating: "n", count: 254)
            try two.save(
                texts.enumerated().map { number, text in
                    let json = text.replacing("\u{0}", with: "\\u0000")
                    let body = """
                        {"recordName":"\(name)\(number)","fields":{"text":{"value":"\(json)",\
                        "type":"STRING"}}}
                        """
                    return (name + "\(number)", 0, Array(body.utf8))
                })
            let subject = RecordQuery.Subject.field(try #require(FieldName("text")))
            func find(
                _ comparator: RecordQuery.Comparator, _ text: String, words: [String]? = nil
            ) throws -> [[String]] {
                let filter = RecordQuery.Filter(
                    subject: subject, comparator: comparator, type: FieldType(.string),
                    value: .string(text))
                let wanted = words.map { [0: $0.map { Array($0.utf8) }] } ?? [:]
                return try (0..<2).map { engine in
                    try two.pages(
                        RecordQuery(type: type, filters: [filter]), in: [0], words: wanted,
                        limit: 50, of: engine
                    ).flatMap(\.self).map { String($0.dropFirst(name.count)) }
                }
            }
            for (number, text) in texts.enumerated() {
                #expect(try find(.equals, text) == [["\(number)"], ["\(number)"]])
            }
            #expect(try find(.beginsWith, long) == [["2", "3"], ["2", "3"]])
            #expect(try find(.beginsWith, "\u{0}").map(Set.init) == [["4", "6"], ["4", "6"]])
            let found = try find(
                .containsAllTokens, "word0 word19999", words: ["word0", "word19999"])
            #expect(found == [["0", "1"], ["0", "1"]])
            try two.end()
        }
    }
#endif
