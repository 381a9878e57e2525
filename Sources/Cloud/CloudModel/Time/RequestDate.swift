import Calendar

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
        guard let start = CivilTime.seconds(year: year, month: month, day: day), hour < 24,
            minute < 60, second < 60
        else { return nil }
        return (start + (hour * 60 + minute) * 60 + second) * 1_000
    }
}
