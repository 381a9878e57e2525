/// Who asked and for what: the texts of a line, which many lines have in common.
///
/// It is made once for many of them, as a line has it while it waits.
package final class LineHead: Sendable {
    /// Which texts it has, in two bytes, and the texts: each with a byte for its length before it.
    let bytes: [UInt8]
    /// By which a segment's writer finds it again.
    let hash: UInt64

    /// - Parameter write: says what texts there are, in the order of the parts.
    package init(_ write: (inout LineTexts) -> Void) {
        var texts = LineTexts()
        write(&texts)
        bytes = texts.bytes
        hash = bytes.withUnsafeBytes { TextTable.hash($0) }
    }
}

/// The texts of a head that is being made; what is too long is cut.
package struct LineTexts {
    /// The parts, then the texts.
    private(set) var bytes: [UInt8] = [0, 0]

    private mutating func note(_ part: LineParts) {
        bytes[0] |= UInt8(truncatingIfNeeded: part.rawValue)
        bytes[1] |= UInt8(truncatingIfNeeded: part.rawValue >> 8)
    }

    /// A text of at most so many bytes, cut between two characters.
    package mutating func append(
        _ part: LineParts, _ text: String?, max: Int = SegmentForm.textBytesMax
    ) {
        guard let text else { return }
        var kept = text.utf8.prefix(max)
        if kept.count < text.utf8.count {
            while let next = text.utf8[kept.endIndex...].first, next & 0xc0 == 0x80 {
                kept = kept.dropLast()
            }
        }
        note(part)
        bytes.append(UInt8(truncatingIfNeeded: kept.count))
        bytes += kept
    }

    /// Bytes as hexadecimal digits.
    package mutating func append(_ part: LineParts, digitsOf told: [UInt8]?) {
        guard let kept = told?.prefix(SegmentForm.textBytesMax / 2) else { return }
        note(part)
        bytes.append(UInt8(truncatingIfNeeded: kept.count * 2))
        for byte in kept {
            for digit in [byte >> 4, byte & 15] {
                bytes.append(
                    digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
    }

    /// The name and the owner of the first zone.
    package mutating func append(zone name: String, owner: String?) {
        append(.zones, name)
        append(.zoneOwner, owner)
    }
}
