/// Writes one JSON value on one line, placing the commas itself.
///
/// Beyond what JSON asks, the controls from DEL to U+009F are escaped, so that a line shown on a
/// terminal is only text.
package struct JSONLine {
    private var writer: JSONWriter
    private var needsComma = false

    package init(reserving capacity: Int = 0) { writer = JSONWriter(reserving: capacity) }

    package var bytes: [UInt8] { writer.bytes }

    package mutating func beginObject() { open("{") }
    package mutating func endObject() { close("}") }
    package mutating func beginArray() { open("[") }
    package mutating func endArray() { close("]") }

    package mutating func key(_ key: String) {
        comma()
        string(key)
        writer.raw(":")
        needsComma = false
    }

    package mutating func key(_ key: StaticString) {
        comma()
        writer.raw("\"")
        writer.raw(key)
        writer.raw("\":")
        needsComma = false
    }

    package mutating func text(_ text: String) {
        comma()
        string(text)
    }

    package mutating func number(_ number: Int64) {
        comma()
        writer.integer(number)
    }

    /// A number of which three decimals are enough.
    package mutating func thousandths(_ number: Int64) {
        comma()
        let magnitude = number.magnitude
        if number < 0 { writer.raw("-") }
        writer.integer(Int64(magnitude / 1_000))
        let rest = UInt8(truncatingIfNeeded: magnitude % 1_000 / 10)
        let last = UInt8(truncatingIfNeeded: magnitude % 10)
        writer.raw(".")
        writer.byte(UInt8(ascii: "0") + rest / 10)
        writer.byte(UInt8(ascii: "0") + rest % 10)
        writer.byte(UInt8(ascii: "0") + last)
    }

    /// A finite number, with as many decimals as it has.
    package mutating func decimal(_ number: Double) {
        comma()
        writer.bytes.append(contentsOf: "\(number)".utf8)
    }

    package mutating func flag(_ flag: Bool) {
        comma()
        writer.raw(flag ? "true" : "false")
    }

    /// A value that is compact JSON already; its controls from DEL on are escaped here.
    package mutating func encoded(_ value: [UInt8]) {
        comma()
        var start = 0
        for (index, byte) in value.enumerated() {
            let isControl =
                byte == 0x7f
                || byte == 0xc2 && index + 1 < value.count && value[index + 1] < 0xa0
            guard isControl else { continue }
            writer.raw(Array(value[start..<index]))
            let scalar = byte == 0x7f ? byte : value[index + 1]
            escape(scalar)
            start = index + (byte == 0x7f ? 1 : 2)
        }
        writer.raw(start == 0 ? value : Array(value[start...]))
    }

    private mutating func escape(_ control: UInt8) {
        writer.raw("\\u00")
        for digit in [control >> 4, control & 15] {
            writer.byte(digit < 10 ? 48 + digit : 87 + digit)
        }
    }

    /// Ends the line.
    package mutating func lineEnd() { writer.raw("\n") }

    private mutating func open(_ bracket: StaticString) {
        comma()
        writer.raw(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: StaticString) {
        writer.raw(bracket)
        needsComma = true
    }

    private mutating func comma() {
        if needsComma { writer.raw(",") }
        needsComma = true
    }

    private mutating func string(_ text: String) {
        guard text.utf8.contains(where: { $0 == 0x7f || $0 == 0xc2 }) else {
            return writer.string(text)
        }
        writer.raw("\"")
        for scalar in text.unicodeScalars {
            if (0x7f...0x9f).contains(scalar.value) {
                escape(UInt8(truncatingIfNeeded: scalar.value))
            } else {
                // Taken out of its own quotes.
                var piece = JSONWriter()
                piece.string(String(scalar))
                writer.raw(Array(piece.bytes.dropFirst().dropLast()))
            }
        }
        writer.raw("\"")
    }
}
