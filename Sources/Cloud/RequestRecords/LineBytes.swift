/// Bytes of a segment's head, index and tail that are being written, in numbers of fixed length.
struct LineBytes {
    private(set) var bytes: [UInt8] = []

    mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }
    mutating func raw(_ more: [UInt8]) { bytes.append(contentsOf: more) }
    mutating func raw(_ more: UnsafeRawBufferPointer) { bytes.append(contentsOf: more) }

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
