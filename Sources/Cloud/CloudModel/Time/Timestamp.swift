import Calendar

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
        let ofSecond = (time % 1_000 + 1_000) % 1_000
        let civil = CivilTime(seconds: (time - ofSecond) / 1_000)
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Timestamp.bytes) { form in
            var index = 0
            func put(_ value: Int64, _ width: Int, then mark: UInt8) {
                var rest = value
                var offset = index + width
                form.initializeElement(at: offset, to: mark)
                while offset > index {
                    offset -= 1
                    form.initializeElement(
                        at: offset, to: UInt8(truncatingIfNeeded: 48 + rest % 10))
                    rest /= 10
                }
                index += width + 1
            }
            put(civil.year, 4, then: UInt8(ascii: "-"))
            put(civil.month, 2, then: UInt8(ascii: "-"))
            put(civil.day, 2, then: UInt8(ascii: "T"))
            put(civil.hour, 2, then: UInt8(ascii: ":"))
            put(civil.minute, 2, then: UInt8(ascii: ":"))
            put(civil.second, 2, then: UInt8(ascii: "."))
            put(ofSecond, 3, then: UInt8(ascii: "Z"))
            bytes.append(contentsOf: UnsafeMutableBufferPointer(rebasing: form[..<index]))
        }
    }
}
