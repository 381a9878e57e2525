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

    /// Writes a piece, and at most `TextPiece.stride` bytes behind it, which the next ones overwrite.
    @inline(__always)
    mutating func write(_ piece: TextPiece) {
        var (from, to, left) = (piece.start, place, piece.count)
        while left > 0 {
            let words = from.loadUnaligned(as: TextPiece.Words.self)
            to.storeBytes(of: words, as: TextPiece.Words.self)
            from += TextPiece.stride
            to += TextPiece.stride
            left -= TextPiece.stride
        }
        place += piece.count
    }

    @inline(__always)
    mutating func write(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return }
        place.copyMemory(from: base, byteCount: bytes.count)
        place += bytes.count
    }

    @inline(__always)
    mutating func write(_ byte: UInt8) {
        place.storeBytes(of: byte, as: UInt8.self)
        place += 1
    }

    @inline(__always)
    mutating func write(_ name: PackedName) { place = name.write(to: place) }

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

/// A piece of text that many texts have, in memory of its own that is read in whole strides.
struct TextPiece {
    typealias Words = SIMD2<UInt64>

    /// How many bytes a pen copies at a time.
    static let stride = MemoryLayout<Words>.size

    let start: UnsafeRawPointer
    let count: Int

    /// Takes memory, which whoever makes the piece has to `deallocate`.
    init(_ text: [UInt8]) {
        let room = (text.count + Self.stride - 1) / Self.stride * Self.stride
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

    /// How many digits there is room for: those of `RecordText.momentMax`, and one more.
    private static let digitsMax = 16

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
        var rest = UInt64(bitPattern: moment)
        // The digit that was made last is the first: the text is moved along in front of it.
        digits = (0, 0)
        count = 0
        repeat {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            digits.1 = digits.1 << 8 | digits.0 >> 56
            digits.0 = digits.0 << 8 | (0x30 + digit)
            rest = quotient
            count += 1
        } while rest > 0 && count < Self.digitsMax
        digits = (digits.0.littleEndian, digits.1.littleEndian)
        self.moment = moment
    }
}
