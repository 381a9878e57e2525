import CloudModel
import Storage

/// Records with one field, and queries of them.
struct TestQueries: Sendable {
    let testStore: TestStore
    let zone: StoredZone
    let type: Int64

    init(_ testStore: TestStore) throws {
        self.testStore = testStore
        zone = try testStore.makeZone()
        type = try TestStore.name(testStore.store.schema.types[TestStore.type]?.number)
    }

    /// A stored body with one field, given as JSON and its type; none for nil.
    static func body(_ name: String, _ field: (json: String, type: String)?) -> [UInt8] {
        let fields = field.map { "\"f\":{\"value\":\($0.json),\"type\":\"\($0.type)\"}" } ?? ""
        return Array("{\"recordName\":\"\(name)\",\"fields\":{\(fields)}}".utf8)
    }

    func save(_ values: [(name: String, field: (json: String, type: String)?)]) throws {
        let zone = zone
        try testStore.write { transaction in
            for (name, field) in values {
                try transaction.save(name, in: zone, body: Self.body(name, field))
            }
        }
    }

    /// What has or has not a value in the field.
    static func filter(
        _ comparator: RecordQuery.Comparator, _ value: RecordQuery.Value, distance: Double? = nil
    ) throws -> RecordQuery.Filter {
        RecordQuery.Filter(
            subject: try subject(), comparator: comparator, type: FieldType(.string), value: value,
            distance: distance)
    }

    static func sort(
        ascending: Bool = true, from location: RecordQuery.Coordinate? = nil
    ) throws -> RecordQuery.Sort {
        RecordQuery.Sort(subject: try subject(), ascending: ascending, relativeTo: location)
    }

    private static func subject() throws -> RecordQuery.Subject {
        .field(try require(FieldName("f")))
    }

    func query(
        _ filters: [RecordQuery.Filter] = [], by sorts: [RecordQuery.Sort] = [],
        words: [[UInt8]]? = nil, after start: QueryCursor? = nil, limit: Int = 100
    ) -> StoreQuery {
        StoreQuery(
            RecordQuery(type: TestStore.type, filters: filters, sorts: sorts), type: type,
            zones: [zone], sight: .all, words: words.map { [0: $0] } ?? [:], start: start,
            limit: limit, bytesMax: .max,
            bounds: QueryBounds(
                recordsMax: 100_000, millisecondsMax: 600_000, sharedRecordsMax: 1_000))
    }

    /// The names of one page of a query that can be answered.
    static func page(
        of query: StoreQuery, _ snapshot: any StoreSnapshot
    ) throws -> (names: [String], end: QueryCursor?) {
        var records: [RecordNumber] = []
        let end = try snapshot.page(of: query) { records.append($0.record) }
        return (try records.map { try require(snapshot.location(of: $0)).name.text }, end)
    }

    /// The names of all pages, once the engine can answer.
    func names(
        _ filters: [RecordQuery.Filter] = [], by sorts: [RecordQuery.Sort] = [],
        words: [[UInt8]]? = nil, limit: Int = 100
    ) throws -> [String] {
        try prepare(query(filters, by: sorts, words: words))
        return try testStore.read { snapshot in
            var (names, start): ([String], QueryCursor?) = ([], nil)
            repeat {
                let page = try Self.page(
                    of: query(filters, by: sorts, words: words, after: start, limit: limit),
                    snapshot)
                try expect(page.names.count <= limit)
                (names, start) = (names + page.names, page.end)
            } while start != nil
            return names
        }
    }

    /// Has the engine do what it must before it answers a query.
    func prepare(_ query: StoreQuery) throws {
        for _ in 0..<10_000 {
            guard let missing = try missing(for: query) else { return }
            _ = try testStore.store.prepare(missing.query)
            try testStore.maintain(step: 64)
        }
        throw BrokenPromise(description: "a query can never be answered")
    }

    func missing(for query: StoreQuery) throws -> QueryUnprepared? {
        do {
            try testStore.read { snapshot in _ = try snapshot.page(of: query) { _ in } }
            return nil
        } catch let missing as QueryUnprepared { return missing }
    }
}

extension TestStore {
    /// Does a step of what the engine has left for itself.
    func maintain(step: Int) throws {
        try write { transaction in
            var turn = WorkTurn(WorkHolder(1), [.maintenance])
            guard let work = try transaction.takeWork(&turn),
                case .maintenance(let maintenance) = work.task
            else { return }
            if try !transaction.maintain(maintenance, step: step) { try transaction.finish(work) }
        }
        _ = try store.maintain(while: { true })
    }

    /// Does a step of everything that the engine has left for itself; whether there is more.
    func maintainAll(step: Int) throws -> Bool {
        try write { transaction in
            var turn = WorkTurn(WorkHolder(1), [.maintenance])
            var seen: Set<WorkTask> = []
            var hasMore = false
            while let work = try transaction.takeWork(&turn),
                case .maintenance(let maintenance) = work.task, seen.insert(work.task).inserted
            {
                if try transaction.maintain(maintenance, step: step) {
                    hasMore = true
                } else {
                    try transaction.finish(work)
                }
            }
            return hasMore
        }
    }
}

// Queries: what they find, and in which order.
extension StoragePromise {
    private static func text(_ value: String) -> (json: String, type: String) {
        ("\"\(value)\"", "STRING")
    }

    static let queries = [
        StoragePromise(
            "A query says what is missing, and is answered when the engine has seen to that"
        ) { testStore in
            let test = try TestQueries(testStore)
            try test.save((0..<200).map { ("r\($0)", ("\($0 % 10)", "INT64")) })
            let query = test.query([try TestQueries.filter(.equals, .int64(3))])
            let missing = try require(test.missing(for: query))
            try expect(missing.fields, is: ["f"])
            try expect(!missing.isLate)
            let percent = try require(testStore.store.prepare(missing.query))
            try expect((0...100).contains(percent))
            try expect(test.missing(for: query) != nil)
            // Asked for twice, it is made once.
            _ = try testStore.store.prepare(missing.query)
            try test.prepare(query)
            try expect(testStore.store.prepare(missing.query) == nil)
            let found = try testStore.read { try TestQueries.page(of: query, $0) }
            try expect(found.names, is: (0..<20).map { "r\($0 * 10 + 3)" })
            try expect(found.end == nil)
        },
        StoragePromise("Texts lie in the order of code points, whatever language they are of") {
            testStore in
            let test = try TestQueries(testStore)
            let texts = [
                "", "0", "10", "9", "A", "B", "Z", "_", "a", "aa", "ab", "b", "z", "~", "ß", "à",
                "é",
                "ﬁ", "\u{FFFD}", "\u{10000}", "😀", "ä", "a\u{308}", "Ä", "я", "中", "\u{E000}",
                "a b",
                "a-b",
            ]
            try test.save(texts.enumerated().map { ("r\($0)", text($1)) })
            let ordered = texts.enumerated().sorted {
                Array($0.element.utf8).lexicographicallyPrecedes(Array($1.element.utf8))
            }.map { "r\($0.offset)" }
            for limit in [1, 3, 100] {
                try expect(test.names(by: [TestQueries.sort()], limit: limit), is: ordered)
                try expect(
                    test.names(by: [TestQueries.sort(ascending: false)], limit: limit),
                    is: ordered.reversed())
            }
        },
        StoragePromise("Numbers lie by their value, whole or not, before all texts") { testStore in
            let test = try TestQueries(testStore)
            let numbers: [(String, Double)] = [
                ("-9007199254740992", -0x1p53), ("-1.5", -1.5), ("-1", -1), ("0", 0),
                ("0.25", 0.25), ("1", 1), ("1e300", 1e300), ("2", 2), ("9007199254740992", 0x1p53),
            ]
            try test.save(
                numbers.enumerated().map { index, number in
                    let isWhole = !number.0.contains(".") && !number.0.contains("e")
                    return ("r\(index)", (number.0, isWhole ? "INT64" : "DOUBLE"))
                })
            try test.save([("text", text(""))])
            let ordered = numbers.enumerated().sorted { $0.element.1 < $1.element.1 }
                .map { "r\($0.offset)" }
            try expect(test.names(by: [TestQueries.sort()]), is: ordered + ["text"])
            try expect(
                test.names([
                    TestQueries.filter(.greaterThan, .int64(0)),
                    TestQueries.filter(.lessThan, .double(2)),
                ]), is: ["r4", "r5"])
            try expect(
                test.names([
                    TestQueries.filter(.greaterThanOrEquals, .double(1)),
                    TestQueries.filter(.lessThanOrEquals, .int64(1)),
                ]), is: ["r5"])
        },
        StoragePromise("Who has no value comes before all who have one; equal ones by their number")
        { testStore in
            let test = try TestQueries(testStore)
            try test.save((0..<10).map { ("r\($0)", $0 % 2 == 0 ? nil : text("same")) })
            let ordered = ["r0", "r2", "r4", "r6", "r8", "r1", "r3", "r5", "r7", "r9"]
            for limit in [1, 2, 100] {
                try expect(test.names(by: [TestQueries.sort()], limit: limit), is: ordered)
                try expect(
                    test.names(by: [TestQueries.sort(ascending: false)], limit: limit),
                    is: ordered.reversed())
                try expect(
                    test.names([TestQueries.filter(.equals, .string("SAME"))], limit: limit),
                    is: ["r1", "r3", "r5", "r7", "r9"])
            }
        },
        StoragePromise("A query finds what was committed before its snapshot, and nothing else") {
            testStore in
            let test = try TestQueries(testStore)
            try test.save([("a", text("x")), ("b", text("y")), ("c", nil)])
            let zone = test.zone
            let sorted = test.query(
                [try TestQueries.filter(.greaterThanOrEquals, .string(""))],
                by: [try TestQueries.sort()])
            try test.prepare(sorted)
            try testStore.read { snapshot in
                try expect(TestQueries.page(of: sorted, snapshot).names, is: ["a", "b"])
                try onAnotherThread {
                    try test.save([("a", text("z")), ("b", nil)])
                    try testStore.write { try $0.writeTombstone("c", in: zone) }
                }
                try expect(TestQueries.page(of: sorted, snapshot).names, is: ["a", "b"])
            }
            try expect(test.names(by: [TestQueries.sort()]), is: ["b", "a"])
            try expectFailure(Refusal.self) {
                try testStore.write { transaction in
                    try transaction.save("d", in: zone, body: TestQueries.body("d", text("lost")))
                    throw Refusal()
                }
            }
            try expect(test.names(by: [TestQueries.sort()]), is: ["b", "a"])
        },
        StoragePromise("What is saved while the engine makes ready is found in the end") {
            testStore in
            let test = try TestQueries(testStore)
            try test.save((0..<400).map { ("r\($0)", text("v\($0)")) })
            let query = test.query(by: [try TestQueries.sort()])
            _ = try testStore.store.prepare(try require(test.missing(for: query)).query)
            for round in 0..<40 {
                try test.save([
                    ("r\(round * 7)", text("w\(round)")), ("new\(round)", text("v")),
                    ("r\(399 - round)", nil),
                ])
                try testStore.maintain(step: 7)
            }
            let found = try test.names(by: [TestQueries.sort()])
            try expect(found.count, is: 440)
            try expect(Set(found.prefix(40)), is: Set((360..<400).map { "r\($0)" }))
        },
        StoragePromise("A cursor of one query goes on there; what is none is refused") {
            testStore in
            let test = try TestQueries(testStore)
            try test.save((0..<10).map { ("r\($0)", ("\($0)", "INT64")) })
            let sorts = [try TestQueries.sort()]
            try test.prepare(test.query(by: sorts))
            let first = try testStore.read {
                try TestQueries.page(of: test.query(by: sorts, limit: 4), $0)
            }
            try expect(first.names, is: ["r0", "r1", "r2", "r3"])
            // One goes, one comes before and one behind: neither is anything skipped nor shown twice.
            let zone = test.zone
            try testStore.write { try $0.writeTombstone("r3", in: zone) }
            try test.save([("early", ("1", "INT64")), ("late", ("5", "INT64"))])
            let rest = try testStore.read {
                try TestQueries.page(of: test.query(by: sorts, after: first.end), $0)
            }
            try expect(rest.names, is: ["r4", "r5", "late", "r6", "r7", "r8", "r9"])
            try expectFailure(QueryRefusal.self, where: { $0 == .unknownCursor }) {
                _ = try testStore.read {
                    try TestQueries.page(
                        of: test.query(by: sorts, after: QueryCursor([0xFF, 1])), $0)
                }
            }
        },
        StoragePromise(
            "Each index that queries have had made is told of, with how many entries it has"
        ) {
            testStore in
            let queries = try TestQueries(testStore)
            try queries.save((0..<7).map { ("r\($0)", text("v\($0)")) } + [("empty", nil)])
            try expect(try queries.names(by: [TestQueries.sort()]).count == 8)
            let store = try require(testStore.store as? any SpaceKeeping)
            let size = try store.size(owners: 0, counting: .indexes)
            try expect(size.indexes.map(\.field) == ["f"])
            try expect(size.indexes.map(\.type) == [TestStore.type.text])
            try expect(size.indexes.map(\.state) == [.whole])
            try expect(size.indexes.map(\.percent) == [100])
            // Who has no value has an entry, too.
            try expect(size.indexes.map(\.entries) == [8])
            try expect(try store.size(owners: 0, counting: .contents).indexes == [])
        },
        StoragePromise("A query looks at no more records than it may") { testStore in
            let test = try TestQueries(testStore)
            try test.save((0..<100).map { ("r\($0)", ("\($0)", "INT64")) })
            let filters = [try TestQueries.filter(.notEquals, .int64(99))]
            try test.prepare(test.query(filters, by: [try TestQueries.sort()]))
            let query = StoreQuery(
                RecordQuery(
                    type: TestStore.type, filters: filters, sorts: [try TestQueries.sort()]),
                type: test.type, zones: [test.zone], sight: .all, words: [:], start: nil,
                limit: 50, bytesMax: .max,
                bounds: QueryBounds(recordsMax: 10, millisecondsMax: 600_000, sharedRecordsMax: 10))
            try expectFailure(QueryRefusal.self, where: { $0 == .tooManyRecords }) {
                _ = try testStore.read { try TestQueries.page(of: query, $0) }
            }
        },
    ]
}
