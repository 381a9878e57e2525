/// One value of a field as indexes hold it and as filters and sorts compare it.
///
/// Numbers come before text; whole numbers and doubles compare exactly, −0.0 as 0.0; text compares by
/// its UTF-8 bytes, which is the order of code points.
package enum IndexValue: Sendable, Hashable {
    case integer(Int64)
    case real(Double)
    case text([UInt8])

    /// The longest text in an index: what comes after it neither sorts nor finds, and is compared with
    /// the record itself where a filter asks for it.
    package static let textBytesMax = 500

    package init(_ number: Double) { self = .real(number == 0 ? 0 : number) }

    package init(_ text: String) { self = .text(Array(text.utf8)) }

    /// The value as an index holds it: long text is cut between two scalars.
    package var cut: IndexValue {
        guard case .text(let bytes) = self, bytes.count > Self.textBytesMax else { return self }
        var end = Self.textBytesMax
        while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return .text(Array(bytes[..<end]))
    }

    /// Whether an index may hold the same for a longer text.
    package var mayBeCut: Bool {
        guard case .text(let bytes) = self else { return false }
        return bytes.count > Self.textBytesMax - 4
    }

    /// Whether this is text that begins with the other.
    package func begins(with prefix: IndexValue) -> Bool {
        guard case .text(let bytes) = self, case .text(let start) = prefix else { return false }
        return bytes.starts(with: start)
    }

    /// Whether the two are both numbers or both text, so that one can be less than the other.
    package func isComparable(with other: IndexValue) -> Bool {
        if case .text = self { if case .text = other { return true } else { return false } }
        if case .text = other { return false }
        return true
    }
}

extension IndexValue: Comparable {
    package static func == (left: IndexValue, right: IndexValue) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left == right
        case (.text(let left), .text(let right)): left == right
        case (.integer(let integer), .real(let real)), (.real(let real), .integer(let integer)):
            Int64(exactly: real) == integer
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .integer(let value): hasher.combine(value)
        // Equal values must hash alike, whichever way they are held.
        case .real(let value):
            if let whole = Int64(exactly: value) {
                hasher.combine(whole)
            } else {
                hasher.combine(value)
            }
        case .text(let bytes): hasher.combine(bytes)
        }
    }

    package static func < (left: IndexValue, right: IndexValue) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left < right
        case (.real(let left), .real(let right)): left < right
        case (.text(let left), .text(let right)): left.lexicographicallyPrecedes(right)
        case (.integer(let integer), .real(let real)): isLess(integer, real)
        case (.real(let real), .integer(let integer)):
            !isLess(integer, real) && Int64(exactly: real) != integer
        case (_, .text): true
        case (.text, _): false
        }
    }

    private static func isLess(_ integer: Int64, _ real: Double) -> Bool {
        if real >= 0x1p63 { return true }
        guard let below = Int64(exactly: real.rounded(.down)) else { return false }
        return integer < below || (integer == below && Double(below) < real)
    }
}
