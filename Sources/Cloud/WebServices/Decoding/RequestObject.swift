import CloudModel
import JSON

/// An object of a request's JSON, read key by key.
///
/// `null` is the same as an absent key. A known key of another type fails the whole request with BAD_REQUEST,
/// which names the key, what was expected, and where (rulings.md 1).
struct RequestObject {
    let value: JSONValue

    /// Parses a body; an empty one is an empty object.
    init(body: [UInt8]) throws(Fault) {
        do throws(JSONError) {
            let document = try JSONDocument(parsing: body.isEmpty ? Array("{}".utf8) : body)
            value = document.root
        } catch {
            throw .badRequest(
                "Unexpected input: \(error.reason) at line \(error.line), column \(error.column)")
        }
        guard value.kind == .object else {
            throw .badRequest("Unexpected input: the body must be a JSON object")
        }
    }

    init(_ value: JSONValue, key: StaticString) throws(Fault) {
        guard value.kind == .object else { throw Self.mismatch(value, key, "an object") }
        self.value = value
    }

    /// The member, unless it is absent or `null`.
    subscript(_ key: StaticString) -> JSONValue? {
        guard let member = value[key], !member.isNull else { return nil }
        return member
    }

    func string(_ key: StaticString) throws(Fault) -> String? {
        guard let member = self[key] else { return nil }
        guard let text = member.string else { throw Self.mismatch(member, key, "a string") }
        return text
    }

    func bool(_ key: StaticString) throws(Fault) -> Bool? {
        guard let member = self[key] else { return nil }
        guard let flag = member.bool else { throw Self.mismatch(member, key, "true or false") }
        return flag
    }

    /// A whole number, or the text of one: clients forward what their users typed.
    func integer(_ key: StaticString) throws(Fault) -> Int64? {
        guard let member = self[key] else { return nil }
        if let number = member.int64 { return number }
        if let number = member.string.flatMap({ Int64($0) }) { return number }
        throw Self.mismatch(member, key, "a whole number")
    }

    func object(_ key: StaticString) throws(Fault) -> RequestObject? {
        guard let member = self[key] else { return nil }
        return try RequestObject(member, key: key)
    }

    func array(_ key: StaticString) throws(Fault) -> JSONElements? {
        guard let member = self[key] else { return nil }
        guard member.kind == .array else { throw Self.mismatch(member, key, "an array") }
        return member.elements
    }

    func strings(_ key: StaticString) throws(Fault) -> [String]? {
        guard let elements = try array(key) else { return nil }
        var found: [String] = []
        for element in elements {
            guard let text = element.string else {
                throw Self.mismatch(element, key, "an array of strings")
            }
            found.append(text)
        }
        return found
    }

    /// One of a closed list of words; the case must match.
    func word<Word: RawRepresentable & CaseIterable>(
        _ key: StaticString, _ type: Word.Type
    ) throws(Fault) -> Word? where Word.RawValue == String {
        guard let member = self[key] else { return nil }
        guard let text = member.string else { throw Self.mismatch(member, key, "a string") }
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw Self.mismatch(member, key, "one of \(words)")
        }
        return word
    }

    func requiredString(_ key: StaticString) throws(Fault) -> String {
        guard let text = try string(key) else { throw Self.missing(key) }
        return text
    }

    func requiredObject(_ key: StaticString) throws(Fault) -> RequestObject {
        guard let object = try object(key) else { throw Self.missing(key) }
        return object
    }

    func requiredWord<Word: RawRepresentable & CaseIterable>(
        _ key: StaticString, _ type: Word.Type
    ) throws(Fault) -> Word where Word.RawValue == String {
        guard let word = try word(key, type) else { throw Self.missing(key) }
        return word
    }

    /// The fault for a required key that is not there.
    static func missing(_ key: StaticString) -> Fault {
        .badRequest("BadRequestException: missing required field '\(key)'")
    }

    static func mismatch(_ value: JSONValue, _ key: StaticString, _ expected: String) -> Fault {
        let (line, column) = value.position
        return .badRequest(
            "BadRequestException: Unexpected input: \(key): expected \(expected) "
                + "at line \(line), column \(column)")
    }
}
