/// The well-formed byte sequences of scalars beyond ASCII (Unicode 16, table 3-7).
enum UTF8Sequence {
    /// The bytes of the sequence at a place; 0 when it is not well-formed or cut off.
    @inline(__always)
    static func length(_ cursor: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Int {
        let room = end - cursor
        let lead = cursor.pointee
        if lead < 0xE0 {
            return lead >= 0xC2 && room >= 2 && isContinuation(cursor[1]) ? 2 : 0
        }
        guard room >= 3, isContinuation(cursor[1]), isContinuation(cursor[2]) else { return 0 }
        let second = cursor[1]
        if lead < 0xF0 {
            let isOverlong = lead == 0xE0 && second < 0xA0
            let isSurrogate = lead == 0xED && second >= 0xA0
            return isOverlong || isSurrogate ? 0 : 3
        }
        guard room >= 4, isContinuation(cursor[3]), lead <= 0xF4 else { return 0 }
        let isOverlong = lead == 0xF0 && second < 0x90
        let isTooLarge = lead == 0xF4 && second >= 0x90
        return isOverlong || isTooLarge ? 0 : 4
    }

    @inline(__always)
    private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
