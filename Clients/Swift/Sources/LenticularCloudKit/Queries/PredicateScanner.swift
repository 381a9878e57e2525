import Foundation

/// Cuts a predicate's format into its words.
struct PredicateScanner {
    enum Token: Equatable {
        /// A keyword or a key, as it is written.
        case word(String)
        case text(String)
        case integer(Int64)
        case fraction(Double)
        /// `%@` and the like: takes the next argument.
        case argument
        /// `%K`: the next argument is a key.
        case keyArgument
        case sign(String)
        case end
    }

    /// A malformed format, and where.
    struct Malformed: Error, CustomStringConvertible {
        let offset: Int
        let expected: String

        var description: String { "expected \(expected) at character \(offset)" }
    }

    private let text: [Character]
    private(set) var position = 0

    init(_ format: String) { text = Array(format) }

    private static let signs = [
        "==", "!=", "<>", "<=", ">=", "=<", "=>", "&&", "||", "=", "<", ">", "!", "(", ")", "{",
        "}", ",", ":", ".", "-",
    ]

    mutating func next() throws -> Token {
        while position < text.count, text[position].isWhitespace { position += 1 }
        guard position < text.count else { return .end }
        let first = text[position]
        if first == "\"" || first == "'" { return try quoted(first) }
        if first == "%" { return try placeholder() }
        if first.isNumber { return try number() }
        if first.isLetter || first == "_" || first == "#" || first == "@" { return word() }
        for sign in Self.signs where starts(with: sign) {
            position += sign.count
            return .sign(sign)
        }
        throw Malformed(offset: position, expected: "a word, value or sign")
    }

    private func starts(with sign: String) -> Bool {
        text[position...].prefix(sign.count).elementsEqual(sign)
    }

    private mutating func word() -> Token {
        let start = position
        position += 1
        while position < text.count,
            text[position].isLetter || text[position].isNumber || text[position] == "_"
        {
            position += 1
        }
        return .word(String(text[start..<position]))
    }

    private mutating func quoted(_ quote: Character) throws -> Token {
        var value = ""
        position += 1
        while position < text.count, text[position] != quote {
            if text[position] == "\\", position + 1 < text.count { position += 1 }
            value.append(text[position])
            position += 1
        }
        guard position < text.count else {
            throw Malformed(offset: position, expected: "the closing \(quote)")
        }
        position += 1
        return .text(value)
    }

    private mutating func placeholder() throws -> Token {
        let rest = String(text[(position + 1)...].prefix(3))
        for (kind, token) in [("@", Token.argument), ("K", .keyArgument)]
        where rest.hasPrefix(kind) {
            position += 2
            return token
        }
        for kind in ["lld", "llu", "lu", "ld", "lf", "d", "i", "u", "f", "g"]
        where rest.hasPrefix(kind) {
            position += 1 + kind.count
            return .argument
        }
        throw Malformed(offset: position, expected: "%@, %K, %d, %ld, %u or %f")
    }

    private mutating func number() throws -> Token {
        let start = position
        while position < text.count, text[position].isNumber || ".eE".contains(text[position]) {
            if "eE".contains(text[position]), position + 1 < text.count,
                "+-".contains(text[position + 1])
            {
                position += 1
            }
            position += 1
        }
        let digits = String(text[start..<position])
        if let whole = Int64(digits) { return .integer(whole) }
        if let fraction = Double(digits) { return .fraction(fraction) }
        throw Malformed(offset: start, expected: "a number")
    }
}
