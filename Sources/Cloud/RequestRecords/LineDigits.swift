/// Hexadecimal digits of many bytes at a time, as each request's line has an id of them.
enum LineDigits {
    /// The four bytes that eight digits tell; in the memory of both the first comes first.
    @inline(__always)
    static func bytes(of digits: UInt64) -> UInt32 {
        // A letter is worth 9 more than its low four bits.
        let letters = (digits >> 6) & 0x0101_0101_0101_0101
        let values = (digits & 0x0f0f_0f0f_0f0f_0f0f) &+ letters &* 9
        var pairs = (values << 4 | values >> 8) & 0x00ff_00ff_00ff_00ff
        pairs = (pairs | pairs >> 8) & 0x0000_ffff_0000_ffff
        return UInt32(truncatingIfNeeded: pairs | pairs >> 16)
    }
}
