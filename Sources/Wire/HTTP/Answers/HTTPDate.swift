import Calendar

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
        let time = CivilTime(seconds: seconds)
        let day = "\(CivilTime.padded(time.day)) \(time.monthName) \(time.year)"
        return "\(time.dayName), \(day) \(time.time()) GMT"
    }
}
