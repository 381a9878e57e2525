import CloudModel
import Storage

// What a record must have for a query to be of interest to it: a filter with EQUALS on text or a whole number.
//
// The form is such that equal values always have the same; different ones may, since the query itself decides.
extension RecordQuery {
    /// The first requirement that is known without the schema; nil for none.
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
            // A name that stands for a system field is not found among the fields.
            guard let value, SystemField(spelling: name.text) == nil else { continue }
            return SubscriptionMatch(field: name.text, value: value)
        }
        return nil
    }
}

extension SubscriptionMatch {
    /// What a record's field stands for; nil for what no requirement is made of.
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
