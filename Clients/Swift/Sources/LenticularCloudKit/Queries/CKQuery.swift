import CloudKitWire
import Foundation

/// A question for records of one type.
public final class CKQuery: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Unchecked: sorts are set before the query runs, by the code that made it.

    /// What a filter asks of a field.
    public typealias Comparator = QueryComparator

    /// What one field of a record must be: the plain way to write a predicate.
    public struct Filter: Equatable, Sendable {
        /// A field's key, or one of `CKRecord.SystemFieldKey`.
        let key: CKRecord.FieldKey
        let comparator: QueryComparator
        let value: FieldValue
        /// The radius around a place, in metres.
        var metres: Double?

        /// - Precondition: the value is one that a field can hold.
        public init(
            _ key: CKRecord.FieldKey, _ comparator: QueryComparator,
            _ value: any CKRecordValueProtocol
        ) {
            guard let value = FieldValue(value) else {
                preconditionFailure("a filter of \"\(key)\" cannot have a \(type(of: value))")
            }
            self.init(key: key, comparator: comparator, value: value)
        }

        /// Records within a distance of a place.
        public static func near(
            _ key: CKRecord.FieldKey, _ place: CLLocation, metres: Double
        ) -> Filter {
            Filter(key: key, comparator: .near, value: .location(place), metres: metres)
        }

        init(
            key: CKRecord.FieldKey, comparator: QueryComparator, value: FieldValue,
            metres: Double? = nil
        ) {
            self.key = key
            self.comparator = comparator
            self.value = value
            self.metres = metres
        }
    }

    /// An order of results.
    public struct Sort: Equatable, Sendable {
        let key: CKRecord.FieldKey
        let isAscending: Bool
        var place: CLLocation?

        /// By a field.
        public init(_ key: CKRecord.FieldKey, ascending: Bool = true) {
            self.key = key
            isAscending = ascending
        }

        /// By the distance from a place.
        public init(
            _ key: CKRecord.FieldKey, distanceFrom place: CLLocation, ascending: Bool = true
        ) {
            self.init(key, ascending: ascending)
            self.place = place
        }
    }

    /// What is asked for: made from a predicate when the query runs.
    enum Question: @unchecked Sendable {
        // Unchecked: predicates do not change.
        case predicate(NSPredicate)
        case filters([Filter], [Sort])
    }

    /// The kind of records that is asked for.
    public let recordType: CKRecord.RecordType
    /// What must hold.
    public let predicate: NSPredicate
    /// The order of the results; without one it is not specified.
    public var sortDescriptors: [NSSortDescriptor]?
    let question: Question

    /// A query by a predicate.
    ///
    /// What no server can answer is told when the query runs.
    public init(recordType: CKRecord.RecordType, predicate: NSPredicate) {
        self.recordType = recordType
        self.predicate = predicate
        question = .predicate(predicate)
    }

    /// A query by filters, which all must hold.
    public init(recordType: CKRecord.RecordType, filters: [Filter], sort: [Sort] = []) {
        self.recordType = recordType
        #if os(Linux)
            predicate = FormatPredicate(.filters(filters))
        #else
            predicate = NSPredicate(value: true)
        #endif
        question = .filters(filters, sort)
    }

    /// Itself: it does not change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: - Archives

    /// True: archives name their classes.
    public static var supportsSecureCoding: Bool { true }

    /// Writes it into an archive; one that no server can answer leaves nothing there.
    public func encode(with coder: NSCoder) {
        var json = JSONText()
        guard let filters = try? filters(), let sorts = try? sorts(),
            (try? json.query(recordType, filters, sorts)) != nil
        else { return }
        coder.encode(Data(json.bytes) as NSData, forKey: "Query")
    }

    /// Reads it from an archive; nil for anything else.
    public convenience init?(coder: NSCoder) {
        let reader = SubscriptionText.ownReader
        guard let data = coder.object(NSData.self, "Query") as Data?,
            let view = try? JSONTape([UInt8](data)).root,
            let recordType = view["recordType"]?.string
        else { return nil }
        self.init(
            recordType: recordType,
            filters: view["filterBy"]?.elements.compactMap(reader.filter) ?? [])
        sortDescriptors = view["sortBy"]?.elements.compactMap(reader.sortDescriptor)
    }

    /// The filters to send; nil for a predicate that holds for no record.
    ///
    /// - Throws: `CKError` `invalidArguments` for what no server can answer.
    func filters() throws -> [Filter]? {
        switch question {
        case .filters(let filters, _): return filters
        case .predicate(let predicate):
            return try PredicateTranslation(now: Date()).filters(of: predicate.tree)
        }
    }

    /// - Throws: `CKError` `invalidArguments` for a sort without a key.
    func sorts() throws -> [Sort] {
        if case .filters(_, let sorts) = question, sortDescriptors == nil { return sorts }
        return try (sortDescriptors ?? []).map { descriptor in
            guard let key = descriptor.key, !key.isEmpty else {
                throw CKError(.invalidArguments, "a sort without a field's key")
            }
            guard let near = descriptor as? CKLocationSortDescriptor else {
                return Sort(key, ascending: descriptor.ascending)
            }
            return Sort(key, distanceFrom: near.relativeLocation)
        }
    }
}
