/// Walks Swift text once and blanks comments and string literals, keeping every line where it was.
struct SwiftScanner {
    private static let newline = UInt8(ascii: "\n")

    private let text: [UInt8]
    private var position = 0
    private var output: [UInt8] = []

    init(_ text: String) {
        self.text = Array(text.utf8)
        output.reserveCapacity(self.text.count)
    }

    mutating func blanked() -> String {
        scanCode(untilClosingParenthesis: false, keeping: true)
        return String(decoding: output, as: UTF8.self)
    }

    private func starts(_ word: StaticString, at offset: Int = 0) -> Bool {
        starts(UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount), offset)
    }

    private func starts(_ bytes: some Collection<UInt8>, _ offset: Int = 0) -> Bool {
        var index = position + offset
        guard index + bytes.count <= text.count else { return false }
        for byte in bytes {
            guard text[index] == byte else { return false }
            index += 1
        }
        return true
    }

    private mutating func skip(_ count: Int) {
        for _ in 0..<count where position < text.count {
            output.append(text[position] == Self.newline ? Self.newline : UInt8(ascii: " "))
            position += 1
        }
    }

    /// Scans code to the end, or to the parenthesis that ends an interpolation.
    private mutating func scanCode(untilClosingParenthesis: Bool, keeping: Bool) {
        var depth = 0
        while position < text.count {
            let character = text[position]
            guard character < 0x30 || character == UInt8(ascii: "\"") else {
                copy(keeping)
                continue
            }
            if starts("//") {
                while position < text.count, text[position] != Self.newline { skip(1) }
            } else if starts("/*") {
                scanBlockComment()
            } else if let hashes = stringOpening() {
                scanString(hashes: hashes)
            } else {
                if character == UInt8(ascii: "(") { depth += 1 }
                if character == UInt8(ascii: ")") {
                    if untilClosingParenthesis, depth == 0 { return }
                    depth -= 1
                }
                copy(keeping)
            }
        }
    }

    private mutating func copy(_ keeping: Bool) {
        guard keeping else { return skip(1) }
        output.append(text[position])
        position += 1
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
        while position + hashes < text.count, text[position + hashes] == UInt8(ascii: "#") {
            hashes += 1
        }
        return starts("\"", at: hashes) ? hashes : nil
    }

    private mutating func scanString(hashes: Int) {
        let fence = [UInt8](repeating: UInt8(ascii: "#"), count: hashes)
        let escape = [UInt8(ascii: "\\")] + fence
        skip(hashes)
        let quote = [UInt8](
            repeating: UInt8(ascii: "\""), count: starts("\"\"\"") ? 3 : 1)
        let end = quote + fence
        skip(quote.count)
        while position < text.count {
            if starts(escape + [UInt8(ascii: "(")]) {
                skip(2 + hashes)
                scanCode(untilClosingParenthesis: true, keeping: false)
                skip(1)
            } else if starts(escape) {
                skip(2 + hashes)
            } else if starts(end) {
                skip(quote.count + hashes)
                return
            } else {
                skip(1)
            }
        }
    }
}
