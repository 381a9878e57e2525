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
            guard fields.count < Self.fieldsMax,
                let key = PercentEncoding.text(name, plusIsSpace: true), fields[key] == nil,
                let text = PercentEncoding.text(value, plusIsSpace: true)
            else { return nil }
            fields[key] = text
        }
        self.fields = fields
    }

    package subscript(_ name: String) -> String? { fields[name] }

    /// The text of a form with these fields.
    package static func encode(_ fields: [(name: String, value: String)]) -> String {
        fields.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }
            .joined(separator: "&")
    }
}
