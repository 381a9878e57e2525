/// A walk over the scalars of a JSON5 text that knows its line and column.
struct JSON5Scanner {
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private(set) var location = JSON5Location()

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    /// The scalar that comes next; nil at the end.
    var next: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    /// The scalar after the next one.
    var second: Unicode.Scalar? { index + 1 < scalars.count ? scalars[index + 1] : nil }

    /// The error that something else was expected here.
    func expected(_ what: String) -> JSON5Error {
        JSON5Error(location: location, reason: "expected \(what)")
    }

    /// Steps over one scalar.
    mutating func advance() {
        guard let scalar = next else { return }
        index += 1
        // CR LF is one line end, counted at the LF.
        if Self.isLineEnd(scalar), !(scalar == "\r" && next == "\n") {
            location.line += 1
            location.column = 1
        } else {
            location.column += 1
        }
    }

    mutating func take(_ scalar: Unicode.Scalar, _ what: String) throws(JSON5Error) {
        guard next == scalar else { throw expected(what) }
        advance()
    }

    static func isLineEnd(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\n", "\r", "\u{2028}", "\u{2029}": true
        default: false
        }
    }

    /// Steps over white space and comments.
    mutating func skipSpace() throws(JSON5Error) {
        while let scalar = next {
            if scalar == "/" {
                try skipComment()
            } else if Self.isSpace(scalar) {
                advance()
            } else {
                return
            }
        }
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\t", "\u{B}", "\u{C}", " ", "\u{A0}", "\u{FEFF}": true
        case _ where isLineEnd(scalar): true
        default: scalar.properties.generalCategory == .spaceSeparator
        }
    }

    private mutating func skipComment() throws(JSON5Error) {
        let start = self
        advance()
        switch next {
        case "/":
            while let scalar = next, !Self.isLineEnd(scalar) { advance() }
        case "*":
            advance()
            while next != "*" || second != "/" {
                guard next != nil else { throw start.expected("the comment to end with '*/'") }
                advance()
            }
            advance()
            advance()
        default: throw start.expected("'//' or '/*' to begin a comment")
        }
    }

    /// Takes an unquoted key or a word.
    mutating func identifier() throws(JSON5Error) -> String {
        guard let first = next, Self.isIdentifierStart(first) else {
            throw expected("a key or '}'")
        }
        var name = String.UnicodeScalarView()
        while let scalar = next, Self.isIdentifierStart(scalar) || Self.isIdentifierPart(scalar) {
            name.append(scalar)
            advance()
        }
        return String(name)
    }

    private static func isIdentifierStart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "$" || scalar == "_" || scalar.properties.isIDStart
    }

    private static func isIdentifierPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\u{200C}" || scalar == "\u{200D}" || scalar.properties.isIDContinue
    }
}
