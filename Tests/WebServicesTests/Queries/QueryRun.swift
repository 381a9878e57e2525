import Foundation
import Seeding

/// A user whose records change at random and are queried at random, beside `PlainQuery`.
struct QueryRun {
    private let server: WireServer
    private let ida: WireClient
    private var random: SeededRandom
    /// By zone and name.
    private var records: [String: PlainRecord] = [:]
    /// The number of each zone's each name, once used.
    private var numbers: [String: Int] = [:]
    private static let zones = ["Shelf", "Wall"]
    private typealias Turn = (field: RandomField, comparator: String)
    /// Every field with each of its comparators.
    private static let turns: [Turn] = RandomField.allCases.flatMap { field in
        field.comparators.map { (field, $0) }
    }
    private var asked = 0
    /// How often each comparator has found something.
    private(set) var found: [String: Int] = [:]

    init(random: SeededRandom) throws {
        server = try WireServer()
        ida = try server.user("ida", seconds: 31_000_000)
        self.random = random
        try ida.make("Shelf", "Wall")
    }

    /// Saves so many records, then alternates between queries and changes.
    ///
    /// - Returns: the generator, to go on with.
    mutating func run(records count: Int, queries: Int) throws -> SeededRandom {
        for _ in 0..<(count / 20) { try change(20, deleting: false) }
        for _ in 0..<queries {
            if random.happens(20) {
                try change(Int.random(in: 1...5, using: &random), deleting: true)
            }
            try query()
        }
        return random
    }

    // MARK: - Changes

    private mutating func change(_ count: Int, deleting: Bool) throws {
        let zone = random.one(of: Self.zones)
        server.clock.advance(Int64.random(in: 0...2, using: &random))
        var operations: [String] = []
        var changed: [String: PlainRecord?] = [:]
        while operations.count < count {
            let name = "n\(Int.random(in: 1...(deleting ? 150 : 400), using: &random))"
            let key = "\(zone)/\(name)"
            guard changed[key] == nil else { continue }
            let previous = records[key]
            if deleting, previous != nil, random.happens(25) {
                operations.append(operation("forceDelete", name, type: nil))
                changed[key] = .some(nil)
                continue
            }
            if numbers[key] == nil { numbers[key] = numbers.count }
            let merges = random.happens(50)
            var record = PlainRecord(
                name: name, zone: zone, fields: merges ? previous?.fields ?? [:] : [:],
                number: numbers[key] ?? 0, created: previous?.created ?? server.clock.now,
                modified: server.clock.now, creator: ida.name)
            operations.append(
                operation(merges ? "forceUpdate" : "forceReplace", name, fields: fields(&record)))
            changed[key] = record
        }
        let answer = try ida.modify(operations, zone: zone)
        guard answer.status == 200, answer.records.allSatisfy({ $0.code == nil }) else {
            throw WireFailure("seed \(random.seed): \(answer.text)")
        }
        for (key, record) in changed { records[key] = record }
    }

    /// Gives a record values, and shows them as JSON.
    private mutating func fields(_ record: inout PlainRecord) -> String {
        var members: [String] = []
        for field in RandomField.allCases {
            if random.happens(8) {
                record.fields[field.rawValue] = nil
                members.append("\"\(field.rawValue)\":{\"value\":null}")
            } else if random.happens(70) {
                let value = field.value(&random)
                record.fields[field.rawValue] = value
                members.append("\"\(field.rawValue)\":\(value.field(field.type))")
            }
        }
        return "{\(members.joined(separator: ","))}"
    }

    // MARK: - Queries

    private mutating func query() throws {
        var query = PlainQuery()
        var filters: [String] = []
        // Every other query is the next comparator alone, asked of all zones for what a record has:
        // so that none is left out, and each finds something.
        asked += 1
        let turn = asked.isMultiple(of: 2) ? Self.turns[asked / 2 % Self.turns.count] : nil
        for _ in 0..<(turn == nil ? random.one(of: [0, 1, 1, 1, 2, 2, 3]) : 1) {
            let (filter, json) = filter(turn)
            query.filters.append(filter)
            filters.append(json)
        }
        for _ in 0..<random.one(of: [0, 0, 1, 1, 1, 2, 3]) { query.sorts.append(sort()) }
        let zone = turn != nil || random.happens(25) ? nil : random.one(of: Self.zones)
        let among = records.values.filter { zone == nil || $0.zone == zone }
        guard query.isDecided(among) else { return }
        let expected = query.answer(among)
        let limit = random.one(of: [nil, 1, 3, 10, min(200, max(1, expected.count)), 50])
        let request =
            "\(zone ?? "all") \(filters) \(query.sorts.map(\.json)) limit \(limit ?? 0)"
        let sorts = query.sorts.map(\.json)
        let got = try pages(filters, sorts, zone, limit ?? 200, request)
        // Pages of any length are cut from one order.
        if limit != nil, try pages(filters, sorts, zone, 200, request).map(\.key) != got.map(\.key)
        {
            throw WireFailure("seed \(random.seed): \(request)\nanother order in pages of 200")
        }
        if let difference = query.difference(got, expected) {
            throw WireFailure("seed \(random.seed): \(request)\n\(difference)")
        }
        if !expected.isEmpty {
            for filter in query.filters { found[filter.comparator, default: 0] += 1 }
        }
    }

    private mutating func filter(_ turn: Turn?) -> (PlainFilter, String) {
        if turn == nil, random.happens(10) { return systemFilter() }
        let field = turn?.field ?? random.one(of: RandomField.allCases)
        let comparator = turn?.comparator ?? random.one(of: field.comparators)
        let takesList =
            comparator == "IN" || comparator == "NOT_IN" || comparator.hasSuffix("_ANY")
            || comparator.hasSuffix("_ALL")
        var value = takesList ? .list([]) : operand(field, comparator, isHeld: turn != nil)
        if takesList {
            value = .list(
                (0..<random.one(of: [0, 1, 2, 3, 8])).map { _ in
                    operand(field, comparator, isHeld: turn != nil)
                })
        }
        let filter = PlainFilter(
            field: field.rawValue, comparator: comparator, value: value,
            distance: field == .location ? RandomValues.metres(&random) : nil)
        return (filter, filter.json(type: takesList ? field.tag + "_LIST" : field.tag))
    }

    /// A value to compare with, half of the time one that a record has.
    private mutating func operand(
        _ field: RandomField, _ comparator: String, isHeld: Bool
    ) -> PlainValue {
        var value = field.one(&random)
        if isHeld || random.happens(50) {
            let held = records.values.sorted { $0.number < $1.number }
                .compactMap { $0.fields[field.rawValue] }.randomElement(using: &random)
            value =
                held?.members.randomElement(using: &random) ?? (field.isList ? nil : held) ?? value
        }
        guard case .string(let text) = value else { return value }
        if comparator.hasSuffix("BEGINS_WITH") {
            let scalars = text.unicodeScalars
            return .string(
                String(String.UnicodeScalarView(scalars.prefix(random.one(of: [0, 1, 2, 600])))))
        }
        // What the words of other texts are, signs and letters of no script, is not the evaluator's to say.
        if comparator.hasSuffix("TOKENS"), field != .sentence || !isHeld {
            return .string(RandomValues.sentence(&random))
        }
        return value
    }

    private mutating func systemFilter() -> (PlainFilter, String) {
        let some = records.values.sorted { $0.number < $1.number }.randomElement(using: &random)
        let filter: PlainFilter
        if random.happens(50) {
            filter = PlainFilter(
                field: random.one(of: ["___createTime", "___modTime"]),
                comparator: random.one(
                    of: RandomField.time.comparators.filter { !$0.hasSuffix("IN") }),
                value: .time(some?.modified ?? 0))
        } else {
            filter = PlainFilter(
                field: "___recordID", comparator: random.one(of: ["EQUALS", "NOT_EQUALS"]),
                value: .reference(some?.name ?? "n1", zone: nil))
        }
        return (filter, filter.json())
    }

    private mutating func sort() -> PlainSort {
        let ascending = random.happens(60)
        if random.happens(20) {
            return PlainSort(
                field: random.one(of: ["___createTime", "___modTime", "___recordID"]),
                ascending: ascending)
        }
        let field = random.one(of: RandomField.allCases.filter(\.isSortable))
        return PlainSort(
            field: field.rawValue, ascending: ascending,
            from: field == .location ? RandomValues.location(&random) : nil)
    }

    /// Reads all pages: each but the last is full, and the last is empty only when all is.
    private func pages(
        _ filters: [String], _ sorts: [String], _ zone: String?, _ limit: Int, _ request: String
    ) throws -> [PlainRecord] {
        var got: [PlainRecord] = []
        var marker: String?
        repeat {
            let answer = try ida.query(
                filters: filters, sorts: sorts, zone: zone, limit: limit, marker: marker,
                more: zone == nil ? #""zoneWide":true"# : nil)
            guard answer.status == 200 else {
                throw WireFailure("seed \(random.seed): \(request)\n\(answer.text)")
            }
            let before = marker
            marker = answer["continuationMarker"].string
            let count = answer.records.count
            guard marker == nil ? count > 0 || before == nil : count == limit else {
                throw WireFailure("seed \(random.seed): \(request)\na page of \(count)")
            }
            for item in answer.records {
                let key = "\(item["zoneID"]["zoneName"].string ?? "")/\(item.name ?? "")"
                guard let record = records[key] else {
                    throw WireFailure("seed \(random.seed): \(request)\nno such record: \(key)")
                }
                got.append(record)
            }
        } while marker != nil
        return got
    }
}

extension PlainQuery {
    /// Whether no record is so near to the edge of a circle that rounding decides.
    func isDecided(_ records: [PlainRecord]) -> Bool {
        for filter in filters {
            guard let edge = filter.distance,
                case .location(let latitude, let longitude) = filter.value
            else { continue }
            for record in records {
                guard
                    case .location(let hereLatitude, let hereLongitude) = record.fields[
                        filter.field]
                else { continue }
                let metres = PlainGlobe.metres(
                    (hereLatitude, hereLongitude), (latitude, longitude))
                if abs(metres - edge) < 1 { return false }
            }
        }
        return true
    }

    /// What is wrong with an answer; nil when it is right.
    func difference(_ got: [PlainRecord], _ expected: [PlainRecord]) -> String? {
        let (gotKeys, expectedKeys) = (got.map(\.key), expected.map(\.key))
        if gotKeys == expectedKeys { return nil }
        guard gotKeys.sorted() == expectedKeys.sorted() else {
            let missing = Set(expectedKeys).subtracting(gotKeys)
            let surplus = Set(gotKeys).subtracting(expectedKeys)
            let wrong = (got + expected).first { (missing.union(surplus)).contains($0.key) }
            let values = filters.map { wrong?.value(of: $0.field)?.json ?? "none" }
            return "missing \(missing), too many \(surplus), \(gotKeys.count) in all; "
                + "\(wrong?.key ?? "") has \(values)"
        }
        // Without a sort the order is the server's.
        if sorts.isEmpty { return nil }
        // Distances that differ by less than their rounding may come in any order.
        for (left, right) in zip(got, got.dropFirst()) where !mayPrecede(left, right) {
            return "\(left.key) before \(right.key)\ngot      \(gotKeys)\nexpected \(expectedKeys)"
        }
        return nil
    }
}

extension PlainRecord {
    var key: String { "\(zone)/\(name)" }
}
