import CloudKitWire
import Foundation

/// A value with its type as bytes: what is encrypted.
///
/// Dates are in milliseconds, as the protocol has them, and beside it exactly as the app has set them.
enum ValueText {
    static func bytes(of value: FieldValue) throws -> [UInt8] {
        var json = JSONText()
        try json.object { json in
            try json.valueAndType(value, in: .default)
            let seconds = value.exactSeconds
            guard !seconds.isEmpty else { return }
            json.key("seconds")
            json.array { json in for second in seconds { json.double(second) } }
        }
        return json.bytes
    }

    static func value(of bytes: [UInt8], in zone: CKRecordZone.ID) -> FieldValue? {
        guard let view = try? JSONTape(bytes).root else { return nil }
        let value = AnswerReader(user: nil, scope: .private, links: nil).value(view, in: zone)
        let seconds = view["seconds"]?.elements.compactMap(\.double) ?? []
        return value?.with(exactSeconds: seconds)
    }
}

extension FieldValue {
    /// The seconds since 2001 of a date or of a list of dates; empty for other values.
    fileprivate var exactSeconds: [TimeInterval] {
        switch self {
        case .timestamp(let date):
            let seconds = date.timeIntervalSinceReferenceDate
            return seconds.isFinite ? [seconds] : []
        case .list(let members, _):
            let seconds = members.flatMap(\.exactSeconds)
            return seconds.count == members.count ? seconds : []
        default: return []
        }
    }

    /// The same value with its dates exactly; as it is where there are not as many.
    fileprivate func with(exactSeconds seconds: [TimeInterval]) -> FieldValue {
        switch self {
        case .timestamp where seconds.count == 1:
            return .timestamp(Date(timeIntervalSinceReferenceDate: seconds[0]))
        case .list(let members, .timestamp) where members.count == seconds.count:
            let dates = seconds.map {
                FieldValue.timestamp(Date(timeIntervalSinceReferenceDate: $0))
            }
            return .list(dates, .timestamp)
        default: return self
        }
    }
}
