#if PostgreSQL
    import CloudModel
    import Dispatch
    import PostgreSQL
    import PostgreSQLServer
    import PostgreSQLStorage
    import Storage
    import StorageConformance
    import Testing

    /// A store with many records, whose fields have indexes.
    private struct IndexedStore {
        let location: PostgreSQLLocation
        let connection: Connection
        let store: PostgreSQLStore
        let zone: StoredZone
        let type: Int64

        private static let typeName = RecordTypeName("Note")

        init(_ count: Int) throws {
            location = try PostgreSQLLocation()
            connection = try Connection(location.connection)
            store = try location.openPostgreSQLStore()
            _ = try connection.run("CREATE EXTENSION pg_stat_statements")
            let typeName = try #require(Self.typeName)
            let shelf = try #require(ZoneName("Shelf"))
            let user = try #require(UserRecordName("_00000000000000000000000000000001"))
            zone = try store.writeAndWait { transaction in
                var schema = try transaction.schema
                schema.types[typeName] = Schema.RecordType()
                try transaction.replaceSchema(by: schema, who: "trial", difference: ["+"])
                return try transaction.makeZone(named: shelf, ofOwnerNamed: user)
            }
            type = try #require(store.read { try $0.schema.types[typeName]?.number })
            for first in stride(from: 0, to: count, by: 1_000) {
                try save(first..<min(count, first + 1_000))
            }
        }

        func save(_ numbers: Range<Int>) throws {
            let (zone, type) = (zone, type)
            try store.writeAndWait { transaction in
                let names = try numbers.map { try #require(RecordName("r\($0)")) }
                let heads = try transaction.heads(of: names, in: zone.number)
                let first = try transaction.takePositions(names.count)
                _ = try transaction.save(
                    zip(zip(names, numbers), heads).enumerated().map { index, record in
                        let ((name, number), head) = record
                        return NewVersion(
                            zone: zone, name: name, position: first + Position(index),
                            previous: head, previousBytes: 0, previousIsAlive: head != nil,
                            type: type, flags: [], body: Self.body(number))
                    })
            }
        }

        private static func body(_ number: Int) -> [UInt8] {
            let (latitude, longitude) = (number * 37 % 1_800, number * 101 % 3_600)
            return Array(
                """
                {"recordName":"r\(number)","fields":{\
                "size":{"value":\(number),"type":"INT64"},\
                "kind":{"value":\(number % 1_000),"type":"INT64"},\
                "title":{"value":"common word\(number % 2_000)","type":"STRING"},\
                "place":{"value":{"latitude":\(Double(latitude) / 10 - 90),\
                "longitude":\(Double(longitude) / 10 - 180)},"type":"LOCATION"}}}
                """.utf8)
        }

        static func filter(
            _ field: String, _ comparator: RecordQuery.Comparator, _ value: RecordQuery.Value,
            distance: Double? = nil
        ) throws -> RecordQuery.Filter {
            RecordQuery.Filter(
                subject: .field(try #require(FieldName(field))), comparator: comparator,
                type: FieldType(.int64), value: value, distance: distance)
        }

        func query(
            _ filters: [RecordQuery.Filter], by sorts: [RecordQuery.Sort] = [],
            words: [String]? = nil
        ) throws -> StoreQuery {
            StoreQuery(
                RecordQuery(type: try #require(Self.typeName), filters: filters, sorts: sorts),
                type: type, zones: [zone], sight: .all,
                words: words.map { [0: $0.map { Array($0.utf8) }] } ?? [:], start: nil, limit: 20,
                bytesMax: .max,
                bounds: QueryBounds(
                    recordsMax: 100_000, millisecondsMax: 600_000, sharedRecordsMax: 100))
        }

        /// How many records a page shows.
        func count(_ query: StoreQuery) throws -> Int {
            try store.readWithIndexes { snapshot in
                var count = 0
                _ = try snapshot.page(of: query) { _ in count += 1 }
                return count
            }
        }

        /// The statements that looked at more pages than a page of a query explains, while a body ran.
        func wasteful(pagesMax: Int, _ body: () throws -> Void) throws -> [String] {
            try connection.forgetStatements()
            try body()
            let found = try connection.run(
                """
                SELECT convert_to(
                    (shared_blks_hit + shared_blks_read) / calls || ' pages: ' || query, 'UTF8')
                FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
                WHERE d.datname = current_database() AND query NOT LIKE '%pg_stat_statements%'
                    AND query NOT LIKE 'ANALYZE%'
                    AND (shared_blks_hit + shared_blks_read) > calls * $1
                """, .number(Int64(pagesMax)))
            return (0..<found.count).map { found.text($0, 0) }
        }
    }

    @Suite("How much queries read on PostgreSQL")
    struct QueryPlanTests {
        @Test("A query reads the part of an index that it asks for, whatever else the store has")
        func pages() throws {
            let test = try IndexedStore(20_000)
            defer { test.location.remove() }
            func sort(
                _ field: String, from centre: RecordQuery.Coordinate? = nil
            ) throws
                -> RecordQuery.Sort
            {
                RecordQuery.Sort(
                    subject: .field(try #require(FieldName(field))), relativeTo: centre)
            }
            let here = RecordQuery.Coordinate(latitude: 10, longitude: 20)
            let sized = try test.query(
                [IndexedStore.filter("size", .greaterThan, .int64(9_000))], by: [sort("size")])
            let kinds = try test.query([IndexedStore.filter("kind", .equals, .int64(7))])
            let some = try test.query([
                IndexedStore.filter("kind", .in, .list([.int64(1), .int64(2), .int64(3)]))
            ])
            let all = try test.query(
                [IndexedStore.filter("title", .containsAllTokens, .string("common word7"))],
                words: ["common", "word7"])
            let any = try test.query(
                [IndexedStore.filter("title", .containsAnyTokens, .string("word7 word8"))],
                words: ["word7", "word8"])
            let near = try test.query([
                IndexedStore.filter("place", .near, .location(here), distance: 300_000)
            ])
            let nearest = try test.query([], by: [sort("place", from: here)])
            // Once without counting, so that the indexes are there.
            for query in [sized, kinds, some, all, any, near, nearest] {
                #expect(try test.count(query) > 0)
            }
            // Until the server has been through them, an entry is looked at in its table, too.
            for table in ["index_values", "index_words", "index_locations"] {
                _ = try test.connection.run("VACUUM stores.\(table)")
            }
            // All of an index would be some hundreds.
            let found = try test.wasteful(pagesMax: 150) {
                #expect(try test.count(sized) == 20)
                #expect(try test.count(kinds) == 20)
                #expect(try test.count(some) == 20)
                #expect(try test.count(all) == 10)
                #expect(try test.count(any) == 20)
                #expect(try test.count(near) > 0)
                #expect(try test.count(nearest) == 20)
                try test.save(500..<501)
            }
            #expect(found == [])
        }

        @Test("A save keeps indexes up in the round trips that it takes without them")
        func roundTrips() throws {
            let test = try IndexedStore(100)
            defer { test.location.remove() }
            let query = try test.query([IndexedStore.filter("kind", .equals, .int64(7))])
            #expect(try test.count(query) == 1)
            let before = test.store.groupRoundTrips
            for _ in 0..<3 { try test.save(7..<8) }
            // Three groups of two, and one more for each, as nobody has said which records are saved.
            #expect(test.store.groupRoundTrips - before == 9)
            #expect(try test.count(query) == 1)
        }
    }
#endif
