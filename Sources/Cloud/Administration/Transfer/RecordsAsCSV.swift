import CloudModel
import JSON

/// The records of one type as a table: their names, where and when they are from, and a column for each field.
struct RecordsAsCSV {
    /// The columns that are no fields; the last two are for reading alone.
    static let systemColumns = [
        "recordName", "recordType", "zoneName", "parent", "createdTimestamp", "modifiedTimestamp",
    ]

    private let fields: [FieldName]

    /// - Parameter type: nil for one that the schema does not have.
    init(_ type: Schema.RecordType?) {
        fields = type.map { $0.fields.keys.sorted { $0.text < $1.text } } ?? []
    }

    /// The row of the columns' names.
    var head: [UInt8] {
        Array(((Self.systemColumns + fields.map(\.text)).joined(separator: ",") + "\n").utf8)
    }

    /// Appends a record's row.
    func append(_ body: UnsafeRawBufferPointer, to writer: inout JSONWriter) {
        // NB: what is stored is JSON; what were none would be an empty row.
        guard let root = try? JSONDocument(copying: body).root else { return writer.raw("\n") }
        append(root["recordName"], to: &writer.bytes)
        writer.raw(",")
        append(root["recordType"], to: &writer.bytes)
        writer.raw(",")
        append(root["zoneID"]?["zoneName"], to: &writer.bytes)
        writer.raw(",")
        append(root["parent"]?["recordName"], to: &writer.bytes)
        for key: StaticString in ["created", "modified"] {
            writer.raw(",")
            append(moment: root[key]?["timestamp"], to: &writer.bytes)
        }
        var values: [String: JSONValue] = [:]
        for (key, field) in root["fields"]?.members ?? root.members {
            if let key = key.string { values[key] = field }
        }
        for field in fields {
            writer.raw(",")
            if let value = values[field.text] { append(field: value, to: &writer.bytes) }
        }
        writer.raw("\n")
    }

    private func append(field: JSONValue, to bytes: inout [UInt8]) {
        guard let value = field["value"] else { return }
        if field["type"]?.stringEquals("TIMESTAMP") == true {
            return append(moment: value, to: &bytes)
        }
        append(value, to: &bytes)
    }

    /// A text, a number as it is, or all else as JSON.
    private func append(_ value: JSONValue?, to bytes: inout [UInt8]) {
        guard let value, !value.isNull else { return }
        switch value.kind {
        case .string: value.withStringBytes { CSVText.append(text: $0, to: &bytes) }
        case .number: value.withRawBytes { bytes.append(contentsOf: $0) }
        default: value.withRawBytes { CSVText.append(text: $0, to: &bytes) }
        }
    }

    private func append(moment: JSONValue?, to bytes: inout [UInt8]) {
        guard let moment else { return }
        guard let time = moment.int64, Timestamp.range.contains(time) else {
            return append(moment, to: &bytes)
        }
        Timestamp(time).append(to: &bytes)
    }
}
