import JSON

/// One part of a record that is not in a backup what it is here; each value as the JSON of an answer.
package struct RecordDifference: Sendable, Equatable {
    package static let valueBytesMax = 200

    /// The field, or `parent` or `recordType`.
    package let part: String
    /// Nil where it is not there.
    package let here: String?
    package let backup: String?
}

/// Compares a record with an earlier version of it by what people put into it: not by tags, dates or authors.
enum RecordComparison {
    /// Both as `records/lookup` answers them.
    static func differences(here: JSONValue, backup: JSONValue) -> [RecordDifference] {
        var found: [RecordDifference] = []
        compare(here["recordType"], backup["recordType"], "recordType", &found)
        compare(here["parent"], backup["parent"], "parent", &found)
        let (fields, former) = (here["fields"], backup["fields"])
        for (name, value) in former?.members.compactMap(named) ?? [] {
            compare(fields?.member(name), value, name, &found)
        }
        for (name, value) in fields?.members.compactMap(named) ?? []
        where former?.member(name) == nil {
            compare(value, nil, name, &found)
        }
        return found
    }

    private static func named(
        _ member: (key: JSONValue, value: JSONValue)
    ) -> (name: String, value: JSONValue)? {
        member.key.string.map { ($0, member.value) }
    }

    private static func compare(
        _ here: JSONValue?, _ backup: JSONValue?, _ part: String, _ found: inout [RecordDifference]
    ) {
        let (now, then) = (here.map(bytes), backup.map(bytes))
        guard now != then else { return }
        found.append(
            RecordDifference(part: part, here: now.map(shown), backup: then.map(shown)))
    }

    private static func bytes(_ value: JSONValue) -> [UInt8] {
        value.withRawBytes { [UInt8]($0) }
    }

    private static func shown(_ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes.prefix(RecordDifference.valueBytesMax), as: UTF8.self)
        return bytes.count > RecordDifference.valueBytesMax ? text + "…" : text
    }
}
