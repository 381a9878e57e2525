import CloudModel

/// Days and moments, as pages show them: `2026-03-01` and `2026-03-01 14:05 UTC`.
enum PageDate {
    private static let dayMilliseconds: Milliseconds = 86_400_000

    static func moment(_ moment: Milliseconds) -> String {
        let minutes = moment / 60_000 % 1_440
        return "\(text(moment)) \(padded(minutes / 60)):\(padded(minutes % 60)) UTC"
    }

    private static func padded(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    static func text(_ moment: Milliseconds) -> String {
        // Days since 0000-03-01, so that the leap day is a year's last.
        let days = moment / dayMilliseconds + 719_468
        let era = days / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return "\(year)-\(padded(month))-\(padded(day))"
    }
}
