/// Strings and their escapes.
extension JSON5Scanner {
    /// Takes a string in double or single quotes.
    mutating func string() throws(JSON5Error) -> String {
        let start = self
        let quote = next
        advance()
        var text = String.UnicodeScalarView()
        while let scalar = next {
            switch scalar {
            case _ where scalar == quote:
                advance()
                return String(text)
            case "\\":
                if let escaped = try escape() { text.append(escaped) }
            case "\n", "\r":
                throw expected("the string to end on its line")
            default:
                text.append(scalar)
                advance()
            }
        }
        throw start.expected("the string to end")
    }

    /// Takes an escape; nil for a line that goes on.
    private mutating func escape() throws(JSON5Error) -> Unicode.Scalar? {
        let start = self
        advance()
        guard let letter = next else { throw start.expected("the string to end") }
        advance()
        switch letter {
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "v": return "\u{B}"
        case "0":
            if let digit = next, "0"..."9" ~= digit { throw start.expected("no octal escape") }
            return "\0"
        case "1"..."9": throw start.expected("no octal escape")
        case "x": return Unicode.Scalar(try hexadecimal(2, from: start))
        case "u": return try unicode(from: start)
        case "\r":
            if next == "\n" { advance() }
            return nil
        case _ where Self.isLineEnd(letter): return nil
        default: return letter
        }
    }

    private mutating func unicode(from start: JSON5Scanner) throws(JSON5Error) -> Unicode.Scalar {
        let unit = try hexadecimal(4, from: start)
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard unit < 0xDC00, next == "\\", second == "u" else {
            throw start.expected("surrogates to come in pairs")
        }
        advance()
        advance()
        let low = try hexadecimal(4, from: start)
        guard 0xDC00...0xDFFF ~= low,
            let scalar = Unicode.Scalar(0x1_0000 + (unit & 0x3FF) << 10 + (low & 0x3FF))
        else { throw start.expected("surrogates to come in pairs") }
        return scalar
    }

    private mutating func hexadecimal(
        _ count: Int, from start: JSON5Scanner
    ) throws(JSON5Error) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<count {
            guard let digit = next.flatMap({ $0.isASCII ? Character($0).hexDigitValue : nil })
            else {
                throw start.expected("\(count) hexadecimal digits")
            }
            value = value << 4 | UInt32(digit)
            advance()
        }
        return value
    }
}
