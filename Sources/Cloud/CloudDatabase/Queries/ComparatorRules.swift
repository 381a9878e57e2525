import CloudModel

/// What each comparator compares, and which index it needs (web-services.md §5.9).
extension RecordQuery.Comparator {
    /// What a filter of this comparator holds beside the field.
    enum Operand {
        /// One value of the field's type, or of its members' when the field is a list.
        case value
        /// A list of such values.
        case list
    }

    var operand: Operand {
        switch self {
        case .in, .notIn, .listContainsAny, .notListContainsAny, .listContainsAll,
            .notListContainsAll:
            .list
        case .equals, .notEquals, .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals,
            .near, .containsAllTokens, .containsAnyTokens, .beginsWith, .notBeginsWith,
            .listContains, .notListContains, .listMemberBeginsWith, .notListMemberBeginsWith:
            .value
        }
    }

    /// The index option that a field must have for it.
    var indexOption: IndexOptions {
        switch self {
        case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals, .beginsWith,
            .notBeginsWith:
            .sortable
        case .containsAllTokens, .containsAnyTokens: .searchable
        // Lists have no order, so that prefixes of their members are looked up like members.
        case .equals, .notEquals, .in, .notIn, .near, .listContains, .notListContains,
            .listContainsAny, .notListContainsAny, .listContainsAll, .notListContainsAll,
            .listMemberBeginsWith, .notListMemberBeginsWith:
            .queryable
        }
    }

    /// Whether fields of a type can be compared so, index or not.
    func applies(to type: FieldType) -> Bool {
        switch self {
        case .equals, .notEquals, .in, .notIn:
            !type.isList && type.element.hasEquality
        case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals:
            !type.isList && type.element.isOrdered
        case .near: !type.isList && type.element == .location
        case .containsAllTokens, .containsAnyTokens: type.element == .string
        case .beginsWith, .notBeginsWith: !type.isList && type.element == .string
        case .listContains, .notListContains, .listContainsAny, .notListContainsAny,
            .listContainsAll, .notListContainsAll:
            type.isList && type.element.hasEquality
        case .listMemberBeginsWith, .notListMemberBeginsWith:
            type.isList && type.element == .string
        }
    }

    /// The types that it is for, as reasons say them.
    var typesText: String {
        switch self {
        case .equals, .notEquals, .in, .notIn:
            "STRING, INT64, DOUBLE, TIMESTAMP, REFERENCE and BYTES"
        case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals:
            "STRING, INT64, DOUBLE and TIMESTAMP"
        case .near: "LOCATION"
        case .containsAllTokens, .containsAnyTokens: "STRING and STRING_LIST"
        case .beginsWith, .notBeginsWith: "STRING"
        case .listContains, .notListContains, .listContainsAny, .notListContainsAny,
            .listContainsAll, .notListContainsAll:
            "lists of STRING, INT64, DOUBLE, TIMESTAMP, REFERENCE and BYTES"
        case .listMemberBeginsWith, .notListMemberBeginsWith: "STRING_LIST"
        }
    }
}

extension FieldType.Element {
    /// Whether of two values one is less.
    fileprivate var isOrdered: Bool {
        switch self {
        case .string, .int64, .double, .timestamp, .number: true
        case .bytes, .reference, .asset, .location, .unknown: false
        }
    }

    /// Whether queries tell equal values.
    fileprivate var hasEquality: Bool {
        switch self {
        case .string, .int64, .double, .timestamp, .number, .bytes, .reference: true
        case .asset, .location, .unknown: false
        }
    }
}

extension IndexOptions {
    /// The one option as the schema language writes it.
    var word: String {
        switch self {
        case .queryable: "QUERYABLE"
        case .sortable: "SORTABLE"
        default: "SEARCHABLE"
        }
    }
}
