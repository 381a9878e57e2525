/// What a query asks for (web-services.md §5.9): one record type, filters that all must hold, an order.
///
/// Values have the types that the request names; whether the schema allows them is decided later.
package struct RecordQuery: Sendable, Hashable {
    /// What a filter or a sort looks at.
    package enum Subject: Sendable, Hashable {
        case field(FieldName)
        case system(SystemField)
    }

    package enum Comparator: String, Sendable, CaseIterable {
        case equals = "EQUALS"
        case notEquals = "NOT_EQUALS"
        case lessThan = "LESS_THAN"
        case lessThanOrEquals = "LESS_THAN_OR_EQUALS"
        case greaterThan = "GREATER_THAN"
        case greaterThanOrEquals = "GREATER_THAN_OR_EQUALS"
        case near = "NEAR"
        case containsAllTokens = "CONTAINS_ALL_TOKENS"
        case containsAnyTokens = "CONTAINS_ANY_TOKENS"
        case `in` = "IN"
        case notIn = "NOT_IN"
        case beginsWith = "BEGINS_WITH"
        case notBeginsWith = "NOT_BEGINS_WITH"
        case listContains = "LIST_CONTAINS"
        case notListContains = "NOT_LIST_CONTAINS"
        case listContainsAny = "LIST_CONTAINS_ANY"
        case notListContainsAny = "NOT_LIST_CONTAINS_ANY"
        case listContainsAll = "LIST_CONTAINS_ALL"
        case notListContainsAll = "NOT_LIST_CONTAINS_ALL"
        case listMemberBeginsWith = "LIST_MEMBER_BEGINS_WITH"
        case notListMemberBeginsWith = "NOT_LIST_MEMBER_BEGINS_WITH"
    }

    /// A point on the globe, in degrees.
    package struct Coordinate: Sendable, Hashable {
        package let latitude: Double
        package let longitude: Double

        package init(latitude: Double, longitude: Double) {
            self.latitude = latitude
            self.longitude = longitude
        }
    }

    /// One value that fields are compared with.
    package enum Value: Sendable, Hashable {
        case string(String)
        case int64(Int64)
        case double(Double)
        /// Milliseconds since 1970.
        case timestamp(Int64)
        case bytes([UInt8])
        /// References are the same when record and zone are; a nil zone is that of the record.
        case reference(RecordName, ZoneName?)
        /// A user, as `___createdBy` and `___modifiedBy` hold one.
        case user(String)
        case location(Coordinate)
        case list([Value])
    }

    package struct Filter: Sendable, Hashable {
        package var subject: Subject
        package var comparator: Comparator
        /// Of the value: as the request names it, or the one of its JSON.
        package var type: FieldType
        /// Whether the request names the type; else the schema's is taken, where the value can be it.
        package var isTypeGiven: Bool
        package var value: Value
        /// Metres; only with `near`.
        package var distance: Double?

        package init(
            subject: Subject, comparator: Comparator, type: FieldType, isTypeGiven: Bool = true,
            value: Value, distance: Double? = nil
        ) {
            self.subject = subject
            self.comparator = comparator
            self.type = type
            self.isTypeGiven = isTypeGiven
            self.value = value
            self.distance = distance
        }
    }

    package struct Sort: Sendable, Hashable {
        package var subject: Subject
        package var ascending: Bool
        /// Sorts a location field by its distance from here.
        package var relativeTo: Coordinate?

        package init(subject: Subject, ascending: Bool = true, relativeTo: Coordinate? = nil) {
            self.subject = subject
            self.ascending = ascending
            self.relativeTo = relativeTo
        }
    }

    package var type: RecordTypeName
    package var filters: [Filter]
    package var sorts: [Sort]

    package init(type: RecordTypeName, filters: [Filter] = [], sorts: [Sort] = []) {
        self.type = type
        self.filters = filters
        self.sorts = sorts
    }
}
