import CloudDatabase
import CloudModel
import Seeding
import Storage
import Testing

@testable import SQLiteStorage

/// Indexes say at every moment what the records do, however they came to be.
@Suite("Keeping indexes")
struct IndexMaintenanceTests {
    private static let words = ["tea", "Tee", "thé", "ΤΣΆΙ", "чай", "お茶", "the", "cup", "kettle"]
    private static let zones = ["_defaultZone", "Shelf", "Attic"].map {
        ZoneID(name: ZoneName($0).required)
    }

    /// Queries that need every kind of index.
    private static let queries: [RecordQuery] = [
        .notes(),
        .notes([.field("n", .equals, .int64(3))]),
        .notes([.field("n", .greaterThan, .int64(2))], by: [.field("n", ascending: false)]),
        .notes([
            .field("n", .in, .list([.int64(1), .int64(4)])),
            .field("s", .notEquals, .string("tea")),
        ]),
        .notes([.field("s", .equals, .string("TEE"))]),
        .notes(
            [.field("s", .beginsWith, .string("t"))],
            by: [.field("d"), .field("n", ascending: false)]),
        .notes([.field("l", .listContainsAny, .list([.string("THÉ"), .string("cup")]))]),
        .notes([.field("l", .listMemberBeginsWith, .string("t"))]),
        .notes([.field("t", .containsAllTokens, .string("TEA the cup"))]),
        .notes([.field("t", .containsAnyTokens, .string("the чай kettle"))], by: [.field("s")]),
        .notes([
            .field("p", .near, .location(.init(latitude: 1, longitude: 179.5)), distance: 200_000)
        ]),
        .notes(by: [.field("p", from: RecordQuery.Coordinate(latitude: 80, longitude: -179))]),
        .notes(by: [.field("s"), .field("n"), .field("d", ascending: false)]),
        .notes(by: [.field("d", ascending: false)]),
    ]

    private static func fields(_ random: inout SeededRandom) -> QueryStore.Fields {
        var fields: QueryStore.Fields = [:]
        if random.happens(80) { fields["n"] = .int(.random(in: 0...5, using: &random)) }
        if random.happens(70) {
            fields["d"] = .double(random.one(of: [-0.0, 0.0, 1.5, -2.25, 1e300]))
        }
        if random.happens(80) { fields["s"] = .text(text(&random)) }
        if random.happens(70) {
            fields["l"] = .texts(
                (0..<Int.random(in: 0...4, using: &random)).map { _ in text(&random) })
        }
        if random.happens(70) {
            fields["t"] = .text((0..<6).map { _ in text(&random) }.joined(separator: " "))
        }
        if random.happens(70) {
            fields["p"] = .location(
                .random(in: -90...90, using: &random), .random(in: -180...180, using: &random))
        }
        return fields
    }

    private static func text(_ random: inout SeededRandom) -> String {
        let word = random.one(of: words)
        // Long ones are cut in the index, and differ only beyond the cut.
        guard random.happens(5) else { return word }
        return String(repeating: word, count: 300) + random.one(of: words)
    }

    @Test("Random saves, deletions, zones that go, restarts and new indexes leave them right")
    func randomWork() throws {
        var random = SeededRandom("keeping indexes")
        let server = try QueryStore()
        for zone in Self.zones.dropFirst() { try server.make(zone) }
        for round in 0..<12 {
            for _ in 0..<25 {
                let zone = random.one(of: Self.zones)
                let names = (0..<6).map { _ in "r\(Int.random(in: 0..<60, using: &random))" }
                if random.happens(30) {
                    try server.delete(Array(Set(names)), in: zone)
                } else {
                    try server.save(
                        Set(names).sorted().map { ($0, Self.fields(&random)) }, in: zone)
                }
            }
            if random.happens(40) {
                try server.remove(Self.zones[1])
                try server.make(Self.zones[1])
                if random.happens(50) { try server.collect() }
            }
            if random.happens(30) { try server.reopen() }
            // One query more in each round: later indexes are filled from what is there by then.
            let zone: ZoneID? = random.happens(30) ? nil : random.one(of: Self.zones)
            for query in Self.queries.prefix(round + 3) {
                try expectSame(server, query, zone, &random)
            }
            if random.happens(20) {
                let type = try server.typeNumber
                try server.store.writeAndWait {
                    try ($0 as? SQLiteTransaction)?
                        .dropIndexes(ofType: type, fields: ["n", "t", "p"])
                }
            }
            #expect(try server.problems() == [])
        }
    }

    /// Compares what an index finds with what the records say one by one.
    private func expectSame(
        _ server: QueryStore, _ query: RecordQuery, _ zone: ZoneID?, _ random: inout SeededRandom
    ) throws {
        let found = try server.names(query, in: zone, limit: .random(in: 1...40, using: &random))
        let all = try server.everything(query, in: zone)
        #expect(found.sorted() == all.matching.sorted(), "\(query) in \(String(describing: zone))")
        #expect(found.count == all.matching.count)
        if !query.sorts.isEmpty { #expect(found == all.matching) }
    }

    @Test("An index that is given up is emptied, and comes back when a query needs it")
    func dropped() throws {
        let server = try QueryStore()
        try server.save((0..<50).map { ("r\($0)", ["n": .int(Int64($0 % 5))]) })
        let query = RecordQuery.notes([.field("n", .equals, .int64(2))])
        #expect(try server.names(query).count == 10)
        let type = try server.typeNumber
        try server.store.writeAndWait {
            try ($0 as? SQLiteTransaction)?.dropIndexes(ofType: type, fields: nil)
        }
        while try server.store.writeAndWait({ try $0.maintain(.index, step: 3) }) {}
        #expect(try server.indexes().isEmpty)
        #expect(try server.problems() == [])
        try server.save("more", ["n": .int(2)])
        #expect(try server.names(query).count == 11)
        #expect(try server.problems() == [])
    }

    @Test("A field that loses its index options in the schema and gets them back is indexed anew")
    func lostOptions() throws {
        let server = try QueryStore()
        try server.save((0..<20).map { ("r\($0)", ["n": .int(Int64($0 % 4))]) })
        let query = RecordQuery.notes([.field("n", .equals, .int64(2))])
        #expect(try server.names(query).count == 5)
        let field = FieldName("n").required
        let before = try server.store.schema
        var without = before
        without.types[QueryStore.type]?.fields[field]?.indexes = []
        for schema in [without, before] {
            try server.store.writeAndWait {
                try $0.replaceSchema(by: schema, who: "a test", difference: [])
            }
            try server.save("more\(schema == before)", ["n": .int(2)])
        }
        #expect(try server.names(query).count == 7)
        #expect(try server.problems() == [])
    }

    @Test("A file whose index says something else than its records does not pass the check")
    func checkSees() throws {
        let server = try QueryStore()
        try server.save(
            "r", ["n": .int(7), "t": .text("a cup of tea"), "p": .location(1, 2)])
        for query in [
            RecordQuery.notes([.field("n", .equals, .int64(7))]),
            .notes([.field("t", .containsAnyTokens, .string("tea"))]),
            .notes([.field("p", .near, .location(.init(latitude: 1, longitude: 2)), distance: 9)]),
        ] {
            #expect(try server.names(query) == ["r"])
        }
        #expect(try server.problems() == [])
        for change in [
            "UPDATE new_index_values SET value = 8 WHERE value = 7",
            "INSERT INTO index_values SELECT * FROM new_index_values",
            "DELETE FROM index_locations",
            "INSERT INTO index_words (rowid, terms) VALUES (5, 'more')",
        ] {
            try server.damage(change)
            #expect(try server.problems() != [], "\(change)")
        }
    }
}
