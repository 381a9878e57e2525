import CloudKitWire
import Foundation

/// Turns a predicate into the filters that the protocol has for it.
struct PredicateTranslation {
    /// What `now()` stands for.
    let now: Date

    private typealias Filter = CKQuery.Filter

    /// - Returns: nil for a predicate that holds for no record.
    /// - Throws: `CKError` `invalidArguments`, which names what cannot be asked.
    func filters(of tree: PredicateTree) throws -> [CKQuery.Filter]? {
        switch tree {
        case .always(let holds): return holds ? [] : nil
        case .and(let parts):
            var all: [Filter] = []
            for part in parts {
                guard let filters = try filters(of: part) else { return nil }
                all += filters
            }
            return all
        case .not(let inner): return try negation(of: inner)
        case .comparison(let left, let comparison, let right, let any):
            return try filters(left, comparison, right, any: any)
        case .filters(let filters): return filters
        case .refused(let word): throw Self.refusal(word)
        }
    }

    private static func refusal(_ what: String) -> CKError {
        CKError(.invalidArguments, "a query cannot ask for \(what)")
    }

    private func negation(of tree: PredicateTree) throws -> [CKQuery.Filter]? {
        if case .always(let holds) = tree { return holds ? nil : [] }
        if case .not(let inner) = tree { return try filters(of: inner) }
        guard case .comparison = tree, let filters = try filters(of: tree), filters.count == 1,
            let negated = filters[0].comparator.negated
        else { throw Self.refusal("NOT over more than one simple comparison") }
        return [Filter(key: filters[0].key, comparator: negated, value: filters[0].value)]
    }

    private func filters(
        _ left: PredicateTree.Operand, _ comparison: PredicateTree.Comparison,
        _ right: PredicateTree.Operand, any: Bool
    ) throws -> [CKQuery.Filter] {
        switch (left, right) {
        case (.distance(let field, let place), .value(let metres)):
            return [try near(field, place, comparison, metres)]
        case (.record, _): return [try search(right, comparison)]
        case (.key(let key), .key):
            throw Self.refusal("two fields compared with each other (\(key))")
        case (.key(let key), _):
            return try filters(key, comparison, right, any: any)
        case (_, .key(let key)):
            return [try mirrored(left, comparison, key)]
        default: throw Self.refusal("a comparison without a field")
        }
    }

    private func filters(
        _ key: String, _ comparison: PredicateTree.Comparison, _ right: PredicateTree.Operand,
        any: Bool
    ) throws -> [CKQuery.Filter] {
        if case .tokens(let words, let options) = right {
            return [try tokens(key, words, options)]
        }
        if comparison == .between { return try range(key, right) }
        let value = try value(right, of: key)
        let comparator: QueryComparator =
            switch comparison {
            case .equal: any ? .listContains : .equals
            case .notEqual: .notEquals
            case .less: .lessThan
            case .lessOrEqual: .lessThanOrEquals
            case .greater: .greaterThan
            case .greaterOrEqual: .greaterThanOrEquals
            case .in: any ? .listContainsAny : .isIn
            case .contains: .listContains
            case .beginsWith: any ? .listMemberBeginsWith : .beginsWith
            case .between: throw Self.refusal("BETWEEN")
            }
        return [Filter(key: try checked(key), comparator: comparator, value: value)]
    }

    /// `value IN listField`, and comparisons with the field on the right.
    private func mirrored(
        _ left: PredicateTree.Operand, _ comparison: PredicateTree.Comparison, _ key: String
    ) throws -> CKQuery.Filter {
        let comparator: QueryComparator =
            switch comparison {
            case .in: .listContains
            case .equal: .equals
            case .notEqual: .notEquals
            case .less: .greaterThan
            case .lessOrEqual: .greaterThanOrEquals
            case .greater: .lessThan
            case .greaterOrEqual: .lessThanOrEquals
            default: throw Self.refusal("\(comparison.rawValue) with a field on its right")
            }
        return Filter(
            key: try checked(key), comparator: comparator, value: try value(left, of: key))
    }

    private func range(
        _ key: String, _ right: PredicateTree.Operand
    ) throws -> [CKQuery.Filter] {
        var ends: [FieldValue] = []
        switch right {
        case .list(let members): ends = try members.map { try value($0, of: key) }
        case .value(let list as [Any]):
            ends = try list.map { try value(.value($0), of: key) }
        default: break
        }
        guard ends.count == 2 else { throw Self.refusal("BETWEEN without two values") }
        return [
            Filter(key: try checked(key), comparator: .greaterThanOrEquals, value: ends[0]),
            Filter(key: key, comparator: .lessThanOrEquals, value: ends[1]),
        ]
    }

    private func near(
        _ field: String, _ place: Any?, _ comparison: PredicateTree.Comparison, _ metres: Any?
    ) throws -> CKQuery.Filter {
        guard comparison == .less || comparison == .lessOrEqual else {
            throw Self.refusal("places outside of a radius")
        }
        guard let place = place as? CLLocation, let metres = (metres as? NSNumber)?.doubleValue
        else { throw Self.refusal("a distance without a place and metres") }
        return Filter(
            key: try checked(field), comparator: .near, value: .location(place), metres: metres)
    }

    private func search(
        _ right: PredicateTree.Operand, _ comparison: PredicateTree.Comparison
    ) throws -> CKQuery.Filter {
        switch (comparison, right) {
        case (.contains, .value(let words as String)):
            return Filter(key: "", comparator: .containsAnyTokens, value: .string(words))
        case (.contains, .tokens(let words, let options)):
            return try tokens("", words, options)
        default: throw Self.refusal("self with anything but CONTAINS and words")
        }
    }

    private func tokens(
        _ key: String, _ words: Any?, _ options: String?
    ) throws -> CKQuery.Filter {
        guard let words = words as? String else { throw Self.refusal("tokens that are no text") }
        return Filter(
            key: try checked(key), comparator: .containsAllTokens, value: .string(words))
    }

    private func value(
        _ operand: PredicateTree.Operand, of key: String
    ) throws -> FieldValue {
        switch operand {
        case .now: return .timestamp(now)
        case .list(let members):
            let values = try members.map { try value($0, of: key) }
            guard Set(values.map(\.element)).count <= 1 else {
                throw Self.refusal("a list of several types (\(key))")
            }
            return .list(values, values.first?.element)
        case .value(let record as CKRecord):
            return .reference(CKRecord.Reference(record: record, action: .none))
        case .value(let id as CKRecord.ID):
            return .reference(CKRecord.Reference(recordID: id, action: .none))
        case .value(let ids as [CKRecord.ID]):
            return .list(
                ids.map { .reference(CKRecord.Reference(recordID: $0, action: .none)) },
                .reference)
        case .value(let records as [CKRecord]):
            return .list(
                records.map { .reference(CKRecord.Reference(record: $0, action: .none)) },
                .reference)
        case .value(let object?):
            guard let value = FieldValue(object) else {
                throw Self.refusal("a \(type(of: object)) (\(key))")
            }
            return value
        case .value(nil): throw Self.refusal("nil (\(key))")
        default: throw Self.refusal("that value (\(key))")
        }
    }

    private func checked(_ key: String) throws -> String {
        guard !key.contains(".") else { throw Self.refusal("a key path (\(key))") }
        return key
    }
}
