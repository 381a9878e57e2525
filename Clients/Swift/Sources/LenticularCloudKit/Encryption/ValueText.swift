import CloudKitWire
import Foundation

/// A value with its type as bytes: what is encrypted.
enum ValueText {
    static func bytes(of value: FieldValue) throws -> [UInt8] {
        var json = JSONText()
        try json.field(value, in: .default)
        return json.bytes
    }

    static func value(of bytes: [UInt8], in zone: CKRecordZone.ID) -> FieldValue? {
        guard let view = try? JSONTape(bytes).root else { return nil }
        return AnswerReader(user: nil, scope: .private, links: nil).value(view, in: zone)
    }
}
