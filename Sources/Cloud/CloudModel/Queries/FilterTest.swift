import Cryptography

/// Decides whether a record matches one filter, by the record's stored body (rulings.md 21).
///
/// A negative comparator matches only records that have the field.
package struct FilterTest {
    private let name: String
    private let comparator: RecordQuery.Comparator
    private let isFolded: Bool
    /// The value, or the members of a list value.
    private let values: [IndexValue]
    private let near: (centre: RecordQuery.Coordinate, metres: Double)?
    /// The words of a token search; nil for another comparator.
    private let words: Set<[UInt8]>?

    /// - Parameters:
    ///   - zone: the zone of the records; it decides what a reference means.
    ///   - words: those that a search for words looks for; nil for another comparator.
    package init(
        _ filter: RecordQuery.Filter, in zone: ZoneName, words: [[UInt8]]?
    ) {
        name = filter.subject.name
        comparator = filter.comparator
        isFolded = filter.isFolded
        values = filter.indexValues(in: zone)
        if case .location(let centre) = filter.value, comparator == .near {
            near = (centre, filter.distance ?? 0)
        } else {
            near = nil
        }
        self.words = filter.searchText.map { _ in Set(words ?? []) }
    }

    package func holds(for record: StoredFields) -> Bool {
        if let near {
            guard let location = record.location(in: name) else { return false }
            return location.distance(to: near.centre) <= near.metres
        }
        if let words { return contains(words, record) }
        switch record.content(of: name, isFolded: isFolded) {
        case .absent: return false
        case .one(let value): return holds(for: value)
        case .many(let members): return holds(for: members)
        }
    }

    private func contains(_ words: Set<[UInt8]>, _ record: StoredFields) -> Bool {
        // A search for nothing but stop words finds nothing.
        guard !words.isEmpty, let texts = record.texts(in: name) else { return false }
        let found = Set(texts.flatMap(Words.of))
        return comparator == .containsAllTokens
            ? words.isSubset(of: found) : !words.isDisjoint(with: found)
    }

    private func holds(for value: IndexValue) -> Bool {
        switch comparator {
        case .equals, .in: values.contains(value)
        case .notEquals, .notIn: !values.contains(value)
        case .lessThan: compares(value) { $0 < $1 }
        case .lessThanOrEquals: compares(value) { $0 <= $1 }
        case .greaterThan: compares(value) { $0 > $1 }
        case .greaterThanOrEquals: compares(value) { $0 >= $1 }
        case .beginsWith: compares(value) { $0.begins(with: $1) }
        case .notBeginsWith: !compares(value) { $0.begins(with: $1) }
        default: false
        }
    }

    private func compares(_ value: IndexValue, _ holds: (IndexValue, IndexValue) -> Bool) -> Bool {
        guard let wanted = values.first, value.isComparable(with: wanted) else { return false }
        return holds(value, wanted)
    }

    private func holds(for members: [IndexValue]) -> Bool {
        switch comparator {
        case .listContains, .listContainsAny: containsAny(members)
        case .notListContains, .notListContainsAny: !containsAny(members)
        case .listContainsAll: containsAll(members)
        case .notListContainsAll: !containsAll(members)
        case .listMemberBeginsWith: hasPrefix(members)
        case .notListMemberBeginsWith: !hasPrefix(members)
        // Two lists are equal when their members are, in the same order.
        case .equals: members == values
        case .notEquals: members != values
        default: false
        }
    }

    private func containsAny(_ members: [IndexValue]) -> Bool {
        let wanted = Set(values)
        return members.contains { wanted.contains($0) }
    }

    private func containsAll(_ members: [IndexValue]) -> Bool {
        Set(values).isSubset(of: Set(members))
    }

    private func hasPrefix(_ members: [IndexValue]) -> Bool {
        guard let prefix = values.first else { return false }
        return members.contains { $0.begins(with: prefix) }
    }
}

extension RecordQuery.Filter {
    /// Whether text is compared without regard to case (rulings.md 21).
    package var isFolded: Bool {
        guard case .field = subject else { return false }
        switch comparator {
        case .equals, .notEquals, .in, .notIn, .listContains, .notListContains, .listContainsAny,
            .notListContainsAny, .listContainsAll, .notListContainsAll:
            return hasText(value)
        default: return false
        }
    }

    private func hasText(_ value: RecordQuery.Value) -> Bool {
        switch value {
        case .string: true
        case .list(let members): members.contains(where: hasText)
        default: false
        }
    }

    /// The text of a token search; nil for another comparator.
    package var searchText: String? {
        guard comparator == .containsAllTokens || comparator == .containsAnyTokens else {
            return nil
        }
        switch value {
        case .string(let text): return text
        case .list(let members):
            return members.map { if case .string(let text) = $0 { text } else { "" } }
                .joined(separator: " ")
        default: return ""
        }
    }

    /// The values that the filter compares with; of a list, its members one by one.
    ///
    /// - Parameter zone: the zone of the records to compare: their references within it name no zone.
    package func indexValues(in zone: ZoneName) -> [IndexValue] {
        guard case .list(let members) = value else {
            return indexValue(of: value, in: zone).map { [$0] } ?? []
        }
        return members.compactMap { indexValue(of: $0, in: zone) }
    }

    private func indexValue(of value: RecordQuery.Value, in zone: ZoneName) -> IndexValue? {
        switch value {
        case .string(let text): isFolded ? .text(CaseFolding.fold(text)) : IndexValue(text)
        case .int64(let number), .timestamp(let number): .integer(number)
        case .double(let number): IndexValue(number)
        case .user(let name): IndexValue(name)
        case .location(let location): location.indexValue
        case .reference(let name, let other):
            if other == nil || other == zone {
                IndexValue(name.text)
            } else if case .field = subject {
                .reference(name.text, otherZone: other?.text ?? "")
            } else {
                nil
            }
        case .bytes(let bytes): IndexValue(Base64.encode(bytes))
        // A list has no lists as members.
        case .list: nil
        }
    }
}
