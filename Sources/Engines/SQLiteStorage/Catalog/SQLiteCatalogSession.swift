import CatalogSQL
import SQLite

/// The catalog's statements on one connection to its file.
struct SQLiteCatalogSession: CatalogSession {
    let connection: Connection

    func run(_ sql: String, _ values: [CatalogValue]) throws -> Int {
        let statement = try bound(sql, values)
        try statement.run()
        return connection.changeCount
    }

    func visit(
        _ sql: String, _ values: [CatalogValue], _ row: (any CatalogRow) throws -> Void
    ) throws {
        let statement = try bound(sql, values)
        // An open row would keep its snapshot, and the log could not be written back.
        defer { statement.reset() }
        while try statement.step() { try row(statement) }
    }

    private func bound(_ sql: String, _ values: [CatalogValue]) throws -> Statement {
        let statement = try connection.prepare(sql)
        for (at, value) in values.enumerated() {
            let index = Int32(at + 1)
            switch value {
            case .integer(let number): statement.bind(number, at: index)
            case .real(let real): statement.bind(real, at: index)
            case .text(let text): statement.bind(text, at: index)
            case .bytes(let bytes): statement.bind(bytes, at: index)
            case .nothing: statement.bindNull(at: index)
            }
        }
        return statement
    }
}

extension Statement: CatalogRow {
    package func real(_ column: Int32) -> Double { double(column) }

    package func array(_ column: Int32) -> [UInt8] { Array(bytes(column)) }
}
