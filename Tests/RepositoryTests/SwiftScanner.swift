/// Walks Swift text once and blanks comments and string literals, keeping every line where it was.
struct SwiftScanner {
    private let text: [Character]
    private var position = 0
    private var output: [Character] = []

    init(_ text: String) { self.text = Array(text) }

    mutating func blanked() -> String {
        scanCode(untilClosingParenthesis: false, keeping: true)
        return String(output)
    }

    private func starts(_ word: String, at offset: Int = 0) -> Bool {
        let start = position + offset
        guard start + word.count <= text.count else { return false }
        return text[start..<(start + word.count)].elementsEqual(word)
    }

    private mutating func skip(_ count: Int) {
        for _ in 0..<count where position < text.count {
            output.append(text[position] == "\n" ? "\n" : " ")
            position += 1
        }
    }

    /// Scans code to the end, or to the parenthesis that ends an interpolation.
    private mutating func scanCode(untilClosingParenthesis: Bool, keeping: Bool) {
        var depth = 0
        while position < text.count {
            if starts("//") {
                while position < text.count, text[position] != "\n" { skip(1) }
            } else if starts("/*") {
                scanBlockComment()
            } else if let hashes = stringOpening() {
                scanString(hashes: hashes)
            } else {
                let character = text[position]
                if character == "(" { depth += 1 }
                if character == ")" {
                    if untilClosingParenthesis, depth == 0 { return }
                    depth -= 1
                }
                if keeping {
                    output.append(character)
                    position += 1
                } else {
                    skip(1)
                }
            }
        }
    }

    private mutating func scanBlockComment() {
        var depth = 0
        repeat {
            if starts("/*") {
                depth += 1
                skip(2)
            } else if starts("*/") {
                depth -= 1
                skip(2)
            } else {
                skip(1)
            }
        } while depth > 0 && position < text.count
    }

    /// How many `#` open a string here, or nil where none starts.
    private func stringOpening() -> Int? {
        var hashes = 0
        while position + hashes < text.count, text[position + hashes] == "#" { hashes += 1 }
        return starts("\"", at: hashes) ? hashes : nil
    }

    private mutating func scanString(hashes: Int) {
        let fence = String(repeating: "#", count: hashes)
        skip(hashes)
        let quote = starts("\"\"\"") ? "\"\"\"" : "\""
        skip(quote.count)
        while position < text.count {
            if starts("\\" + fence + "(") {
                skip(2 + hashes)
                scanCode(untilClosingParenthesis: true, keeping: false)
                skip(1)
            } else if starts("\\" + fence) {
                skip(2 + hashes)
            } else if starts(quote + fence) {
                skip(quote.count + hashes)
                return
            } else {
                skip(1)
            }
        }
    }
}
