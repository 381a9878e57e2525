import CloudModel
import Cryptography
import JSON

/// The value of a filter as somebody wrote it, with the name of its type in front or without.
struct FilterValue {
    private var text: Substring
    /// The whole filter, for what is said of it.
    private let whole: String

    init(_ text: String, of whole: String) {
        self.text = Substring(text)
        self.whole = whole
    }

    private func refusal(_ why: String) -> Fault { FilterLanguage.refusal(whole, why) }

    /// Takes the metres off the end of `latitude,longitude,metres`.
    mutating func takeDistance() throws(Fault) -> Double {
        guard let comma = text.lastIndex(of: ","),
            let metres = Self.number(text[text.index(after: comma)...]), metres >= 0
        else { throw refusal("NEAR takes latitude,longitude,metres") }
        text = text[..<comma]
        return metres
    }

    /// - Returns: the value, its type, and whether the type was named.
    func read(
        asList isList: Bool, _ valuesMax: Int
    ) throws(Fault) -> (FieldType, Bool, RecordQuery.Value) {
        guard let (element, ofList, rest) = forced() else {
            guard isList else {
                let (element, value) = Self.guessed(text)
                return (FieldType(element), false, value)
            }
            return try list(text, as: nil, valuesMax)
        }
        if isList || ofList {
            return try list(rest, as: element, valuesMax)
        }
        return (FieldType(element), true, try value(rest, as: element))
    }

    // MARK: - Types

    private static let names: [(name: String, element: FieldType.Element)] = [
        ("stringType", .string), ("int64Type", .int64), ("doubleType", .double),
        ("timestampType", .timestamp), ("locationType", .location), ("bytesType", .bytes),
        ("referenceType", .reference),
    ]

    /// The type that stands in front of the value, and the value; nil where none does.
    private func forced() -> (FieldType.Element, isList: Bool, Substring)? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let name = text[..<colon]
        let rest = text[text.index(after: colon)...]
        for known in Self.names {
            if name == known.name { return (known.element, false, rest) }
            if name == known.name.dropLast(4) + "ListType" { return (known.element, true, rest) }
        }
        return nil
    }

    /// The type that a value looks like.
    private static func guessed(_ text: Substring) -> (FieldType.Element, RecordQuery.Value) {
        if let whole = integer(text) { return (.int64, .int64(whole)) }
        if let number = number(text) { return (.double, .double(number)) }
        if let moment = DateText.milliseconds(text) { return (.timestamp, .timestamp(moment)) }
        if let location = location(text) { return (.location, .location(location)) }
        return (.string, .string(unquoted(text) ?? String(text)))
    }

    private func value(
        _ text: Substring, as element: FieldType.Element
    ) throws(Fault) -> RecordQuery.Value {
        let found: RecordQuery.Value? =
            switch element {
            case .string: .string(Self.unquoted(text) ?? String(text))
            case .int64: Self.integer(text).map { .int64($0) }
            case .double: Self.number(text).map { .double($0) }
            case .timestamp:
                (Self.integer(text) ?? DateText.milliseconds(text)).map { .timestamp($0) }
            case .location: Self.location(text).map { .location($0) }
            case .bytes: Base64.decode(String(text)).map { .bytes($0) }
            case .reference: RecordName(String(text)).map { .reference($0, nil) }
            case .asset, .unknown, .number: nil
            }
        guard let found else {
            throw refusal("'\(Fault.shown(String(text)))' is no \(element.tag)")
        }
        return found
    }

    // MARK: - Lists

    private func list(
        _ text: Substring, as element: FieldType.Element?, _ valuesMax: Int
    ) throws(Fault) -> (FieldType, Bool, RecordQuery.Value) {
        let parts = try parts(text)
        guard parts.count <= valuesMax else {
            throw refusal("a list has at most \(valuesMax) values")
        }
        if let element {
            var members: [RecordQuery.Value] = []
            for part in parts { members.append(try value(Substring(part), as: element)) }
            return (FieldType(element, isList: true), true, .list(members))
        }
        let guesses = parts.map { Self.guessed(Substring($0)) }
        let first = guesses.first?.0 ?? .string
        guard guesses.allSatisfy({ $0.0 == first }) else {
            // What is no list of one other type is one of texts.
            let texts = parts.map { RecordQuery.Value.string($0) }
            return (FieldType(.string, isList: true), false, .list(texts))
        }
        return (FieldType(first, isList: true), false, .list(guesses.map(\.1)))
    }

    /// The members of a list: of a JSON array, or else between commas.
    private func parts(_ text: Substring) throws(Fault) -> [String] {
        guard text.first == "[" else {
            return text.isEmpty
                ? [] : text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        // NB: whatever is wrong with it, the filter is refused.
        guard let root = try? JSONDocument(parsing: Array(text.utf8)).root, root.kind == .array
        else { throw refusal("expected a JSON array after [") }
        var parts: [String] = []
        for member in root.elements {
            switch member.kind {
            case .string: parts.append(member.string ?? "")
            case .number:
                parts.append(member.withRawBytes { String(decoding: $0, as: UTF8.self) })
            default: throw refusal("an array has texts or numbers")
            }
        }
        return parts
    }

    // MARK: - Values

    private static func integer(_ text: Substring) -> Int64? {
        // `+1` is a text: a phone number begins so.
        guard let first = text.utf8.first, first != UInt8(ascii: "+") else { return nil }
        return Int64(text)
    }

    private static func number(_ text: Substring) -> Double? {
        // Swift also reads hexadecimal numbers and names of numbers.
        guard let first = text.utf8.first, first != UInt8(ascii: "+"),
            text.utf8.allSatisfy({
                ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")) || "+-.eE".utf8.contains($0)
            }), let number = Double(text), number.isFinite
        else { return nil }
        return number
    }

    private static func location(_ text: Substring) -> RecordQuery.Coordinate? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let latitude = number(parts[0]),
            let longitude = number(parts[1].drop { $0 == " " }),
            (-90...90).contains(latitude), (-180...180).contains(longitude)
        else { return nil }
        return RecordQuery.Coordinate(latitude: latitude, longitude: longitude)
    }

    /// The text within quotes, as JSON writes it; nil for what has none.
    private static func unquoted(_ text: Substring) -> String? {
        guard text.utf8.count >= 2, text.first == "\"", text.last == "\"" else { return nil }
        // NB: what is no JSON text stays as it is.
        return (try? JSONDocument(parsing: Array(text.utf8)).root)?.string
    }
}
