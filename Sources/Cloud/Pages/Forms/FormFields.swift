import Cryptography

/// The fields of a form or of a query (application/x-www-form-urlencoded).
///
/// Of a name that comes more than once the first counts. What is no such text is left out, field by field.
struct FormFields: Sendable {
    private let values: [String: String]

    /// More fields than any form of ours has are not read.
    private static let countMax = 64

    init(_ bytes: some Collection<UInt8>) {
        var values: [String: String] = [:]
        for pair in bytes.split(separator: UInt8(ascii: "&"), maxSplits: Self.countMax)
            .prefix(Self.countMax)
        {
            let parts = pair.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]), values[name] == nil,
                let value = parts.count > 1 ? Self.decoded(parts[1]) : ""
            else { continue }
            values[name] = value
        }
        self.values = values
    }

    /// The value under a name; nil when there is none.
    subscript(_ name: String) -> String? { values[name] }

    /// The value under a name without white space around it; nil when nothing is left.
    func filled(_ name: String) -> String? {
        guard let value = values[name] else { return nil }
        let scalars = value.unicodeScalars
        let isBlank = { (scalar: Unicode.Scalar) in scalar.properties.isWhitespace }
        guard let first = scalars.firstIndex(where: { !isBlank($0) }),
            let last = scalars.lastIndex(where: { !isBlank($0) })
        else { return nil }
        return String(scalars[first...last])
    }

    /// Nil for octets that are no UTF-8; a percent sign that starts no octet stands for itself.
    private static func decoded(_ bytes: some Collection<UInt8>) -> String? {
        PercentEncoding.text(Array(bytes)[...], plusIsSpace: true, isLenient: true)
    }
}
