/// Reads a JSON5 text (json5.org, version 1.0.0).
///
/// It refuses some things that can only be a mistake in a settings file: keys that come twice,
/// numbers that are not finite, single surrogates, and containers nested more than `depthMax` deep.
struct JSON5Reader {
    /// How deep containers may be nested.
    static let depthMax = 32

    var scanner: JSON5Scanner

    /// Reads the one value that a text holds.
    static func read(_ bytes: [UInt8]) throws(JSON5Error) -> JSON5Value {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw JSON5Error(location: JSON5Location(), reason: "expected the file to be UTF-8")
        }
        var reader = JSON5Reader(scanner: JSON5Scanner(text))
        try reader.scanner.skipSpace()
        let value = try reader.value(depth: 0)
        try reader.scanner.skipSpace()
        guard reader.scanner.next == nil else {
            throw reader.scanner.expected("the end of the file")
        }
        return value
    }

    private mutating func value(depth: Int) throws(JSON5Error) -> JSON5Value {
        let location = scanner.location
        let content: JSON5Value.Content
        switch scanner.next {
        case "{": content = .object(try members(depth: depth + 1))
        case "[": content = .array(try elements(depth: depth + 1))
        case "\"", "'": content = .string(try scanner.string())
        case "+", "-", ".", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9":
            content = try scanner.number()
        case "t", "f", "n", "I", "N": content = try word()
        default: throw scanner.expected("a value")
        }
        return JSON5Value(content: content, location: location)
    }

    private mutating func word() throws(JSON5Error) -> JSON5Value.Content {
        let start = scanner
        switch try scanner.identifier() {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        case "Infinity", "NaN": throw start.expected("a finite number")
        default: throw start.expected("a value")
        }
    }

    private mutating func members(depth: Int) throws(JSON5Error) -> [JSON5Value.Member] {
        if depth > Self.depthMax { throw scanner.expected("at most \(Self.depthMax) levels") }
        var members: [JSON5Value.Member] = []
        var keys: Set<String> = []
        try scanner.take("{", "'{'")
        try scanner.skipSpace()
        while scanner.next != "}" {
            let start = scanner
            let isQuoted = scanner.next == "\"" || scanner.next == "'"
            let key = isQuoted ? try scanner.string() : try scanner.identifier()
            guard keys.insert(key).inserted else { throw start.expected("each key only once") }
            try scanner.skipSpace()
            try scanner.take(":", "':'")
            try scanner.skipSpace()
            let value = try value(depth: depth)
            members.append(JSON5Value.Member(key: key, keyLocation: start.location, value: value))
            try separator(or: "}")
        }
        try scanner.take("}", "'}'")
        return members
    }

    private mutating func elements(depth: Int) throws(JSON5Error) -> [JSON5Value] {
        if depth > Self.depthMax { throw scanner.expected("at most \(Self.depthMax) levels") }
        var elements: [JSON5Value] = []
        try scanner.take("[", "'['")
        try scanner.skipSpace()
        while scanner.next != "]" {
            elements.append(try value(depth: depth))
            try separator(or: "]")
        }
        try scanner.take("]", "']'")
        return elements
    }

    /// Takes a comma, unless the container ends here; it may also end after the comma.
    private mutating func separator(or end: Unicode.Scalar) throws(JSON5Error) {
        try scanner.skipSpace()
        if scanner.next == end { return }
        try scanner.take(",", "',' or '\(end)'")
        try scanner.skipSpace()
    }
}
