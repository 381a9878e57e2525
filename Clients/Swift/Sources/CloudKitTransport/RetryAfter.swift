import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// When an answer says to come back (RFC 9110, 10.2.3).
enum RetryAfter {
    /// - Returns: seconds from now; nil where the head says nothing, or nothing that can be read.
    static func seconds(_ answer: HTTPURLResponse) -> Double? {
        guard let text = answer.value(forHTTPHeaderField: "Retry-After") else { return nil }
        if let seconds = Double(text) { return seconds }
        guard let moment = date(text) else { return nil }
        // By the server's clock, where it tells it: this device's may be wrong.
        let now = answer.value(forHTTPHeaderField: "Date").flatMap(date) ?? Date()
        return max(0, moment.timeIntervalSince(now))
    }

    /// The three forms of RFC 9110, 5.6.7.
    private static let formats = [
        "EEE, dd MMM yyyy HH:mm:ss zzz", "EEEE, dd-MMM-yy HH:mm:ss zzz", "EEE MMM d HH:mm:ss yyyy",
    ]

    private static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        for format in formats {
            formatter.dateFormat = format
            if let date = formatter.date(from: text) { return date }
        }
        return nil
    }
}
