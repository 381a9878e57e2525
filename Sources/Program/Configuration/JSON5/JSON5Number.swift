/// Numbers.
extension JSON5Scanner {
    /// Takes a number; infinity and not-a-number are refused.
    mutating func number() throws(JSON5Error) -> JSON5Value.Content {
        let start = self
        let isNegative = next == "-"
        if isNegative || next == "+" { advance() }
        if next == "I" || next == "N" { throw start.expected("a finite number") }
        if next == "0", second == "x" || second == "X" {
            advance()
            advance()
            let digits = digits(radix: 16)
            return try end(digits, radix: 16, isNegative, start)
        }
        var digits = digits(radix: 10)
        if digits.count > 1, digits.hasPrefix("0") {
            throw start.expected("no digit after a leading zero")
        }
        var isWhole = true
        if next == "." {
            isWhole = false
            advance()
            digits += self.digits(radix: 10)
        }
        if digits.isEmpty { throw expected("a digit") }
        if next == "e" || next == "E" {
            isWhole = false
            advance()
            if next == "+" || next == "-" { advance() }
            if self.digits(radix: 10).isEmpty { throw expected("a digit") }
        }
        return try end(isWhole ? digits : "", radix: 10, isNegative, start, isWhole: isWhole)
    }

    private mutating func digits(radix: Int) -> String {
        var digits = ""
        while let scalar = next, scalar.isASCII, let value = Character(scalar).hexDigitValue,
            value < radix
        {
            digits.unicodeScalars.append(scalar)
            advance()
        }
        return digits
    }

    private func end(
        _ digits: String, radix: Int, _ isNegative: Bool, _ start: JSON5Scanner,
        isWhole: Bool = true
    ) throws(JSON5Error) -> JSON5Value.Content {
        if let scalar = next, scalar == "_" || scalar == "." || scalar.properties.isIDContinue {
            throw start.expected("a number")
        }
        guard isWhole else { return .number }
        if digits.isEmpty { throw expected("a digit") }
        return Int((isNegative ? "-" : "") + digits, radix: radix).map { .integer($0) } ?? .number
    }
}
