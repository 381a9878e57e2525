/// A place in a text; lines and columns count from 1, columns in characters.
struct TextLocation: Equatable {
    var line = 1
    var column = 1
}

/// Cuts a text of the schema language into words, quoted names and signs.
///
/// Looks at every byte once and keeps none but the current token.
struct SchemaScanner {
    enum Kind: Equatable {
        /// Letters, digits and `_`; a keyword or a name.
        case word
        /// The text between double quotes.
        case quoted
        /// One of `( ) , ; < >`.
        case sign(UInt8)
        case end
    }

    struct Token {
        let kind: Kind
        /// Without the quotes.
        let text: String
        let location: TextLocation

        /// As it is shown in an error.
        var shown: String {
            switch kind {
            case .end: "the end of the text"
            case .quoted: "\"\(String(text.prefix(Token.shownMax)))\""
            case .word, .sign: "'\(String(text.prefix(Token.shownMax)))'"
            }
        }

        private static let shownMax = 40

        /// Whether it is this keyword, in any case and without quotes.
        func isWord(_ keyword: String) -> Bool {
            kind == .word && text.utf8.count == keyword.utf8.count && text.uppercased() == keyword
        }

        func isSign(_ sign: Character) -> Bool {
            guard case .sign(let byte) = kind else { return false }
            return byte == sign.asciiValue
        }
    }

    private let text: [UInt8]
    private var index = 0
    private var location = TextLocation()

    init(_ text: [UInt8]) { self.text = text }

    /// The next token; after the last, always `end`.
    mutating func next() throws(SchemaSyntaxError) -> Token {
        try skipBlanks()
        let start = location
        guard let byte = current else { return Token(kind: .end, text: "", location: start) }
        switch byte {
        case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ","), UInt8(ascii: ";"),
            UInt8(ascii: "<"), UInt8(ascii: ">"):
            advance()
            return Token(kind: .sign(byte), text: String(UnicodeScalar(byte)), location: start)
        case UInt8(ascii: "\""): return try quoted(from: start)
        default:
            let first = index
            while let byte = current, Self.isWordByte(byte) { advance() }
            guard index > first else {
                throw SchemaSyntaxError(
                    start, expected: "a keyword, a name or one of ( ) , ; < >",
                    found: unknownCharacter)
            }
            return Token(
                kind: .word, text: String(decoding: text[first..<index], as: UTF8.self),
                location: start)
        }
    }

    private mutating func quoted(from start: TextLocation) throws(SchemaSyntaxError) -> Token {
        advance()
        let first = index
        while let byte = current, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\n") {
            advance()
        }
        guard current == UInt8(ascii: "\"") else {
            throw SchemaSyntaxError(
                start, expected: "a second \" in this line", found: "a name that does not end")
        }
        let name = String(decoding: text[first..<index], as: UTF8.self)
        advance()
        return Token(kind: .quoted, text: name, location: start)
    }

    private mutating func skipBlanks() throws(SchemaSyntaxError) {
        while let byte = current {
            switch (byte, following) {
            case (UInt8(ascii: " "), _), (UInt8(ascii: "\t"), _), (UInt8(ascii: "\r"), _),
                (UInt8(ascii: "\n"), _):
                advance()
            case (UInt8(ascii: "/"), UInt8(ascii: "/")), (UInt8(ascii: "-"), UInt8(ascii: "-")):
                while let byte = current, byte != UInt8(ascii: "\n") { advance() }
            case (UInt8(ascii: "/"), UInt8(ascii: "*")): try skipComment()
            default:
                // The byte order mark that some editors write before the first character.
                guard index == 0, text.starts(with: [0xef, 0xbb, 0xbf]) else { return }
                index = 3
            }
        }
    }

    private mutating func skipComment() throws(SchemaSyntaxError) {
        let start = location
        advance()
        advance()
        while let byte = current {
            if byte == UInt8(ascii: "*"), following == UInt8(ascii: "/") {
                advance()
                return advance()
            }
            advance()
        }
        throw SchemaSyntaxError(start, expected: "*/", found: "a comment that does not end")
    }

    private var current: UInt8? { index < text.count ? text[index] : nil }

    private var following: UInt8? { index + 1 < text.count ? text[index + 1] : nil }

    private mutating func advance() {
        let byte = text[index]
        index += 1
        if byte == UInt8(ascii: "\n") {
            location.line += 1
            location.column = 1
        } else if current.map({ $0 & 0xc0 != 0x80 }) ?? true {
            // Only the first byte of a character counts as a column.
            location.column += 1
        }
    }

    private var unknownCharacter: String {
        let scalars = String(decoding: text[index..<min(index + 4, text.count)], as: UTF8.self)
            .unicodeScalars
        guard let scalar = scalars.first, scalar.value > 0x20, scalar.value != 0x7f else {
            return "a control character"
        }
        return "'\(scalar)'"
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// Why a text is not a schema: where the mistake is, what was expected there, and what is there.
package struct SchemaSyntaxError: Error, Equatable, CustomStringConvertible {
    /// From 1.
    package let line: Int
    /// From 1, in characters.
    package let column: Int
    package let expected: String
    package let found: String

    init(_ location: TextLocation, expected: String, found: String) {
        line = location.line
        column = location.column
        self.expected = expected
        self.found = found
    }

    package var description: String {
        "line \(line), column \(column): expected \(expected), found \(found)"
    }
}
