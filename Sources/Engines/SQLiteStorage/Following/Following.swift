import SQLite
import StoredRows

extension Following {
    /// As the file has it.
    init(_ connection: Connection) throws {
        let followers = try connection.prepare(
            "SELECT 1 FROM followers WHERE position < ?1 LIMIT 1")
        defer { followers.reset() }
        followers.bind(Self.letGo, at: 1)
        self.init(isOn: try followers.step())
        let rows = try connection.prepare(
            "SELECT DISTINCT scope, number, record_type FROM previous_version_needs")
        defer { rows.reset() }
        while try rows.step() {
            try add(scope: rows.int64(0), number: rows.int64(1), type: rows.int64(2))
        }
    }
}
