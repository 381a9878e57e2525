/// The `Date` field of answers, written anew once a second (RFC 9110 §5.6.7).
package struct HTTPDate {
    /// The whole field: name, value, CR LF.
    private(set) var field: [UInt8] = []
    private var second: Int64?

    /// - Parameter seconds: since 1970-01-01T00:00:00Z.
    mutating func update(seconds: Int64) {
        if second == seconds { return }
        second = seconds
        field = Array("Date: \(Self.text(seconds))\r\n".utf8)
    }

    /// The form of times in header fields.
    ///
    /// - Parameter seconds: since 1970-01-01T00:00:00Z.
    package static func text(_ seconds: Int64) -> String {
        let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let ofDay = seconds - days * 86_400
        let names = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        // Days are counted from 0000-03-01, so that a leap day is the last of its year.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * ofYear + 2) / 153
        let day = ofYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let name = names[Int(((days % 7) + 7) % 7)]
        let time = [ofDay / 3600, ofDay / 60 % 60, ofDay % 60].map(padded).joined(separator: ":")
        return "\(name), \(padded(day)) \(months[Int(month) - 1]) \(year) \(time) GMT"
    }

    private static func padded(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
