/// Bytes of a segment that are being written: numbers of variable length, the lowest bits first.
struct LineBytes {
    private(set) var bytes: [UInt8] = []

    var count: Int { bytes.count }

    mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }
    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
    mutating func byte(_ value: UInt8) { bytes.append(value) }
    mutating func raw(_ more: [UInt8]) { bytes.append(contentsOf: more) }
    mutating func raw(_ more: UnsafeRawBufferPointer) { bytes.append(contentsOf: more) }

    /// An item of a block: its length, its kind and its bytes.
    mutating func item(_ kind: SegmentForm.Item, _ more: UnsafeRawBufferPointer) {
        count(more.count + 1)
        byte(kind.rawValue)
        raw(more)
    }

    func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) { bytes.withUnsafeBytes(body) }

    mutating func number(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// A number that is never negative; one that is counts as none.
    mutating func count(_ value: Int) { number(UInt64(max(0, value))) }

    mutating func signed(_ value: Int64) {
        number(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    mutating func fixed(_ value: UInt32) { withUnsafeBytes(of: value.littleEndian) { raw($0) } }
    mutating func fixed(_ value: UInt64) { withUnsafeBytes(of: value.littleEndian) { raw($0) } }
}

/// What a segment should not have: it was damaged.
struct DamagedLine: Error {}

/// Bytes of a segment that are being read; nothing is read beyond their end.
struct LineReader {
    private let bytes: ArraySlice<UInt8>
    private(set) var offset: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        offset = bytes.startIndex
    }

    var left: Int { bytes.endIndex - offset }

    mutating func byte() throws(DamagedLine) -> UInt8 {
        guard offset < bytes.endIndex else { throw DamagedLine() }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func raw(_ count: Int) throws(DamagedLine) -> ArraySlice<UInt8> {
        guard count >= 0, count <= left else { throw DamagedLine() }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    mutating func number() throws(DamagedLine) -> UInt64 {
        var (value, shift): (UInt64, UInt64) = (0, 0)
        while shift < 64 {
            let next = try byte()
            value |= UInt64(next & 0x7f) << shift
            if next < 0x80 { return value }
            shift += 7
        }
        throw DamagedLine()
    }

    /// - Throws: also for more than any line counts.
    mutating func count(max: Int = Int(Int32.max)) throws(DamagedLine) -> Int {
        let value = try number()
        guard value <= UInt64(max) else { throw DamagedLine() }
        return Int(value)
    }

    /// A count of bytes or microseconds.
    mutating func amount() throws(DamagedLine) -> Int { try count(max: Int.max) }

    mutating func signed() throws(DamagedLine) -> Int64 {
        let value = try number()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    mutating func fixed32() throws(DamagedLine) -> UInt32 {
        try raw(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    mutating func fixed64() throws(DamagedLine) -> UInt64 {
        try raw(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
