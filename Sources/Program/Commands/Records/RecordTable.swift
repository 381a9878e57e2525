import CloudModel
import JSON

/// Records as a table for people: a line each, of name, type, when they changed and what is in them.
struct RecordTable {
    /// Wider cells are cut.
    private static let nameWidthMax = 40
    private static let valueWidthMax = 60

    private var rows: [[String]] = []

    /// - Parameter records: as `records/lookup` answers them.
    init(_ records: [[UInt8]]) throws {
        for record in records {
            rows.append(Self.row(try JSONDocument(parsing: record).root))
        }
    }

    /// None for no records.
    var lines: [String] {
        guard !rows.isEmpty else { return [] }
        let table = [["NAME", "TYPE", "MODIFIED", "FIELDS"]] + rows
        let widths = (0..<3).map { column in table.map { $0[column].count }.max() ?? 0 }
        return table.map { row in
            var line = ""
            for (column, width) in widths.enumerated() {
                line += row[column] + String(repeating: " ", count: width - row[column].count + 2)
            }
            return line + row[3]
        }
    }

    private static func row(_ record: JSONValue) -> [String] {
        let name = cut(record["recordName"]?.string ?? "", nameWidthMax)
        if let code = record["serverErrorCode"]?.string {
            return [name, code, "", record["reason"]?.string ?? ""]
        }
        if record["deleted"]?.bool == true { return [name, "deleted", "", ""] }
        var fields: [String] = []
        if let object = record["fields"] {
            for (key, field) in object.members {
                fields.append("\(key.string ?? "")=\(shown(field["value"]))")
            }
        }
        let modified = record["modified"]?["timestamp"]?.int64
            .flatMap { Timestamp.range.contains($0) ? Timestamp($0).text : nil }
        return [
            name, record["recordType"]?.string ?? "", modified ?? "",
            fields.joined(separator: " "),
        ]
    }

    /// A value on one line, without anything that moves a terminal's cursor.
    private static func shown(_ value: JSONValue?) -> String {
        guard let value else { return "" }
        if value.kind == .object {
            if let name = value["recordName"]?.string { return "→" + cut(name, valueWidthMax) }
            if let size = value["size"]?.int64, value["fileChecksum"] != nil {
                return "(\(size) bytes)"
            }
            if let latitude = value["latitude"]?.double, let longitude = value["longitude"]?.double
            {
                return "\(latitude),\(longitude)"
            }
        }
        var line = JSONLine()
        line.encoded(value.withRawBytes { [UInt8]($0) })
        return cut(String(decoding: line.bytes, as: UTF8.self), valueWidthMax)
    }

    private static func cut(_ text: String, _ width: Int) -> String {
        text.count <= width ? text : text.prefix(width - 1) + "…"
    }
}
