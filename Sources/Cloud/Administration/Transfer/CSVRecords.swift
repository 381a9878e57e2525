import CloudModel
import JSON

/// The rows of a table as records, in the form in which `records/lookup` answers them.
///
/// A cell becomes what the schema says of its field; of a field that the schema does not have, a number or a text.
struct CSVRecords {
    private let columns: [String]
    private let schema: Schema
    /// Of records whose rows name none.
    private let type: RecordTypeName?

    /// - Parameter head: the row of the columns' names.
    /// - Throws: `CSVMistake`.
    init(head: [CSVText.Cell], schema: Schema, type: RecordTypeName?) throws(CSVMistake) {
        columns = head.map { String(decoding: $0.bytes, as: UTF8.self) }
        self.schema = schema
        self.type = type
        for column in columns where !RecordsAsCSV.systemColumns.contains(column) {
            guard FieldName(column) != nil else {
                throw CSVMistake("'\(Fault.shown(column))' is no field's name")
            }
        }
        guard Set(columns).count == columns.count else {
            throw CSVMistake("two columns have the same name")
        }
    }

    /// A row as the JSON of a record.
    ///
    /// - Throws: `CSVMistake`.
    func record(_ row: [CSVText.Cell]) throws(CSVMistake) -> [UInt8] {
        guard row.count <= columns.count else {
            throw CSVMistake("\(row.count) cells for \(columns.count) columns")
        }
        var values: [String: CSVText.Cell] = [:]
        for (column, cell) in zip(columns, row) where !cell.isAbsent { values[column] = cell }
        let typeName = try text(values["recordType"]) ?? type?.text
        guard let typeName else { throw CSVMistake("no recordType, and no --type") }
        let known = RecordTypeName(typeName).flatMap { schema.types[$0] }
        var writer = JSONWriter(reserving: 512)
        writer.raw("{\"recordType\":")
        writer.string(typeName)
        if let name = try text(values["recordName"]) { writer.member("recordName", name) }
        if let zone = try text(values["zoneName"]) {
            writer.raw(",\"zoneID\":{\"zoneName\":")
            writer.string(zone)
            writer.raw("}")
        }
        if let parent = try text(values["parent"]) {
            writer.raw(",\"parent\":{\"recordName\":")
            writer.string(parent)
            writer.raw("}")
        }
        writer.raw(",\"fields\":{")
        var isFirst = true
        for column in columns where !RecordsAsCSV.systemColumns.contains(column) {
            guard let cell = values[column] else { continue }
            writer.separate(&isFirst)
            writer.string(column)
            writer.raw(":{\"value\":")
            let type = FieldName(column).flatMap { known?.fields[$0]?.type }
            try append(cell, as: type, column, to: &writer)
            writer.raw("}")
        }
        writer.raw("}}")
        return writer.bytes
    }

    private func text(_ cell: CSVText.Cell?) throws(CSVMistake) -> String? {
        guard let cell else { return nil }
        guard let text = String(validating: CSVText.text(cell.bytes), as: UTF8.self) else {
            throw CSVMistake("a text that is no UTF-8")
        }
        return text
    }

    // MARK: - Values

    private func append(
        _ cell: CSVText.Cell, as type: FieldType?, _ column: String, to writer: inout JSONWriter
    ) throws(CSVMistake) {
        let text = try text(cell) ?? ""
        guard let type else {
            if Int64(text) != nil, !text.hasPrefix("+") { return writer.raw(ascii: text) }
            if let number = Self.number(text) { return writer.double(number) }
            return writer.string(text)
        }
        if type.isList {
            try appendJSON(text, .array, column, to: &writer)
        } else {
            switch type.element {
            case .string, .bytes: writer.string(text)
            case .int64:
                guard let number = Int64(text) else { throw mistake(column, "a whole number") }
                writer.integer(number)
            case .double:
                guard let number = Self.number(text) else { throw mistake(column, "a number") }
                writer.double(number)
            case .timestamp:
                guard let moment = Int64(text) ?? DateText.milliseconds(text) else {
                    throw mistake(column, "a date such as 2026-11-25T08:30:00Z")
                }
                writer.integer(moment)
            case .reference where !text.hasPrefix("{"):
                writer.raw("{\"recordName\":")
                writer.string(text)
                writer.raw("}")
            case .reference, .location, .asset, .unknown, .number:
                try appendJSON(text, .object, column, to: &writer)
            }
        }
        writer.raw(",\"type\":\"")
        writer.raw(ascii: type.element.tag.description)
        writer.raw(type.isList ? "_LIST\"" : "\"")
        if type.isEncrypted { writer.raw(",\"isEncrypted\":true") }
    }

    private func appendJSON(
        _ text: String, _ kind: JSONValue.Kind, _ column: String, to writer: inout JSONWriter
    ) throws(CSVMistake) {
        // NB: whatever is wrong with it, the row is refused.
        guard let root = try? JSONDocument(parsing: Array(text.utf8)).root, root.kind == kind
        else { throw mistake(column, kind == .array ? "a JSON array" : "a JSON object") }
        writer.compact(root)
    }

    private func mistake(_ column: String, _ expected: String) -> CSVMistake {
        CSVMistake("\(column): expected \(expected)")
    }

    private static func number(_ text: String) -> Double? {
        guard let number = Double(text), number.isFinite,
            text.utf8.allSatisfy({ (48...57).contains($0) || "+-.eE".utf8.contains($0) })
        else { return nil }
        return number
    }
}
