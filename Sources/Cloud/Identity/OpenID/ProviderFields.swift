import Cryptography

/// What an identity provider and this server say to each other in a form or a query string
/// (`application/x-www-form-urlencoded`).
///
/// It is stricter than the forms that people send (`FormFields` in `Pages`): what a provider says decides who
/// comes in. So text that could be read in two ways is refused as a whole.
package struct ProviderFields: Sendable {
    package static let bytesMax = 65_536
    package static let fieldsMax = 64

    private let fields: [String: String]

    /// Reads a form; nil for one over the limits, a broken escape, text that is not UTF-8, or a name
    /// that comes twice.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.bytesMax else { return nil }
        var fields: [String: String] = [:]
        for part in bytes.split(separator: UInt8(ascii: "&")) {
            let name = part.prefix { $0 != UInt8(ascii: "=") }
            let value = part.dropFirst(name.count + 1)
            guard fields.count < Self.fieldsMax, let key = Self.decode(name), fields[key] == nil,
                let text = Self.decode(value)
            else { return nil }
            fields[key] = text
        }
        self.fields = fields
    }

    package subscript(_ name: String) -> String? { fields[name] }

    /// The text of a form with these fields.
    package static func encode(_ fields: [(name: String, value: String)]) -> String {
        fields.map { "\(escape($0.name))=\(escape($0.value))" }.joined(separator: "&")
    }

    private static func escape(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                bytes.append(byte)
            case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func decode(_ part: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = part
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(Hexadecimal.value(ofAnyCase:)),
                    let low = rest.popFirst().flatMap(Hexadecimal.value(ofAnyCase:))
                else { return nil }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
