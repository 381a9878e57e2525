import Calendar

/// Dates as people write them: ISO 8601, a day alone or with a time, in UTC unless the text says otherwise.
package enum DateText {
    /// The moment of `2026-11-25`, `2026-11-25T08:30`, `…:15`, `….250`, each of the latter with `Z`, `+02:00` or
    /// nothing after it; nil for any other text, and for a day or time that does not exist.
    package static func milliseconds(_ text: some StringProtocol) -> Milliseconds? {
        var rest = Array(text.utf8)[...]
        guard let year = number(&rest, 4), take(&rest, "-"), let month = number(&rest, 2),
            take(&rest, "-"), let day = number(&rest, 2),
            let start = CivilTime.seconds(year: year, month: month, day: day)
        else { return nil }
        guard !rest.isEmpty else { return start * 1_000 }
        guard take(&rest, "T") || take(&rest, " "), let time = time(&rest),
            let offset = offset(rest)
        else { return nil }
        return start * 1_000 + time - offset
    }

    private static func time(_ rest: inout ArraySlice<UInt8>) -> Milliseconds? {
        guard let hour = number(&rest, 2), take(&rest, ":"), let minute = number(&rest, 2),
            hour < 24, minute < 60
        else { return nil }
        var time = (hour * 60 + minute) * 60_000
        guard take(&rest, ":") else { return time }
        guard let second = number(&rest, 2), second < 60 else { return nil }
        time += second * 1_000
        guard take(&rest, ".") else { return time }
        let digits = rest.prefix { isDigit($0) }
        guard (1...9).contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        let padded = Array(digits.prefix(3)) + repeatElement(UInt8(ascii: "0"), count: 3)
        return time + padded.prefix(3).reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }

    /// How far the time is ahead of UTC.
    private static func offset(_ text: ArraySlice<UInt8>) -> Milliseconds? {
        var rest = text
        if rest.isEmpty { return 0 }
        if take(&rest, "Z") { return rest.isEmpty ? 0 : nil }
        let isAhead = take(&rest, "+")
        guard isAhead || take(&rest, "-"), let hours = number(&rest, 2), hours < 24 else {
            return nil
        }
        _ = take(&rest, ":")
        guard let minutes = number(&rest, 2), minutes < 60, rest.isEmpty else { return nil }
        let offset = (hours * 60 + minutes) * 60_000
        return isAhead ? offset : -offset
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func number(_ rest: inout ArraySlice<UInt8>, _ width: Int) -> Int64? {
        let digits = rest.prefix(width)
        guard digits.count == width, digits.allSatisfy(isDigit) else { return nil }
        rest = rest.dropFirst(width)
        return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }

    private static func take(_ rest: inout ArraySlice<UInt8>, _ mark: Unicode.Scalar) -> Bool {
        guard let first = rest.first, UInt32(first) == mark.value else { return false }
        rest = rest.dropFirst()
        return true
    }
}
