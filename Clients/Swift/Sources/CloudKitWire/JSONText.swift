/// A JSON text in the making.
public struct JSONText: Sendable {
    /// The text so far.
    public private(set) var bytes: [UInt8] = []
    /// Whether a comma must come before what is written next.
    private var needsComma = false

    /// An empty text.
    public init() {}

    /// Writes an object, whose members the closure writes.
    public mutating func object(_ body: (inout JSONText) throws -> Void) rethrows {
        separate()
        bytes.append(0x7B)
        needsComma = false
        try body(&self)
        bytes.append(0x7D)
        needsComma = true
    }

    /// Writes an array, whose elements the closure writes.
    public mutating func array(_ body: (inout JSONText) throws -> Void) rethrows {
        separate()
        bytes.append(0x5B)
        needsComma = false
        try body(&self)
        bytes.append(0x5D)
        needsComma = true
    }

    /// Writes the key of a member; its value is what is written next.
    public mutating func key(_ name: String) {
        separate()
        quote(name)
        bytes.append(0x3A)
        needsComma = false
    }

    /// Writes a string.
    public mutating func string(_ value: String) {
        separate()
        quote(value)
        needsComma = true
    }

    /// Writes a whole number.
    public mutating func int64(_ value: Int64) {
        separate()
        bytes.append(contentsOf: String(value).utf8)
        needsComma = true
    }

    /// Writes a number that is finite; others, which JSON lacks, are the caller's mistake.
    public mutating func double(_ value: Double) {
        precondition(value.isFinite, "JSON has no number for \(value)")
        separate()
        bytes.append(contentsOf: "\(value)".utf8)
        needsComma = true
    }

    /// Writes a truth value.
    public mutating func bool(_ value: Bool) {
        separate()
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
        needsComma = true
    }

    /// Writes `null`.
    public mutating func null() {
        separate()
        bytes.append(contentsOf: "null".utf8)
        needsComma = true
    }

    /// Writes a value that is JSON already.
    public mutating func raw(_ value: some Sequence<UInt8>) {
        separate()
        bytes.append(contentsOf: value)
        needsComma = true
    }

    /// Writes a member whose value is a string.
    public mutating func member(_ name: String, _ value: String) {
        key(name)
        string(value)
    }

    private mutating func separate() {
        if needsComma { bytes.append(0x2C) }
    }

    private mutating func quote(_ text: String) {
        bytes.append(0x22)
        for byte in text.utf8 {
            switch byte {
            case 0x22, 0x5C:
                bytes.append(0x5C)
                bytes.append(byte)
            case 0..<0x20:
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(Self.digit(byte >> 4))
                bytes.append(Self.digit(byte & 15))
            default: bytes.append(byte)
            }
        }
        bytes.append(0x22)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x61 + value - 10
    }
}
