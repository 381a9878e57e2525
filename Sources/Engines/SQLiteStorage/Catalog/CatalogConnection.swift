import SQLite

/// A value bound to a parameter of the catalog's statements.
enum CatalogValue {
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
    case nothing

    static func optional(_ text: String?) -> CatalogValue { text.map { .text($0) } ?? .nothing }

    static func optional(_ number: Int64?) -> CatalogValue {
        number.map { .integer($0) } ?? .nothing
    }
}

/// The catalog's way to its file: statements that bind, run and let go in one call.
struct CatalogConnection {
    let connection: Connection

    /// Runs a statement that gives no rows; how many rows it touched.
    @discardableResult
    func run(_ sql: String, _ values: CatalogValue...) throws -> Int { try run(sql, values) }

    @discardableResult
    func run(_ sql: String, _ values: [CatalogValue]) throws -> Int {
        let statement = try bound(sql, values)
        try statement.run()
        return connection.changeCount
    }

    /// Every row of a query.
    func all<Row>(
        _ sql: String, _ values: CatalogValue..., row: (Statement) throws -> Row
    ) throws -> [Row] {
        try all(sql, values, row)
    }

    /// The first row of a query, or nil when it has none.
    func first<Row>(
        _ sql: String, _ values: CatalogValue..., row: (Statement) throws -> Row
    ) throws -> Row? {
        try all(sql, values, row).first
    }

    /// Whether a query has any row.
    func exists(_ sql: String, _ values: CatalogValue...) throws -> Bool {
        try !all(sql, values) { _ in true }.isEmpty
    }

    private func all<Row>(
        _ sql: String, _ values: [CatalogValue], _ row: (Statement) throws -> Row
    ) throws -> [Row] {
        var rows: [Row] = []
        try visit(sql, values) { rows.append(try row($0)) }
        return rows
    }

    /// Hands each row of a query on.
    func visit(
        _ sql: String, _ values: [CatalogValue], _ row: (Statement) throws -> Void
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
            case .text(let text): statement.bind(text, at: index)
            case .bytes(let bytes): statement.bind(bytes, at: index)
            case .nothing: statement.bindNull(at: index)
            }
        }
        return statement
    }
}

extension Statement {
    func optionalString(_ column: Int32) -> String? { isNull(column) ? nil : string(column) }

    func optionalInt64(_ column: Int32) -> Int64? { isNull(column) ? nil : int64(column) }

    func array(_ column: Int32) -> [UInt8] { Array(bytes(column)) }
}
