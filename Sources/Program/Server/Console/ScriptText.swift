/// A script without the spaces around its signs, and without the line breaks within its brackets and after its semicolons;
/// strings, templates and regular expressions stay as they are.
///
/// It takes a `/` for the beginning of a regular expression by the sign before it, and knows no comments but those that
/// end with their line: the console's own scripts are written so.
struct ScriptText {
    private let source: [UInt8]
    private var at = 0
    private var compact: [UInt8] = []
    /// Of each open brace, whether a template goes on after it.
    private var braces: [Bool] = []

    init(_ source: [UInt8]) {
        self.source = source
        compact.reserveCapacity(source.count)
    }

    consuming func compacted() -> [UInt8] {
        while at < source.count { step() }
        return compact
    }

    private mutating func step() {
        switch source[at] {
        case UInt8(ascii: "'"), UInt8(ascii: "\""): copyQuoted(until: source[at])
        case UInt8(ascii: "`"):
            copy()
            copyTemplate()
        case UInt8(ascii: "{"):
            braces.append(false)
            copy()
        case UInt8(ascii: "}"):
            joinLine()
            copy()
            if braces.popLast() == true { copyTemplate() }
        case UInt8(ascii: "/") where next == UInt8(ascii: "/"):
            while at < source.count, source[at] != UInt8(ascii: "\n") { at += 1 }
        case UInt8(ascii: "/") where beginsExpression: copyExpression()
        case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "."):
            joinLine()
            copy()
        case UInt8(ascii: "\n"):
            if let last = compact.last, "{([,;".utf8.contains(last) { at += 1 } else { copy() }
        case UInt8(ascii: " "):
            if let next, isNeeded(before: next) { copy() } else { at += 1 }
        default: copy()
        }
    }

    private var next: UInt8? { at + 1 < source.count ? source[at + 1] : nil }

    private mutating func copy() {
        guard at < source.count else { return }
        compact.append(source[at])
        at += 1
    }

    /// Before what no line has to begin with.
    private mutating func joinLine() {
        if compact.last == UInt8(ascii: "\n") { compact.removeLast() }
    }

    private mutating func copyQuoted(until end: UInt8) {
        copy()
        while at < source.count, source[at] != end {
            if source[at] == UInt8(ascii: "\\") { copy() }
            copy()
        }
        copy()
    }

    /// From within a template to its end, or to an expression in it.
    private mutating func copyTemplate() {
        while at < source.count, source[at] != UInt8(ascii: "`") {
            if source[at] == UInt8(ascii: "$"), next == UInt8(ascii: "{") {
                copy()
                copy()
                braces.append(true)
                return
            }
            if source[at] == UInt8(ascii: "\\") { copy() }
            copy()
        }
        copy()
    }

    private mutating func copyExpression() {
        var isClass = false
        repeat {
            if source[at] == UInt8(ascii: "\\") { copy() }
            copy()
            guard at < source.count else { return }
            if source[at] == UInt8(ascii: "[") { isClass = true }
            if source[at] == UInt8(ascii: "]") { isClass = false }
        } while isClass || source[at] != UInt8(ascii: "/")
        copy()
    }

    /// Whether what comes now is a value, so that a `/` does not divide.
    private var beginsExpression: Bool {
        guard let last = compact.last else { return true }
        return "(,=:[!&|?{;>\n".utf8.contains(last)
            || compact.suffix(6).elementsEqual("return".utf8)
    }

    private func isNeeded(before next: UInt8) -> Bool {
        guard let last = compact.last else { return false }
        let signs = "+-".utf8
        return Self.isOfWord(last) && Self.isOfWord(next)
            || signs.contains(last) && signs.contains(next)
    }

    /// Any letter beyond ASCII counts.
    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"),
            UInt8(ascii: "#"), 0x80...:
            true
        default: false
        }
    }
}
