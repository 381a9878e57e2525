import CloudModel
import JSON

/// The values of a record that notices show: text, numbers, dates, places and names of records.
///
/// Notices never show encrypted fields, lists, bytes or assets.
struct NoticeFields: Sendable {
    /// How many characters of a value a text shows at most (semantics.md §5).
    private static let charactersMax = 100

    private let body: StoredBody?

    /// - Parameter body: nil for no record, which has no values.
    init(_ body: StoredBody? = nil) { self.body = body }

    private func value(_ name: String) -> (JSONValue, FieldType.Element)? {
        guard let field = body?.field(name), let value = field["value"],
            field["isEncrypted"] == nil, value.kind != .array,
            let tag = field["type"]?.string,
            let element = FieldType.Element.allCases.first(where: { "\($0.tag)" == tag })
        else { return nil }
        return (value, element)
    }

    /// A value as a localised text shows it; empty where there is none, and for a place.
    ///
    /// A date is in UTC, as RFC 3339 writes it; one that this cannot write is in milliseconds since 1970.
    func text(_ name: String) -> String {
        guard let (value, element) = value(name) else { return "" }
        switch element {
        case .string: return value.string.map { String($0.prefix(Self.charactersMax)) } ?? ""
        case .int64: return value.int64.map { "\($0)" } ?? ""
        case .timestamp: return value.int64.map(Self.text(ofDate:)) ?? ""
        case .double: return value.double.map { "\($0)" } ?? ""
        case .reference: return value["recordName"]?.string ?? ""
        case .location, .bytes, .asset, .unknown, .number: return ""
        }
    }

    private static func text(ofDate moment: Milliseconds) -> String {
        Timestamp.range.contains(moment) ? Timestamp(moment).text : "\(moment)"
    }

    /// Appends the values of fields as the object `af`; those without a value are left out.
    func append(_ names: [String], to writer: inout JSONWriter) {
        writer.raw("{")
        var isFirst = true
        for name in names {
            guard let (value, element) = value(name) else { continue }
            var text = JSONWriter(reserving: 64)
            switch element {
            case .string, .int64, .double, .timestamp, .location: text.compact(value)
            case .reference:
                guard let target = value["recordName"] else { continue }
                text.compact(target)
            case .bytes, .asset, .unknown, .number: continue
            }
            writer.separate(&isFirst)
            writer.string(name)
            writer.raw(":")
            writer.raw(text.bytes)
        }
        writer.raw("}")
    }
}
