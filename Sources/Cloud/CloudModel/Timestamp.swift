/// A time of day in UTC as RFC 3339 writes it, with milliseconds; for the years 1 to 9999.
package struct Timestamp: Sendable {
    /// The form's length.
    package static let bytes = 24

    /// The moments that the form can show, in milliseconds since 1970.
    package static let range: ClosedRange<Milliseconds> = -62_135_596_800_000...253_402_300_799_999

    private let time: Milliseconds

    package init(_ time: Milliseconds) { self.time = time }

    /// 24 ASCII characters, such as `2026-11-21T08:00:00.000Z`.
    package var text: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the text's bytes.
    package func append(to bytes: inout [UInt8]) {
        let (days, milliseconds) = Timestamp.split(time, by: 86_400_000)
        let (year, month, day) = Timestamp.civil(fromDays: days)
        let seconds = milliseconds / 1_000
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Timestamp.bytes) { form in
            var index = 0
            func put(_ value: Int64, _ width: Int, then mark: UInt8) {
                var rest = value
                var place = index + width
                form.initializeElement(at: place, to: mark)
                while place > index {
                    place -= 1
                    form.initializeElement(at: place, to: UInt8(truncatingIfNeeded: 48 + rest % 10))
                    rest /= 10
                }
                index += width + 1
            }
            put(year, 4, then: UInt8(ascii: "-"))
            put(month, 2, then: UInt8(ascii: "-"))
            put(day, 2, then: UInt8(ascii: "T"))
            put(seconds / 3_600, 2, then: UInt8(ascii: ":"))
            put(seconds / 60 % 60, 2, then: UInt8(ascii: ":"))
            put(seconds % 60, 2, then: UInt8(ascii: "."))
            put(milliseconds % 1_000, 3, then: UInt8(ascii: "Z"))
            bytes.append(contentsOf: UnsafeMutableBufferPointer(rebasing: form[..<index]))
        }
    }

    private static func split(_ value: Int64, by unit: Int64) -> (whole: Int64, rest: Int64) {
        let rest = value % unit
        return rest < 0 ? (value / unit - 1, rest + unit) : (value / unit, rest)
    }

    /// The date in the Gregorian calendar, years counted from March so that a leap day comes last.
    private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = split(days + 719_468, by: 146_097)
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }
}
