import Foundation

/// A field's value as the tests think of it.
indirect enum PlainValue: Sendable {
    case string(String)
    case int(Int64)
    case double(Double)
    case time(Int64)
    case bytes(String)
    case location(latitude: Double, longitude: Double)
    /// The zone is nil where the reference names none.
    case reference(String, zone: String?)
    case list([PlainValue])
    case encrypted(PlainValue)
}

/// A record as the tests think of it.
struct PlainRecord: Sendable {
    var name: String
    var zone = "Shelf"
    var fields: [String: PlainValue]
    /// Which name of the store it was: names that were used earlier have lower numbers.
    var number: Int
    var created: Int64 = 0
    var modified: Int64 = 0
    var creator = ""
}

struct PlainFilter: Sendable {
    var field: String
    var comparator: String
    var value: PlainValue
    /// Metres.
    var distance: Double?
}

struct PlainSort: Sendable {
    var field: String
    var ascending = true
    var from: (latitude: Double, longitude: Double)?
}

/// What `records/query` must answer, worked out record by record over plain values (rulings.md 21).
///
/// No index, no JSON, and none of the server's code: where the two differ, one of them is wrong.
struct PlainQuery: Sendable {
    var filters: [PlainFilter] = []
    var sorts: [PlainSort] = []

    /// The records that match, in their order.
    func answer(_ records: [PlainRecord]) -> [PlainRecord] {
        records.filter { record in filters.allSatisfy { holds($0, record) } }.sorted(by: precedes)
    }

    // MARK: - Filters

    func holds(_ filter: PlainFilter, _ record: PlainRecord) -> Bool {
        guard let value = record.value(of: filter.field) else { return false }
        switch filter.comparator {
        case "EQUALS": return equals(value, filter.value, record)
        case "NOT_EQUALS": return !equals(value, filter.value, record)
        case "LESS_THAN": return compare(value, filter.value) == .orderedAscending
        case "LESS_THAN_OR_EQUALS": return compare(value, filter.value) != .orderedDescending
        case "GREATER_THAN": return compare(value, filter.value) == .orderedDescending
        case "GREATER_THAN_OR_EQUALS": return compare(value, filter.value) != .orderedAscending
        case "IN": return filter.value.members.contains { equals(value, $0, record) }
        case "NOT_IN": return !filter.value.members.contains { equals(value, $0, record) }
        case "BEGINS_WITH": return begins(value, filter.value)
        case "NOT_BEGINS_WITH": return !begins(value, filter.value)
        case "NEAR": return distance(value, filter.value) <= filter.distance ?? -1
        case "CONTAINS_ALL_TOKENS", "CONTAINS_ANY_TOKENS": return searches(value, filter)
        case "LIST_CONTAINS": return contains(value, filter.value, record)
        case "NOT_LIST_CONTAINS": return !contains(value, filter.value, record)
        case "LIST_CONTAINS_ANY":
            return filter.value.members.contains { contains(value, $0, record) }
        case "NOT_LIST_CONTAINS_ANY":
            return !filter.value.members.contains { contains(value, $0, record) }
        case "LIST_CONTAINS_ALL":
            return filter.value.members.allSatisfy { contains(value, $0, record) }
        case "NOT_LIST_CONTAINS_ALL":
            return !filter.value.members.allSatisfy { contains(value, $0, record) }
        case "LIST_MEMBER_BEGINS_WITH": return value.members.contains { begins($0, filter.value) }
        case "NOT_LIST_MEMBER_BEGINS_WITH":
            return !value.members.contains { begins($0, filter.value) }
        default: return false
        }
    }

    private func equals(_ left: PlainValue, _ right: PlainValue, _ record: PlainRecord) -> Bool {
        switch (left, right) {
        case (.string(let left), .string(let right)): PlainText.isEqual(left, right)
        case (.bytes(let left), .bytes(let right)): left == right
        case (.reference(let left, let here), .reference(let right, let there)):
            left == right && here ?? record.zone == there ?? record.zone
        default: compare(left, right) == .orderedSame
        }
    }

    private func contains(_ list: PlainValue, _ one: PlainValue, _ record: PlainRecord) -> Bool {
        list.members.contains { equals($0, one, record) }
    }

    private func begins(_ value: PlainValue, _ prefix: PlainValue) -> Bool {
        PlainText.begins(value.text, with: prefix.text)
    }

    private func searches(_ value: PlainValue, _ filter: PlainFilter) -> Bool {
        let wanted = PlainText.searchedWords(filter.value.text)
        guard !wanted.isEmpty else { return false }
        let texts = if case .list(let members) = value { members.map(\.text) } else { [value.text] }
        let found = Set(texts.flatMap(PlainText.words))
        return filter.comparator == "CONTAINS_ALL_TOKENS"
            ? wanted.isSubset(of: found) : !wanted.isDisjoint(with: found)
    }

    private func compare(_ left: PlainValue, _ right: PlainValue) -> ComparisonResult {
        switch (left, right) {
        case (.string(let left), .string(let right)):
            left.utf8.elementsEqual(right.utf8)
                ? .orderedSame
                : PlainText.precedes(left, right) ? .orderedAscending : .orderedDescending
        case (.int(let left), .int(let right)), (.time(let left), .time(let right)):
            Self.order(left, right)
        case (.double(let left), .double(let right)): Self.order(left, right)
        default: .orderedSame
        }
    }

    private static func order<Number: Comparable>(
        _ left: Number, _ right: Number
    ) -> ComparisonResult {
        left < right ? .orderedAscending : left > right ? .orderedDescending : .orderedSame
    }

    private func distance(_ value: PlainValue, _ from: PlainValue) -> Double {
        guard case .location(let latitude, let longitude) = value,
            case .location(let fromLatitude, let fromLongitude) = from
        else { return .infinity }
        return PlainGlobe.metres(
            (latitude, longitude), (fromLatitude, fromLongitude))
    }

    // MARK: - Order

    /// Whether one may come before the other, given that distances are rounded.
    func mayPrecede(_ left: PlainRecord, _ right: PlainRecord) -> Bool {
        for sort in sorts {
            if let from = sort.from {
                let from = PlainValue.location(latitude: from.latitude, longitude: from.longitude)
                let locations = [left, right].map { $0.fields[sort.field] }
                let metres = locations.map { $0.map { distance($0, from) } ?? .infinity }
                if locations[0]?.json != locations[1]?.json, abs(metres[0] - metres[1]) < 1 {
                    return true
                }
            }
            let order = order(left, right, sort)
            if order != .orderedSame { return (order == .orderedAscending) == sort.ascending }
        }
        return (left.number < right.number) == (sorts.first?.ascending ?? true)
    }

    private func precedes(_ left: PlainRecord, _ right: PlainRecord) -> Bool {
        for sort in sorts {
            switch order(left, right, sort) {
            case .orderedSame: continue
            case let order: return (order == .orderedAscending) == sort.ascending
            }
        }
        return (left.number < right.number) == (sorts.first?.ascending ?? true)
    }

    private func order(
        _ left: PlainRecord, _ right: PlainRecord, _ sort: PlainSort
    ) -> ComparisonResult {
        let (first, second) = (left.value(of: sort.field), right.value(of: sort.field))
        if let from = sort.from {
            let from = PlainValue.location(latitude: from.latitude, longitude: from.longitude)
            return Self.order(
                first.map { distance($0, from) } ?? .infinity,
                second.map { distance($0, from) } ?? .infinity)
        }
        switch (first, second) {
        case (nil, nil): return .orderedSame
        case (nil, _): return .orderedAscending
        case (_, nil): return .orderedDescending
        case (.string(let first), .string(let second)):
            let (first, second) = (PlainText.sorted(first), PlainText.sorted(second))
            if first == second { return .orderedSame }
            return first.lexicographicallyPrecedes(second) ? .orderedAscending : .orderedDescending
        case (.reference(let first, _), .reference(let second, _)):
            return compare(.string(first), .string(second))
        case (let first?, let second?): return compare(first, second)
        }
    }
}

/// Distances by vectors from the Earth's centre, unlike the server's.
enum PlainGlobe {
    static let radius = 6_371_008.8

    static func metres(
        _ left: (latitude: Double, longitude: Double),
        _ right: (latitude: Double, longitude: Double)
    ) -> Double {
        let (a, b) = (vector(left), vector(right))
        let cross = [
            a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0],
        ]
        let sine = (cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]).squareRoot()
        return radius * atan2(sine, a[0] * b[0] + a[1] * b[1] + a[2] * b[2])
    }

    private static func vector(_ location: (latitude: Double, longitude: Double)) -> [Double] {
        let latitude = location.latitude * .pi / 180
        let longitude = location.longitude * .pi / 180
        return [
            cos(latitude) * cos(longitude), cos(latitude) * sin(longitude), sin(latitude),
        ]
    }
}

extension PlainRecord {
    /// The value of a field or a system field; nil when the record lacks it.
    func value(of field: String) -> PlainValue? {
        switch field {
        case "___recordID": .reference(name, zone: zone)
        case "___createTime": .time(created)
        case "___modTime": .time(modified)
        case "___createdBy": .reference(creator, zone: zone)
        default: fields[field]
        }
    }
}

extension PlainValue {
    var members: [PlainValue] { if case .list(let members) = self { members } else { [] } }

    var text: String {
        switch self {
        case .string(let text), .reference(let text, _): text
        default: ""
        }
    }
}
