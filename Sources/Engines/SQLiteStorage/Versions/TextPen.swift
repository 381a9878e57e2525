import CloudModel

/// Writes pieces of a text one after the other into memory that is large enough for all of them.
struct TextPen {
    /// Where the next piece goes.
    var place: UnsafeMutableRawPointer

    @inline(__always)
    init(_ place: UnsafeMutableRawPointer) { self.place = place }

    @inline(__always)
    mutating func write(_ piece: StaticString) {
        place.copyMemory(from: piece.utf8Start, byteCount: piece.utf8CodeUnitCount)
        place += piece.utf8CodeUnitCount
    }

    @inline(__always)
    mutating func write(_ piece: [UInt8]) {
        piece.withUnsafeBytes {
            guard let base = $0.baseAddress else { return }
            place.copyMemory(from: base, byteCount: $0.count)
            place += $0.count
        }
    }

    @inline(__always)
    mutating func write(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        guard let base = bytes.baseAddress, !range.isEmpty else { return }
        place.copyMemory(from: base + range.lowerBound, byteCount: range.count)
        place += range.count
    }

    /// Writes a position as change tags have it: in base 36.
    @inline(__always)
    mutating func writeTag(_ position: Int64) {
        var rest = UInt64(bitPattern: position)
        var count = 1
        var limit: UInt64 = 36
        while rest >= limit, count < 12 {
            limit *= 36
            count += 1
        }
        for index in stride(from: count - 1, through: 0, by: -1) {
            let digit = UInt8(truncatingIfNeeded: rest % 36)
            rest /= 36
            place.storeBytes(
                of: digit < 10 ? 0x30 + digit : 0x61 + digit - 10, toByteOffset: index,
                as: UInt8.self)
        }
        place += count
    }
}

/// Writes moments; one that follows itself is copied.
struct MomentText {
    private var moment: Int64 = -1
    private var digits: (UInt64, UInt64) = (0, 0)
    private var count = 0

    /// - Parameter place: has room for 16 bytes.
    /// - Returns: the place after the digits.
    @inline(__always)
    mutating func write(
        _ moment: Int64, to place: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        if moment != self.moment { make(moment) }
        place.storeBytes(of: digits.0, as: UInt64.self)
        place.storeBytes(of: digits.1, toByteOffset: 8, as: UInt64.self)
        return place + count
    }

    private mutating func make(_ moment: Int64) {
        var text = Array(String(moment).utf8)
        count = min(text.count, 16)
        text.append(contentsOf: repeatElement(0, count: 16))
        text.withUnsafeBytes {
            digits = (
                $0.loadUnaligned(as: UInt64.self),
                $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
            )
        }
        self.moment = moment
    }
}
