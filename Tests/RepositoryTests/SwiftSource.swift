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
        var frames: [(declaredAt: Int?, header: [Character], parentheses: Int)] = []
        var header: [Character] = []
        var declaredAt: Int?
        var parentheses = 0
        for (index, line) in code.enumerated() {
            let characters = Array(line) + ["\n"]
            var column = 0
            while column < characters.count {
                let character = characters[column]
                column += 1
                switch character {
                case "(", "[": parentheses += 1
                case ")", "]": parentheses -= 1
                case "{":
                    let opens = parentheses == 0 && SwiftSource.declaresFunction(header)
                    frames.append((opens ? declaredAt : nil, header, parentheses))
                    (header, parentheses) = ([], 0)
                case "}":
                    guard let frame = frames.popLast() else { continue }
                    if let start = frame.declaredAt {
                        found.append(Function(line: start + 1, lineCount: index - start + 1))
                    }
                    parentheses = frame.parentheses
                    header = parentheses > 0 ? frame.header : []
                case ";": header = []
                default:
                    guard parentheses == 0 else { continue }
                    header.append(character)
                    if SwiftSource.endsInDeclarator(header) { declaredAt = index }
                }
            }
        }
        return found.sorted { $0.line < $1.line }
    }

    private static let declarators = ["func", "init", "deinit", "subscript", "var"]
    private static let otherOpeners: Set<String> = [
        "let", "struct", "class", "enum", "actor", "extension", "protocol", "case", "if", "for",
        "while", "switch", "guard", "do", "else", "catch", "defer", "repeat", "return", "=",
    ]

    private static func endsInDeclarator(_ header: [Character]) -> Bool {
        declarators.contains { word in
            guard header.suffix(word.count).elementsEqual(word) else { return false }
            guard header.count > word.count else { return true }
            let before = header[header.count - word.count - 1]
            return !(before.isLetter || before.isNumber || before == "_" || before == ".")
        }
    }

    /// Whether the words before an opening brace declare a function rather than anything else.
    private static func declaresFunction(_ header: [Character]) -> Bool {
        let words = String(header).split { !($0.isLetter || $0.isNumber || "_.=".contains($0)) }
        for word in words.reversed() {
            if declarators.contains(String(word)) { return true }
            if otherOpeners.contains(String(word)) { return false }
        }
        return false
    }
}
