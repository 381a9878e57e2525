/// A record's change tag: its position in lower-case base 36 (rulings.md 16).
package enum ChangeTag {
    /// As many as a sign and the digits of the largest number.
    private static let charactersMax = 14

    package static func text(_ position: Int64) -> String {
        withCharacters(position) { String(decoding: $0, as: UTF8.self) }
    }

    /// Appends the tag's characters.
    package static func append(_ position: Int64, to bytes: inout [UInt8]) {
        withCharacters(position) { bytes.append(contentsOf: $0) }
    }

    /// Hands out the tag's characters, which are valid until the closure returns.
    package static func withCharacters<Value>(
        _ position: Int64, _ body: (UnsafeRawBufferPointer) -> Value
    ) -> Value {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: charactersMax) { characters in
            var first = charactersMax
            var rest = position.magnitude
            repeat {
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 36)
                first -= 1
                let zero = digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10
                characters.initializeElement(
                    at: first, to: zero + UInt8(truncatingIfNeeded: digit))
                rest = quotient
            } while rest > 0
            if position < 0 {
                first -= 1
                characters.initializeElement(at: first, to: UInt8(ascii: "-"))
            }
            return body(
                UnsafeRawBufferPointer(UnsafeMutableBufferPointer(rebasing: characters[first...])))
        }
    }
}
