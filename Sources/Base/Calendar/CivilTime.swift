/// A moment in UTC as the Gregorian calendar has it, to the second.
package struct CivilTime: Sendable, Equatable {
    package let year: Int64
    /// From 1, as the day.
    package let month: Int64
    package let day: Int64
    package let hour: Int64
    package let minute: Int64
    package let second: Int64
    /// Since 1970-01-01.
    private let days: Int64

    private static let daySeconds: Int64 = 86_400
    private static let dayNames = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let monthNames = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// - Parameter seconds: since 1970-01-01T00:00:00Z, without leap seconds.
    package init(seconds: Int64) {
        let (days, ofDay) = Self.split(seconds, by: Self.daySeconds)
        self.days = days
        // Days are counted from 0000-03-01, so that a leap day is the last of its year.
        let (era, ofEra) = Self.split(days + 719_468, by: 146_097)
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * ofYear + 2) / 153
        month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = ofYear - (153 * fromMarch + 2) / 5 + 1
        hour = ofDay / 3_600
        minute = ofDay / 60 % 60
        second = ofDay % 60
    }

    /// The first second of a day; nil for a day that there is not.
    package static func seconds(year: Int64, month: Int64, day: Int64) -> Int64? {
        guard (0...9_999).contains(year), (1...12).contains(month), (1...31).contains(day) else {
            return nil
        }
        let (era, yearOfEra) = split(month <= 2 ? year - 1 : year, by: 400)
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let ofEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + ofYear
        let seconds = (era * 146_097 + ofEra - 719_468) * daySeconds
        // The 30th of February is another day.
        let found = CivilTime(seconds: seconds)
        return found.month == month && found.day == day ? seconds : nil
    }

    /// In three letters, such as `Thu`.
    package var dayName: String { Self.dayNames[Int(Self.split(days, by: 7).rest)] }

    /// In three letters, such as `Jan`.
    package var monthName: String { Self.monthNames[Int(month) - 1] }

    /// The year in four digits, month and day in two, such as `1970-01-01`.
    package func date(between: String = "-") -> String {
        let year = String(year)
        let zeros = String(repeating: "0", count: max(0, 4 - year.utf8.count))
        return [zeros + year, Self.padded(month), Self.padded(day)].joined(separator: between)
    }

    /// Each in two digits, such as `08:05:00`.
    package func time(between: String = ":") -> String {
        [hour, minute, second].map(Self.padded).joined(separator: between)
    }

    /// In two digits.
    package static func padded(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    private static func split(_ value: Int64, by unit: Int64) -> (whole: Int64, rest: Int64) {
        let rest = value % unit
        return rest < 0 ? (value / unit - 1, rest + unit) : (value / unit, rest)
    }
}
