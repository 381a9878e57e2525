/// Eight bytes of a head, looked at in one step.
struct ByteWord {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let tops: UInt64 = 0x8080_8080_8080_8080

    private let bits: UInt64

    /// - Parameter start: the first of eight bytes that are there.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer, at start: Int) {
        bits = bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
    }

    /// Whether one of the bytes is below a limit.
    ///
    /// - Parameter limit: at most 0x80.
    @inline(__always)
    func hasByte(below limit: UInt8) -> Bool {
        (bits &- Self.ones &* UInt64(limit)) & ~bits & Self.tops != 0
    }

    /// Whether one of the bytes is beyond ASCII.
    @inline(__always)
    var hasByteBeyondASCII: Bool { bits & Self.tops != 0 }

    /// Whether each of the bytes is a letter or a hyphen, as in the names of nearly all fields.
    @inline(__always)
    var hasOnlyLettersAndHyphens: Bool {
        // Adding what is missing to 0x80 sets the top bit of each byte from `a` on, or beyond `z`.
        let lower = bits | Self.ones &* 0x20
        let fromA = lower &+ Self.ones &* (0x80 - 0x61)
        let beyondZ = lower &+ Self.ones &* (0x80 - 0x7B)
        let notHyphen = (bits ^ Self.ones &* 0x2D) &+ Self.ones &* 0x7F
        return !hasByteBeyondASCII && (fromA & ~beyondZ | ~notHyphen) & Self.tops == Self.tops
    }

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        let differences = bits ^ (Self.ones &* UInt64(byte))
        return (differences &- Self.ones) & ~differences & Self.tops != 0
    }
}

extension UnsafeRawBufferPointer {
    /// The place of the first byte in a range at which to stop; the end when there is none.
    ///
    /// - Parameters:
    ///   - stops: whether to stop at a byte.
    ///   - mayStop: whether to look at each of eight bytes; must be true when `stops` is for one of them.
    @inline(__always)
    func firstIndex(
        from start: Int, to end: Int, where stops: (UInt8) -> Bool, mayStop: (ByteWord) -> Bool
    ) -> Int {
        var position = start
        while position + 8 <= end {
            if mayStop(ByteWord(self, at: position)) {
                let next = position + 8
                while position < next && !stops(self[position]) { position += 1 }
                if position < next { return position }
            } else {
                position += 8
            }
        }
        while position < end && !stops(self[position]) { position += 1 }
        return position
    }
}
