import CloudModel
import SQLite
import StoredRows

/// The types and fields that no save may bring, as the store's table has them.
struct HeldParts {
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// What is held, and until when; 0 when nothing is.
    func read() throws -> (parts: Schema.Parts, until: Milliseconds) {
        let rows = try connection.prepare("SELECT record_type, field, held_until FROM held_parts")
        defer { rows.reset() }
        var parts = Schema.Parts()
        var until: Milliseconds = 0
        while try rows.step() {
            guard let type = RecordTypeName(rows.string(0)) else {
                throw InvalidRow(table: "held_parts")
            }
            let field = rows.string(1)
            until = rows.int64(2)
            if field.isEmpty {
                parts.types.insert(type)
            } else if let name = FieldName(field) {
                parts.fields[type, default: []].insert(name)
            } else {
                throw InvalidRow(table: "held_parts")
            }
        }
        return (parts, until)
    }

    /// Holds parts and no others.
    func replace(by parts: Schema.Parts, until moment: Milliseconds) throws {
        try connection.execute("DELETE FROM held_parts")
        for type in parts.types { try insert(type.text, "", moment) }
        for (type, fields) in parts.fields {
            for field in fields { try insert(type.text, field.text, moment) }
        }
    }

    private func insert(_ type: String, _ field: String, _ moment: Milliseconds) throws {
        try connection.prepare(
            "INSERT INTO held_parts (record_type, field, held_until) VALUES (?1, ?2, ?3)"
        ).run(type, field, moment)
    }
}
