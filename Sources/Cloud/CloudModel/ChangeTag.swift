/// A record's change tag: its position in lower-case base 36 (rulings.md 16).
package enum ChangeTag {
    package static func text(_ position: Int64) -> String { String(position, radix: 36) }

    /// Appends the tag's characters.
    package static func append(_ position: Int64, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: String(position, radix: 36).utf8)
    }
}
