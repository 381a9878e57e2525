/// One Swift file with what is code told from what is comment or text.
///
/// A scanner, no parser: it knows comments, nested block comments, strings with interpolation, raw
/// and multi-line strings, and braces. Regex literals are not known; the sources have none.
struct SwiftSource {
    struct Function: Equatable {
        let line: Int
        let lineCount: Int
    }

    /// The file's lines as written.
    let lines: [String]
    /// The same lines with everything inside comments and string literals blanked.
    let code: [String]

    init(_ text: String) {
        var scanner = SwiftScanner(text)
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        code = scanner.blanked().split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
    }

    /// Modules that the file imports.
    var imports: [String] {
        code.compactMap { line in
            var words = line.split(separator: " ").map(String.init)
            while let first = words.first, first != "import" {
                guard first.hasPrefix("@") || first == "package" || first == "internal" else {
                    return nil
                }
                words.removeFirst()
            }
            guard words.count > 1 else { return nil }
            let kinds = ["struct", "class", "enum", "func", "protocol", "typealias", "var", "let"]
            let name = kinds.contains(words[1]) && words.count > 2 ? words[2] : words[1]
            return name.split(separator: ".").first.map(String.init)
        }
    }

    /// Every function, initialiser, deinitialiser, subscript and computed property with its length.
    ///
    /// A length counts from the line of the declaring word to that of the closing brace.
    var functions: [Function] {
        var found: [Function] = []
        var frames: [(declaredAt: Int?, parentheses: Int, header: [(line: Int, text: String)])] = []
        // Outside parentheses, since the last brace or semicolon: what a brace may open.
        var header: [(line: Int, text: String)] = []
        var parentheses = 0
        for (index, line) in code.enumerated() {
            var text = ""
            for character in line.unicodeScalars {
                switch character {
                case "(", "[":
                    parentheses += 1
                    text += " "
                case ")", "]": parentheses -= 1
                case "{":
                    header.append((index, text))
                    let start = parentheses == 0 ? Self.declaration(header) : nil
                    frames.append((start, parentheses, header))
                    (header, text, parentheses) = ([], "", 0)
                case "}":
                    guard let frame = frames.popLast() else { continue }
                    if let start = frame.declaredAt {
                        found.append(Function(line: start + 1, lineCount: index - start + 1))
                    }
                    parentheses = frame.parentheses
                    // A closure among the parameters does not end the declaration.
                    (header, text) = (parentheses > 0 ? frame.header : [], "")
                case ";": (header, text) = ([], "")
                default: if parentheses == 0 { text.unicodeScalars.append(character) }
                }
            }
            if !text.isEmpty { header.append((index, text)) }
        }
        return found.sorted { $0.line < $1.line }
    }

    private static let declarators: Set<Substring> = ["func", "init", "deinit", "subscript", "var"]
    private static let otherOpeners: Set<Substring> = [
        "let", "struct", "class", "enum", "actor", "extension", "protocol", "case", "if", "for",
        "while", "switch", "guard", "do", "else", "catch", "defer", "repeat", "return", "=",
    ]

    /// The line of the word that declares a function before an opening brace; nil for other braces.
    private static func declaration(_ header: [(line: Int, text: String)]) -> Int? {
        for (line, text) in header.reversed() {
            let words = text.split { !($0.isLetter || $0.isNumber || "_.=".contains($0)) }
            for word in words.reversed() {
                if declarators.contains(word) { return line }
                if otherOpeners.contains(word) { return nil }
            }
        }
        return nil
    }
}
