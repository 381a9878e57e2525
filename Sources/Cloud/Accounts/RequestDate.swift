import CloudModel

/// The date of a signed request: exactly `YYYY-MM-DDTHH:MM:SSZ` (web-services.md §2.4).
package enum RequestDate {
    /// The moment, or nil for any other form or a day or time that does not exist.
    package static func milliseconds(_ text: String) -> Milliseconds? {
        let bytes = Array(text.utf8)
        let form = Array("0000-00-00T00:00:00Z".utf8)
        guard bytes.count == form.count else { return nil }
        for (byte, expected) in zip(bytes, form) {
            if expected == UInt8(ascii: "0") {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            } else if byte != expected {
                return nil
            }
        }
        func number(_ range: Range<Int>) -> Int64 {
            bytes[range].reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        }
        let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
        let (hour, minute, second) = (number(11..<13), number(14..<16), number(17..<19))
        guard (1...12).contains(month), (1...days(in: month, of: year)).contains(day), hour < 24,
            minute < 60, second < 60
        else { return nil }
        let seconds = ((days(before: year, month) + day - 1) * 24 + hour) * 60 + minute
        return (seconds * 60 + second) * 1_000
    }

    private static func isLeap(_ year: Int64) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days from 1970-01-01 to the first of the month, in the Gregorian calendar.
    private static func days(before year: Int64, _ month: Int64) -> Int64 {
        // Leap days before the year, counted from the year 0, which was one itself.
        let past = year - 1
        let leapDays = year == 0 ? 0 : past / 4 - past / 100 + past / 400 + 1
        let untilYear = year * 365 + leapDays - 719_528
        return untilYear + (1..<month).reduce(0) { $0 + days(in: $1, of: year) }
    }
}
