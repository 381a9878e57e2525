import Calendar

/// Bytes with numbers among them, the low byte first.
struct ZIPBytes {
    var bytes: [UInt8]

    init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    mutating func put<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) {
        for shift in stride(from: 0, to: Number.bitWidth, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> Number(shift)))
        }
    }
}

/// A time in UTC as ZIP writes it: to two seconds, from 1980 to 2107.
struct ZIPTime {
    let date: UInt16
    let time: UInt16

    init(_ seconds: Int64) {
        let civil = CivilTime(seconds: max(315_532_800, min(seconds, 4_354_819_198)))
        date = UInt16((civil.year - 1980) << 9 | civil.month << 5 | civil.day)
        time = UInt16(civil.hour << 11 | civil.minute << 5 | civil.second / 2)
    }
}
