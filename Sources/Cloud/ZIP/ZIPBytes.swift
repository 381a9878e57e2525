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
        let seconds = max(315_532_800, min(seconds, 4_354_819_198))
        // Years from March, so that a leap day comes last.
        let shifted = seconds / 86_400 + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * fromMarch + 2) / 5 + 1
        let month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        date = UInt16((year - 1980) << 9 | month << 5 | day)
        let (hour, minute) = (seconds / 3_600 % 24, seconds / 60 % 60)
        time = UInt16(hour << 11 | minute << 5 | seconds % 60 / 2)
    }
}
