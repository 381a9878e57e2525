import CloudModel

/// Filters and sorts as people write them on a command line: `FIELD OP VALUE` and `FIELD ASC` or `FIELD DESC`.
///
/// The type of a value is guessed: a whole number, a number, a date of ISO 8601, a place `latitude,longitude`; all else is
/// text. A name in front forces it, as `stringType:42`. A list is written with commas, or as JSON in brackets.
package enum FilterLanguage {
    /// Longer texts are refused.
    package static let bytesMax = 16_384
    /// How many values a list may have.
    private static let valuesMax = 250

    /// Reads a filter.
    ///
    /// - Throws: `Fault` BAD_REQUEST that says what was expected, and where.
    package static func filter(_ text: String) throws(Fault) -> RecordQuery.Filter {
        guard text.utf8.count <= bytesMax else {
            throw .badRequest("a filter has at most \(bytesMax) bytes")
        }
        let scanned = words(text, 2)
        guard scanned.words.count == 2 else { throw refusal(text, "expected FIELD OP VALUE") }
        let subject = try subject(scanned.words[0], in: text)
        guard let comparator = comparator(scanned.words[1]) else {
            throw refusal(
                text, "'\(Fault.shown(scanned.words[1]))' is none of \(comparatorsText)")
        }
        var value = FilterValue(scanned.rest, of: text)
        let distance = comparator == .near ? try value.takeDistance() : nil
        let (type, isForced, found) = try value.read(asList: comparator.operand == .list, valuesMax)
        return RecordQuery.Filter(
            subject: subject, comparator: comparator, type: type, isTypeGiven: isForced,
            value: found, distance: distance)
    }

    /// Reads a sort: a field, and in which direction; ascending when nothing is said.
    ///
    /// - Throws: as `filter`.
    package static func sort(_ text: String) throws(Fault) -> RecordQuery.Sort {
        let scanned = words(text, 2)
        guard let field = scanned.words.first, scanned.rest.isEmpty else {
            throw refusal(text, "expected FIELD, FIELD ASC or FIELD DESC")
        }
        let subject = try subject(field, in: text)
        guard scanned.words.count == 2 else { return RecordQuery.Sort(subject: subject) }
        switch scanned.words[1].uppercased() {
        case "ASC": return RecordQuery.Sort(subject: subject)
        case "DESC": return RecordQuery.Sort(subject: subject, ascending: false)
        default: throw refusal(text, "expected ASC or DESC after the field")
        }
    }

    static func refusal(_ text: String, _ why: String) -> Fault {
        .badRequest("'\(Fault.shown(text))': \(why)")
    }

    /// The first words of a text, and what follows the spaces after them.
    private static func words(_ text: String, _ count: Int) -> (words: [String], rest: String) {
        var rest = Substring(text)
        var words: [String] = []
        rest = rest.drop { $0 == " " }
        while words.count < count, !rest.isEmpty {
            let word = rest.prefix { $0 != " " }
            words.append(String(word))
            rest = rest[word.endIndex...].drop { $0 == " " }
        }
        return (words, String(rest))
    }

    private static func subject(
        _ name: String, in text: String
    ) throws(Fault) -> RecordQuery.Subject {
        if name.hasPrefix("_") {
            guard let system = SystemField(spelling: name) else {
                throw refusal(text, "there is no system field '\(Fault.shown(name))'")
            }
            return .system(system)
        }
        guard let field = FieldName(name) else {
            throw refusal(
                text, "a field's name is a letter, then letters, digits and _, at most 255")
        }
        return .field(field)
    }

    // MARK: - Comparators

    private static let signs: [String: RecordQuery.Comparator] = [
        "=": .equals, "==": .equals, "!=": .notEquals, "<": .lessThan, "<=": .lessThanOrEquals,
        ">": .greaterThan, ">=": .greaterThanOrEquals,
    ]

    private static let comparatorsText =
        "= != < <= > >= "
        + RecordQuery.Comparator.allCases.map(\.rawValue).joined(separator: " ")

    /// A sign, or the word of the protocol in any case, with or without its `_`: `BEGINS_WITH`, `beginsWith`.
    private static func comparator(_ word: String) -> RecordQuery.Comparator? {
        if let sign = signs[word] { return sign }
        let plain = word.uppercased().filter { $0 != "_" }
        return RecordQuery.Comparator.allCases.first {
            $0.rawValue.filter { $0 != "_" } == plain
        }
    }
}
