/// Writes pieces of a text one after the other into memory that is large enough for all of them.
struct TextPen {
    /// Where the next piece goes.
    var cursor: UnsafeMutableRawPointer

    @inline(__always)
    init(_ cursor: UnsafeMutableRawPointer) { self.cursor = cursor }

    @inline(__always)
    mutating func write(_ piece: StaticString) {
        cursor.copyMemory(from: piece.utf8Start, byteCount: piece.utf8CodeUnitCount)
        cursor += piece.utf8CodeUnitCount
    }

    /// Writes a piece, and at most `TextPiece.stride` bytes behind it, which the next ones overwrite.
    @inline(__always)
    mutating func write(_ piece: TextPiece) {
        var (from, to) = (piece.start, cursor)
        cursor += piece.count
        repeat {
            let words = from.loadUnaligned(as: TextPiece.Words.self)
            to.storeBytes(of: words, as: TextPiece.Words.self)
            from += TextPiece.stride
            to += TextPiece.stride
        } while to < cursor
    }

    @inline(__always)
    mutating func write(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return }
        cursor.copyMemory(from: base, byteCount: bytes.count)
        cursor += bytes.count
    }

    @inline(__always)
    mutating func write(_ byte: UInt8) {
        cursor.storeBytes(of: byte, as: UInt8.self)
        cursor += 1
    }

    @inline(__always)
    mutating func write(_ name: PackedName) { cursor = name.write(to: cursor) }

    /// Writes a position as change tags have it, in base 36.
    ///
    /// Positions have at most 40 bits, and so eight digits.
    @inline(__always)
    mutating func writeTag(_ position: Int64) {
        var rest = UInt64(bitPattern: position)
        // The digit that is made last is the first, in the lowest byte.
        var digits: UInt64 = 0
        var count = 0
        repeat {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 36)
            digits = digits << 8 | (digit < 10 ? 0x30 : 0x57) &+ digit
            rest = quotient
            count &+= 1
        } while rest > 0
        cursor.storeBytes(of: digits.littleEndian, as: UInt64.self)
        cursor += count
    }
}

/// A piece of text that many texts have, in memory of its own that is read in whole strides.
struct TextPiece {
    typealias Words = SIMD8<UInt64>

    /// How many bytes a pen copies at a time.
    static let stride = MemoryLayout<Words>.size

    let start: UnsafeRawPointer
    let count: Int

    /// Takes memory, which the maker of the piece has to `deallocate`.
    init(_ text: [UInt8]) {
        let room = (text.count / Self.stride + 1) * Self.stride
        let memory = UnsafeMutableRawPointer.allocate(byteCount: room, alignment: Self.stride)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: room)
        UnsafeMutableRawBufferPointer(start: memory, count: room).copyBytes(from: text)
        start = UnsafeRawPointer(memory)
        count = text.count
    }

    /// As the above.
    init(_ text: StaticString) { self.init(text.withUTF8Buffer { [UInt8]($0) }) }

    func deallocate() { start.deallocate() }
}

/// Writes moments; one that follows itself is copied.
struct MomentText {
    private var moment: Int64 = -1
    private var digits: (UInt64, UInt64) = (0, 0)
    private var count = 0

    /// - Parameters:
    ///   - moment: less than 10^16, as all are that a row holds.
    ///   - cursor: has room for 16 bytes.
    /// - Returns: the place after the digits.
    @inline(__always)
    mutating func write(
        _ moment: Int64, to cursor: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        if moment != self.moment { make(moment) }
        cursor.storeBytes(of: digits.0, as: UInt64.self)
        cursor.storeBytes(of: digits.1, toByteOffset: 8, as: UInt64.self)
        return cursor + count
    }

    private mutating func make(_ moment: Int64) {
        let (high, low) = UInt64(bitPattern: moment).quotientAndRemainder(dividingBy: 100_000_000)
        let first = Self.eightDigits(high == 0 ? low : high)
        let second = high == 0 ? 0 : Self.text | Self.eightDigits(low)
        // Zeros in front are left out, but for the last digit.
        let zeros = min(first.trailingZeroBitCount / 8, 7)
        let bits = UInt64(8 * zeros)
        digits.0 = ((Self.text | first) >> bits | second << (64 - bits)).littleEndian
        digits.1 = (second >> bits).littleEndian
        count = (high == 0 ? 8 : 16) - zeros
        self.moment = moment
    }

    private static let text: UInt64 = 0x3030_3030_3030_3030

    /// The values of the digits of a number below 10^8, the first in the lowest byte.
    ///
    /// Halves it three times: into numbers of four digits, of two, of one, all of a size at once.
    private static func eightDigits(_ number: UInt64) -> UInt64 {
        let fours = number / 10_000 | (number % 10_000) << 32
        // 10486 / 2^20 is a hundredth, and 103 / 2^10 a tenth, near enough for numbers of that size.
        let hundreds = (fours &* 10_486) >> 20 & 0x0000_007F_0000_007F
        let twos = hundreds | (fours &- hundreds &* 100) << 16
        let tens = (twos &* 103) >> 10 & 0x000F_000F_000F_000F
        return tens | (twos &- tens &* 10) << 8
    }
}
