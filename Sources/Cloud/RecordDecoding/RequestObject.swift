import CloudModel
import JSON

/// An object of a request's JSON, read key by key.
///
/// `null` is the same as an absent key. A known key of another type fails the whole request with BAD_REQUEST,
/// which names the key, what was expected, and where (rulings.md 1).
package struct RequestObject {
    package let value: JSONValue

    /// Parses a body; an empty one is an empty object.
    package init(body: [UInt8]) throws(Fault) {
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

    package init(_ value: JSONValue, key: StaticString) throws(Fault) {
        guard value.kind == .object else { throw Self.mismatch(value, key, "an object") }
        self.value = value
    }

    /// The member, unless it is absent or `null`.
    package subscript(_ key: StaticString) -> JSONValue? {
        guard let member = value[key], !member.isNull else { return nil }
        return member
    }

    package func string(_ key: StaticString) throws(Fault) -> String? {
        guard let member = self[key] else { return nil }
        guard let text = member.string else { throw Self.mismatch(member, key, "a string") }
        return text
    }

    package func bool(_ key: StaticString) throws(Fault) -> Bool? {
        guard let member = self[key] else { return nil }
        guard let flag = member.bool else { throw Self.mismatch(member, key, "true or false") }
        return flag
    }

    /// A whole number, or the text of one: clients forward what their users typed.
    package func integer(_ key: StaticString) throws(Fault) -> Int64? {
        guard let member = self[key] else { return nil }
        if let number = member.int64 { return number }
        if let number = member.string.flatMap({ Int64($0) }) { return number }
        throw Self.mismatch(member, key, "a whole number")
    }

    package func object(_ key: StaticString) throws(Fault) -> RequestObject? {
        guard let member = self[key] else { return nil }
        return try RequestObject(member, key: key)
    }

    package func array(_ key: StaticString) throws(Fault) -> JSONElements? {
        guard let member = self[key] else { return nil }
        guard member.kind == .array else { throw Self.mismatch(member, key, "an array") }
        return member.elements
    }

    package func strings(_ key: StaticString) throws(Fault) -> [String]? {
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
    package func word<Word: RawRepresentable & CaseIterable>(
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

    package func requiredString(_ key: StaticString) throws(Fault) -> String {
        guard let text = try string(key) else { throw Self.missing(key) }
        return text
    }

    package func requiredObject(_ key: StaticString) throws(Fault) -> RequestObject {
        guard let object = try object(key) else { throw Self.missing(key) }
        return object
    }

    package func requiredWord<Word: RawRepresentable & CaseIterable>(
        _ key: StaticString, _ type: Word.Type
    ) throws(Fault) -> Word where Word.RawValue == String {
        guard let word = try word(key, type) else { throw Self.missing(key) }
        return word
    }

    /// The fault for a required key that is not there.
    package static func missing(_ key: StaticString) -> Fault {
        .badRequest("BadRequestException: missing required field '\(key)'")
    }

    package static func mismatch(
        _ value: JSONValue, _ key: StaticString, _ expected: String
    ) -> Fault {
        let (line, column) = value.position
        return .badRequest(
            "BadRequestException: Unexpected input: \(key): expected \(expected) "
                + "at line \(line), column \(column)")
    }

    /// `desiredKeys` and `numbersAsStrings`, over what an outer level asks for.
    package func rendering(
        over outer: RecordRendering = .whole
    ) throws(Fault) -> RecordRendering {
        let keys = try strings("desiredKeys")
        let (spelt, alias) = (try bool("numbersAsStrings"), try bool("numberAsStrings"))
        return RecordRendering(
            desiredKeys: keys.map { Set($0) } ?? outer.desiredKeys,
            numbersAsStrings: spelt ?? alias ?? outer.numbersAsStrings)
    }
}

// The keys of `rendering` as the description has them.
extension ObjectKey {
    package static var rendering: [ObjectKey] {
        [
            .optional("desiredKeys", .list(.text(examples: ["title"]))),
            .optional("numbersAsStrings", .flag), .alias("numberAsStrings", .flag),
        ]
    }
}
