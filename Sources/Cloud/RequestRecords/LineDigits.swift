/// Hexadecimal digits of many bytes at a time, as each request's line has two texts of them.
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

    /// The eight digits of four bytes.
    @inline(__always)
    static func digits(of bytes: UInt32) -> UInt64 {
        var pairs = UInt64(bytes)
        pairs = (pairs | pairs << 16) & 0x0000_ffff_0000_ffff
        pairs = (pairs | pairs << 8) & 0x00ff_00ff_00ff_00ff
        let values = (pairs >> 4 | pairs << 8) & 0x0f0f_0f0f_0f0f_0f0f
        // The letters are 39 above where the digits end.
        let letters = ((values &+ 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101
        return values &+ 0x3030_3030_3030_3030 &+ letters &* 39
    }
}
