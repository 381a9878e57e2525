import CloudKitWire
import Foundation

// Queries: every record of the type is looked at.
extension MemoryRequest {
    private typealias Match = (zone: String, name: String, stored: MemoryDatabase.Stored)

    func query() throws -> [UInt8] {
        let type = body["query"]?["recordType"]?.string ?? ""
        let filters = body["query"]?["filterBy"].map { Array($0.elements) } ?? []
        let zones =
            body["zoneWide"]?.bool == true
            ? database.zones : [Self.zoneName(body): try zone(Self.zoneName(body))]
        var found: [Match] = []
        for (zone, records) in zones {
            for (name, stored) in records.records where !stored.isDeleted && stored.type == type {
                if try filters.allSatisfy({ try Self.matches(stored, name, $0) }) {
                    found.append((zone, name, stored))
                }
            }
        }
        found.sort { ($0.zone, $0.name) < ($1.zone, $1.name) }
        for sort in (body["query"]?["sortBy"].map { Array($0.elements) } ?? []).reversed() {
            Self.sort(&found, sort)
        }
        let start = min(found.count, Int(body["continuationMarker"]?.string ?? "") ?? 0)
        let limit = Int(body["resultsLimit"]?.int64 ?? 200)
        let end = min(found.count, start + limit)
        return Self.object { json in
            json.key("records")
            json.array { json in
                for (zone, name, stored) in found[start..<end] {
                    json.raw(Self.record(stored, named: name, in: zone))
                }
            }
            if end < found.count { json.member("continuationMarker", "\(end)") }
        }
    }

    private static func value(
        _ stored: MemoryDatabase.Stored, _ name: String, _ key: String
    ) -> QueryValue? {
        switch key {
        case "___recordID": return .text(name)
        case "___createTime": return .number(Double(stored.created.milliseconds))
        case "___modTime": return .number(Double(stored.modified.milliseconds))
        default:
            guard let bytes = stored.fields[key], let field = try? JSONTape(bytes).root else {
                return nil
            }
            return QueryValue(field["value"])
        }
    }

    static func matches(
        _ stored: MemoryDatabase.Stored, _ name: String, _ filter: JSONView
    ) throws -> Bool {
        let key = filter["fieldName"]?.string ?? ""
        let word = filter["comparator"]?.string ?? ""
        guard let comparator = QueryComparator(rawValue: word),
            let wanted = QueryValue(filter["fieldValue"]?["value"])
        else { throw MemoryFault(code: "BAD_REQUEST", reason: "a filter that cannot be read") }
        // As on the real server, a field that is not there matches nothing.
        guard let value = value(stored, name, key) else { return false }
        guard let holds = value.holds(comparator, wanted) else {
            throw MemoryFault(
                code: "BAD_REQUEST", reason: "the server in memory does not know \(word)")
        }
        return holds
    }

    private static func sort(_ found: inout [Match], _ sort: JSONView) {
        let key = sort["fieldName"]?.string ?? ""
        let isAscending = sort["ascending"]?.bool ?? true
        let values = found.map { ($0, value($0.stored, $0.name, key)) }
        let ordered = values.enumerated().sorted { first, second in
            switch (first.element.1, second.element.1) {
            case (let one?, let other?) where one.isBelow(other): return isAscending
            case (let one?, let other?) where other.isBelow(one): return !isAscending
            case (nil, .some): return isAscending
            case (.some, nil): return !isAscending
            default: return first.offset < second.offset
            }
        }
        found = ordered.map(\.element.0)
    }
}

/// A field's value as queries compare it.
indirect enum QueryValue: Equatable {
    case text(String)
    case number(Double)
    case list([QueryValue])

    init?(_ view: JSONView?) {
        guard let view else { return nil }
        if let text = view.string {
            self = .text(text)
        } else if let number = view.double {
            self = .number(number)
        } else if view.isArray {
            self = .list(view.elements.compactMap { QueryValue($0) })
        } else if let name = view["recordName"]?.string {
            self = .text(name)
        } else {
            return nil
        }
    }

    func isBelow(_ other: QueryValue) -> Bool {
        switch (self, other) {
        case (.text(let one), .text(let two)): one.lowercased() < two.lowercased()
        case (.number(let one), .number(let two)): one < two
        default: false
        }
    }

    private func equals(_ other: QueryValue) -> Bool {
        if case .text(let one) = self, case .text(let two) = other {
            return one.lowercased() == two.lowercased()
        }
        return self == other
    }

    private var members: [QueryValue] { if case .list(let members) = self { members } else { [] } }

    private func begins(_ prefix: QueryValue) -> Bool {
        if case .text(let text) = self, case .text(let start) = prefix {
            return text.hasPrefix(start)
        }
        return false
    }

    /// - Returns: nil for a comparator that is not known here.
    func holds(_ comparator: QueryComparator, _ wanted: QueryValue) -> Bool? {
        switch comparator {
        case .equals: equals(wanted)
        case .notEquals: !equals(wanted)
        case .lessThan: isBelow(wanted)
        case .lessThanOrEquals: isBelow(wanted) || equals(wanted)
        case .greaterThan: wanted.isBelow(self)
        case .greaterThanOrEquals: wanted.isBelow(self) || equals(wanted)
        case .isIn: wanted.members.contains { equals($0) }
        case .isNotIn: !wanted.members.contains { equals($0) }
        case .beginsWith: begins(wanted)
        case .notBeginsWith: !begins(wanted)
        case .listContains: members.contains { $0.equals(wanted) }
        case .notListContains: !members.contains { $0.equals(wanted) }
        case .listContainsAny:
            members.contains { one in wanted.members.contains { one.equals($0) } }
        case .listContainsAll:
            wanted.members.allSatisfy { one in members.contains { one.equals($0) } }
        case .listMemberBeginsWith: members.contains { $0.begins(wanted) }
        default: nil
        }
    }
}
