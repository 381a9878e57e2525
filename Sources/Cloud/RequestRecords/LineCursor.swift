/// Where the next byte of a line goes, in memory that has room for it.
struct LineCursor {
    private(set) var at: UnsafeMutableRawPointer

    init(_ start: UnsafeMutableRawPointer) { at = start }

    @inline(__always)
    mutating func byte(_ value: UInt8) {
        at.storeBytes(of: value, as: UInt8.self)
        at += 1
    }

    /// A number of variable length, the lowest bits first.
    @inline(__always)
    mutating func number(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            byte(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        byte(UInt8(truncatingIfNeeded: rest))
    }

    /// A number that is never negative; one that is counts as none.
    @inline(__always)
    mutating func count(_ value: Int) { number(UInt64(max(0, value))) }

    @inline(__always)
    mutating func signed(_ value: Int64) {
        number(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    @inline(__always)
    mutating func fixed(_ value: UInt32) {
        at.storeBytes(of: value.littleEndian, as: UInt32.self)
        at += 4
    }

    @inline(__always)
    mutating func raw(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return }
        at.copyMemory(from: base, byteCount: bytes.count)
        at += bytes.count
    }

    /// A text of at most so many bytes, its length before it; it is cut between two characters.
    @inline(__always)
    mutating func text(_ bytes: UnsafeRawBufferPointer, max: Int) {
        var count = bytes.count
        if count > max {
            count = max
            while count > 0, bytes[count] & 0xc0 == 0x80 { count -= 1 }
        }
        byte(UInt8(truncatingIfNeeded: count))
        raw(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    }
}
