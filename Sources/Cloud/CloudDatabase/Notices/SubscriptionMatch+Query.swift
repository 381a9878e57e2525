import CloudModel
import Storage

// What a record must have for a query to concern it: a filter with EQUALS on text or a whole number.
//
// Equal values always have the same form here. Different values may also have the same form, because the
// query itself decides in the end.
extension RecordQuery {
    /// The first requirement that can be told without the schema; nil for none.
    var subscriptionMatch: SubscriptionMatch? {
        for filter in filters where filter.comparator == .equals {
            guard case .field(let name) = filter.subject else { continue }
            let value: [UInt8]? =
                switch filter.value {
                case .string(let text): SubscriptionMatch.form(.init(text))
                case .reference(let target, _): SubscriptionMatch.form(.init(target.text))
                case .int64(let number), .timestamp(let number):
                    SubscriptionMatch.form(.integer(number))
                case .double, .bytes, .user, .location, .list: nil
                }
            // The name of a system field is not found among the fields.
            guard let value, SystemField(spelling: name.text) == nil else { continue }
            return SubscriptionMatch(field: name.text, value: value)
        }
        return nil
    }
}

extension SubscriptionMatch {
    /// The match of a record's field; nil when no requirement can ask for it.
    init?(_ field: String, of record: StoredFields) {
        guard case .one(let value) = record.content(of: field), let form = Self.form(value) else {
            return nil
        }
        self.init(field: field, value: form)
    }

    fileprivate static func form(_ value: IndexValue) -> [UInt8]? {
        switch value {
        case .text(let bytes): bytes.withUnsafeBytes { Array("t".utf8) + CaseFolding.fold($0) }
        case .integer(let number): Array("n\(number)".utf8)
        case .real(let number): Int64(exactly: number).map { Array("n\($0)".utf8) }
        }
    }
}
