/// Why the parser stops, small enough to be thrown in two registers.
struct JSONRefusal: Error {
    /// What would have been taken at the place.
    enum Expectation {
        case value, end, stringEnd, key, colon, commaOrBrace, commaOrBracket, digit
        case noLeadingZero, noControlCharacter, utf8, escape, hexadecimalDigits, surrogatePair
        case fewerLevels, keyOnce, noByteOrderMark, fewerBytes
    }

    let offset: Int
    let expectation: Expectation

    /// The error as the caller sees it.
    func error(in text: UnsafeBufferPointer<UInt8>, depthMax: Int) -> JSONError {
        let reason =
            switch expectation {
            case .value: "expected a value"
            case .end: "expected the end of the text"
            case .stringEnd: "expected the end of the string"
            case .key: "expected a key in quotes"
            case .colon: "expected ':'"
            case .commaOrBrace: "expected ',' or '}'"
            case .commaOrBracket: "expected ',' or ']'"
            case .digit: "expected a digit"
            case .noLeadingZero: "expected no digit after a leading zero"
            case .noControlCharacter: "expected control characters in strings to be escaped"
            case .utf8: "expected valid UTF-8"
            case .escape: "expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u"
            case .hexadecimalDigits: "expected four hexadecimal digits after \\u"
            case .surrogatePair: "expected surrogates to come in pairs"
            case .fewerLevels: "expected at most \(depthMax) levels"
            case .keyOnce: "expected each key only once"
            case .noByteOrderMark: "expected no byte order mark"
            case .fewerBytes: "expected at most \(JSONTape.textBytesMax) bytes"
            }
        return JSONError(at: offset, in: text, reason: reason)
    }
}
