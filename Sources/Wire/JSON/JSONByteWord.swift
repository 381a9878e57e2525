/// Eight bytes of text looked at in one step, the first of them in the lowest bits.
struct JSONByteWord {
    private static let lows: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    private let bits: UInt64

    /// - Parameter cursor: has at least eight readable bytes.
    @inline(__always)
    init(at cursor: UnsafePointer<UInt8>) {
        let word = UnsafeRawPointer(cursor).loadUnaligned(as: UInt64.self)
        bits = UInt64(littleEndian: word)
    }

    /// The top bit of each byte that cannot stand in a JSON string as it is: a quote, a backslash
    /// or a control character.
    ///
    /// Only the lowest bit set is exact: a borrow may mark bytes above a real hit.
    @inline(__always)
    var escapes: UInt64 {
        let quotes = bits ^ (Self.lows &* 0x22)
        let backslashes = bits ^ (Self.lows &* 0x5C)
        let marks =
            ((quotes &- Self.lows) & ~quotes)
            | ((backslashes &- Self.lows) & ~backslashes)
            | ((bits &- (Self.lows &* 0x20)) & ~bits)
        return marks & Self.highs
    }

    /// As `escapes`, and the bytes of scalars beyond ASCII too; again only the lowest bit is exact.
    @inline(__always)
    var stops: UInt64 {
        // Bytes beyond ASCII are marks themselves, so what they do to the differences is no matter.
        let quotes = (bits ^ (Self.lows &* 0x22)) &- Self.lows
        let backslashes = (bits ^ (Self.lows &* 0x5C)) &- Self.lows
        let controls = bits &- (Self.lows &* 0x20)
        return (quotes | backslashes | controls | bits) & Self.highs
    }

    /// How many bytes come before the first mark; 8 when there is none.
    @inline(__always)
    static func bytesBefore(_ marks: UInt64) -> Int { marks.trailingZeroBitCount &>> 3 }
}
