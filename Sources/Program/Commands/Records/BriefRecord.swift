import JSON

/// A record as a row of a table needs it: of a long value its beginning alone, and beside it how long the whole is.
///
/// A text or bytes keep the first characters, a list the items at its beginning that fit. `whole` counts a text's
/// bytes as UTF-8, bytes themselves, and a list's items.
struct BriefRecord {
    /// Of a value as JSON; a longer one is cut.
    private static let valueBytesMax = 1_024
    private static let scalarsMax = 256
    private static let bytesTypes = ["BYTES", "ENCRYPTED_BYTES"]

    /// As JSON.
    private(set) var bytes: [UInt8]

    /// - Parameter record: as `records/lookup` answers it.
    init(_ record: [UInt8]) throws {
        bytes = record
        guard record.count > Self.valueBytesMax else { return }
        let root = try JSONDocument(parsing: record).root
        guard root["fields"]?.kind == .object else { return }
        var writer = JSONWriter(reserving: 2 * Self.valueBytesMax)
        Self.append(root, to: &writer) { key, value, writer in
            guard key == "fields" else { return writer.compact(value) }
            Self.append(value, to: &writer) { Self.appendField($1, to: &$2) }
        }
        bytes = writer.bytes
    }

    private static func append(
        _ object: JSONValue, to writer: inout JSONWriter,
        _ member: (String, JSONValue, inout JSONWriter) -> Void
    ) {
        writer.raw("{")
        var isFirst = true
        for (key, value) in object.members {
            writer.separate(&isFirst)
            writer.string(key)
            writer.raw(":")
            member(key.string ?? "", value, &writer)
        }
        writer.raw("}")
    }

    private static func appendField(_ field: JSONValue, to writer: inout JSONWriter) {
        guard let value = field["value"], value.kind == .string || value.kind == .array,
            value.withRawBytes({ $0.count }) > valueBytesMax
        else { return writer.compact(field) }
        append(field, to: &writer) { key, member, writer in
            guard key == "value" else { return writer.compact(member) }
            if value.kind == .array {
                appendItems(of: value, to: &writer)
            } else {
                writer.string(beginning(of: value))
            }
            writer.member("whole", length(of: value, type: field["type"]?.string ?? ""))
        }
    }

    private static func appendItems(of list: JSONValue, to writer: inout JSONWriter) {
        writer.raw("[")
        var isFirst = true
        var left = valueBytesMax
        for item in list.elements {
            left -= item.withRawBytes { $0.count }
            guard left >= 0 else { break }
            writer.separate(&isFirst)
            writer.compact(item)
        }
        writer.raw("]")
    }

    private static func beginning(of text: JSONValue) -> String {
        text.withStringBytes { utf8 in
            let start = String(decoding: utf8.prefix(4 * scalarsMax), as: UTF8.self)
            return String(String.UnicodeScalarView(start.unicodeScalars.prefix(scalarsMax)))
        } ?? ""
    }

    private static func length(of value: JSONValue, type: String) -> Int {
        if value.kind == .array { return value.count }
        return value.withStringBytes { text in
            guard bytesTypes.contains(type) else { return text.count }
            return text.count / 4 * 3 - text.suffix(2).count { $0 == UInt8(ascii: "=") }
        } ?? 0
    }
}

extension CommandOption {
    static let brief = CommandOption(
        "brief", "of long values the beginning alone, and in whole how long they are")
}

extension Invocation {
    /// Records as the command was told to show them.
    func shown(_ records: [[UInt8]]) throws -> [[UInt8]] {
        has("brief") ? try records.map { try BriefRecord($0).bytes } : records
    }
}
