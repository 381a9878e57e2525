/// Reading numbers.
extension JSONValue {
    /// Whether this is a number without fraction and exponent.
    package var isInteger: Bool { kind == .number && document.tape.flag(of: index) }

    /// The number exactly; nil with a fraction or an exponent, out of range, or for another kind.
    package var int64: Int64? {
        guard isInteger else { return nil }
        return withRawBytes { text in
            let isNegative = text.first == UInt8(ascii: "-")
            var value: Int64 = 0
            for byte in text.dropFirst(isNegative ? 1 : 0) {
                let digit = Int64(byte &- UInt8(ascii: "0"))
                let (tens, overflowsTens) = value.multipliedReportingOverflow(by: 10)
                // Counted downwards: the least value has no positive counterpart.
                let (next, overflows) = tens.subtractingReportingOverflow(digit)
                if overflowsTens || overflows { return nil }
                value = next
            }
            if isNegative { return value }
            return value == .min ? nil : -value
        }
    }

    /// The number rounded to the nearest double; nil beyond the range of finite ones, or for another
    /// kind.
    package var double: Double? {
        guard kind == .number else { return nil }
        return withRawBytes { text in
            if let exact = JSONDecimal(text)?.exactDouble { return exact }
            let value = Double(String(decoding: text, as: UTF8.self))
            return value.flatMap { $0.isFinite ? $0 : nil }
        }
    }
}

/// A decimal number whose digits fit in a double without rounding.
struct JSONDecimal {
    /// The powers of ten that a double holds exactly.
    private static let powers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]

    private let isNegative: Bool
    private var digits: UInt64 = 0
    private var exponent = 0

    /// - Parameter text: a checked JSON number.
    /// - Returns: nil when it has too many digits or too large an exponent for the short way.
    @inline(__always)
    init?(_ text: UnsafeRawBufferPointer) {
        isNegative = text.first == UInt8(ascii: "-")
        var position = isNegative ? 1 : 0
        var isFraction = false
        while position < text.count {
            let digit = text[position] &- UInt8(ascii: "0")
            if digit < 10 {
                if digits >= 1 << 53 { return nil }
                digits = digits &* 10 &+ UInt64(digit)
                if isFraction { exponent -= 1 }
            } else if text[position] == UInt8(ascii: ".") {
                isFraction = true
            } else {
                break
            }
            position += 1
        }
        if position == text.count { return }
        guard let written = Self.exponent(text[(position + 1)...]) else { return nil }
        exponent += written
    }

    private static func exponent(_ text: Slice<UnsafeRawBufferPointer>) -> Int? {
        var value = 0
        let isNegative = text.first == UInt8(ascii: "-")
        for byte in text where byte &- UInt8(ascii: "0") < 10 {
            value = value * 10 + Int(byte &- UInt8(ascii: "0"))
            if value > 400 { return nil }
        }
        return isNegative ? -value : value
    }

    /// The double, when one exact multiplication or division gives it.
    ///
    /// Both operands are exact, so the one rounding of the operation is the right one (W. Clinger,
    /// "How to read floating point numbers accurately", 1990).
    @inline(__always)
    var exactDouble: Double? {
        guard digits <= 1 << 53, exponent.magnitude < Self.powers.count else { return nil }
        let power = Self.powers[Int(exponent.magnitude)]
        let value = exponent < 0 ? Double(digits) / power : Double(digits) * power
        return isNegative ? -value : value
    }
}
