import CloudModel

/// What each comparator compares, and which index it needs (web-services.md §5.9).
extension RecordQuery.Comparator {
    /// What a filter with this comparator holds besides the field.
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

    /// Whether records can be found by it, rather than only judged.
    var finds: Bool {
        switch self {
        case .notEquals, .notIn, .notBeginsWith, .notListContains, .notListContainsAny,
            .notListContainsAll, .notListMemberBeginsWith:
            false
        default: true
        }
    }

    /// The index option that the field must have.
    var indexOption: IndexOptions {
        switch self {
        case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals, .beginsWith,
            .notBeginsWith:
            .sortable
        case .containsAllTokens, .containsAnyTokens: .searchable
        // Lists have no order, so a prefix of a member is looked up as a member is.
        case .equals, .notEquals, .in, .notIn, .near, .listContains, .notListContains,
            .listContainsAny, .notListContainsAny, .listContainsAll, .notListContainsAll,
            .listMemberBeginsWith, .notListMemberBeginsWith:
            .queryable
        }
    }

    /// Whether this comparator works on fields of a type, with an index or without.
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

    /// The types that it works on, as error messages list them.
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
    /// Whether one value can be less than another.
    fileprivate var isOrdered: Bool {
        switch self {
        case .string, .int64, .double, .timestamp, .number: true
        case .bytes, .reference, .asset, .location, .unknown: false
        }
    }

    /// Whether queries can compare values for equality.
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
