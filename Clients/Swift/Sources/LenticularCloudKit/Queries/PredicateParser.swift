import Foundation

/// Reads a predicate's format with its arguments.
struct PredicateParser {
    private var scanner: PredicateScanner
    private var token: PredicateScanner.Token = .end
    private var arguments: ArraySlice<Any>
    /// Parentheses and NOTs within each other.
    private var depth = 0

    private static let depthMax = 200

    /// - Throws: `PredicateScanner.Malformed`.
    static func parse(_ format: String, _ arguments: [Any]) throws -> PredicateTree {
        var parser = PredicateParser(
            scanner: PredicateScanner(format), arguments: arguments[...])
        try parser.advance()
        let tree = try parser.disjunction()
        guard parser.token == .end else { throw parser.malformed("the end") }
        return tree
    }

    private init(scanner: PredicateScanner, arguments: ArraySlice<Any>) {
        self.scanner = scanner
        self.arguments = arguments
    }

    private mutating func advance() throws { token = try scanner.next() }

    private func malformed(_ expected: String) -> PredicateScanner.Malformed {
        PredicateScanner.Malformed(offset: scanner.position, expected: expected)
    }

    /// Takes a keyword, whatever its case, or a sign.
    private mutating func take(_ words: String...) throws -> Bool {
        guard words.contains(where: isNext) else { return false }
        try advance()
        return true
    }

    private func isNext(_ word: String) -> Bool {
        switch token {
        case .word(let found): found.uppercased() == word
        case .sign(let found): found == word
        default: false
        }
    }

    private mutating func require(_ sign: String) throws {
        guard try take(sign) else { throw malformed("\"\(sign)\"") }
    }

    private mutating func descend() throws {
        depth += 1
        guard depth < Self.depthMax else { throw malformed("fewer parentheses") }
    }

    // MARK: - Predicates

    private mutating func disjunction() throws -> PredicateTree {
        var first = try conjunction()
        while try take("OR", "||") {
            _ = try conjunction()
            first = .refused("OR")
        }
        return first
    }

    private mutating func conjunction() throws -> PredicateTree {
        var parts = [try negation()]
        while try take("AND", "&&") { parts.append(try negation()) }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func negation() throws -> PredicateTree {
        try descend()
        defer { depth -= 1 }
        if try take("NOT", "!") { return .not(try negation()) }
        if isNext("("), let inner = try parenthesized() { return inner }
        if try take("TRUEPREDICATE") { return .always(true) }
        if try take("FALSEPREDICATE") { return .always(false) }
        return try comparison()
    }

    /// A predicate in parentheses; nil when they belong to a value.
    private mutating func parenthesized() throws -> PredicateTree? {
        let before = self
        try advance()
        do {
            let inner = try disjunction()
            try require(")")
            return inner
        } catch {
            self = before
            return nil
        }
    }

    private mutating func comparison() throws -> PredicateTree {
        let any = try take("ANY", "SOME")
        for word in ["ALL", "NONE"] where isNext(word) {
            try advance()
            _ = try sides()
            return .refused(word)
        }
        guard let (left, comparison, right) = try sides() else {
            return .refused("this comparison")
        }
        guard let known = PredicateTree.Comparison(rawValue: comparison) else {
            return .refused(comparison)
        }
        return .comparison(left, known, right, any: any)
    }

    private mutating func sides() throws -> (
        PredicateTree.Operand, String, PredicateTree.Operand
    )? {
        let left = try operand()
        let comparison = try comparisonWord()
        return (left, comparison, try operand())
    }

    private mutating func comparisonWord() throws -> String {
        let found: String
        switch token {
        case .sign(let sign): found = sign
        case .word(let word): found = word.uppercased()
        default: throw malformed("a comparison")
        }
        let names = [
            "=": "=", "==": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", "=<": "<=",
            ">": ">", ">=": ">=", "=>": ">=", "IN": "IN", "CONTAINS": "CONTAINS",
            "BEGINSWITH": "BEGINSWITH", "BETWEEN": "BETWEEN", "LIKE": "LIKE",
            "MATCHES": "MATCHES", "ENDSWITH": "ENDSWITH",
        ]
        guard let name = names[found] else { throw malformed("a comparison") }
        try advance()
        // Options such as [c] are taken for what the server does anyway.
        return name
    }

    // MARK: - Operands

    private mutating func operand() throws -> PredicateTree.Operand {
        try descend()
        defer { depth -= 1 }
        switch token {
        case .text(let text):
            try advance()
            return .value(text)
        case .integer(let number):
            try advance()
            return .value(NSNumber(value: number))
        case .fraction(let number):
            try advance()
            return .value(NSNumber(value: number))
        case .argument:
            try advance()
            return .value(try argument())
        case .keyArgument:
            try advance()
            guard let key = try argument() as? String else {
                throw malformed("a text as the argument of %K")
            }
            return try path(key)
        case .sign("-"):
            try advance()
            return try negative()
        case .sign("{"): return try list()
        case .sign("("):
            try advance()
            let inner = try operand()
            try require(")")
            return inner
        case .word(let word):
            try advance()
            return try named(word)
        default: throw malformed("a key or a value")
        }
    }

    private mutating func argument() throws -> Any? {
        guard let first = arguments.popFirst() else { throw malformed("one more argument") }
        return first is NSNull ? nil : first
    }

    private mutating func negative() throws -> PredicateTree.Operand {
        switch token {
        case .integer(let number):
            try advance()
            return .value(NSNumber(value: -number))
        case .fraction(let number):
            try advance()
            return .value(NSNumber(value: -number))
        default: throw malformed("a number after -")
        }
    }

    private mutating func list() throws -> PredicateTree.Operand {
        try advance()
        var members: [PredicateTree.Operand] = []
        while !isNext("}") {
            if !members.isEmpty { try require(",") }
            members.append(try operand())
        }
        try advance()
        return .list(members)
    }

    private mutating func named(_ word: String) throws -> PredicateTree.Operand {
        switch word.uppercased() {
        case "TRUE", "YES": return .value(NSNumber(value: 1))
        case "FALSE", "NO": return .value(NSNumber(value: 0))
        case "NULL", "NIL": return .value(nil)
        case "SELF": return .record
        case "NOW" where isNext("("):
            try advance()
            try require(")")
            return .now
        case "DISTANCETOLOCATION": return try distance()
        case "TOKENIZE": return try tokens()
        default: return try path(word)
        }
    }

    /// A key; what leads through a reference is refused when the query runs.
    private mutating func path(_ key: String) throws -> PredicateTree.Operand {
        var key = key
        while try take(".") {
            guard case .word(let next) = token else { throw malformed("a key after \".\"") }
            try advance()
            key += "." + next
        }
        return .key(key)
    }

    /// `distanceToLocation:fromLocation:(field, place)`.
    private mutating func distance() throws -> PredicateTree.Operand {
        try require(":")
        guard try take("FROMLOCATION") else { throw malformed("fromLocation") }
        try require(":")
        try require("(")
        let first = try operand()
        try require(",")
        let second = try operand()
        try require(")")
        switch (first, second) {
        case (.key(let field), .value(let place)), (.value(let place), .key(let field)):
            return .distance(field: field, from: place)
        default: throw malformed("a key and a place")
        }
    }

    /// `tokenize:using:(words, options)`.
    private mutating func tokens() throws -> PredicateTree.Operand {
        try require(":")
        guard try take("USING") else { throw malformed("using") }
        try require(":")
        try require("(")
        guard case .value(let words) = try operand() else { throw malformed("words") }
        try require(",")
        guard case .value(let options) = try operand() else { throw malformed("options") }
        try require(")")
        return .tokens(words, options: options as? String)
    }
}
