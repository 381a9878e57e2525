/// A value bound to a parameter of the catalog's statements.
package enum CatalogValue: Sendable {
    case integer(Int64)
    case real(Double)
    case text(String)
    case bytes([UInt8])
    case nothing

    static func optional(_ text: String?) -> CatalogValue { text.map { .text($0) } ?? .nothing }

    static func optional(_ number: Int64?) -> CatalogValue {
        number.map { .integer($0) } ?? .nothing
    }

    static func flag(_ flag: Bool) -> CatalogValue { .integer(flag ? 1 : 0) }
}

/// A row that a query gives, by its columns from 0; valid until the next one.
package protocol CatalogRow {
    func isNull(_ column: Int32) -> Bool
    func int64(_ column: Int32) -> Int64
    func real(_ column: Int32) -> Double
    func string(_ column: Int32) -> String
    func array(_ column: Int32) -> [UInt8]
}

extension CatalogRow {
    package func optionalString(_ column: Int32) -> String? {
        isNull(column) ? nil : string(column)
    }

    package func optionalInt64(_ column: Int32) -> Int64? { isNull(column) ? nil : int64(column) }

    package func optionalArray(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : array(column) }
}

/// One transaction or snapshot of an engine that speaks SQL.
///
/// Parameters are `?`, in order, or `?1`, `?2` and so on where one is used twice. An engine brings them into its own
/// form.
package protocol CatalogSession {
    /// Runs a statement that gives no rows; how many rows it touched.
    func run(_ sql: String, _ values: [CatalogValue]) throws -> Int

    /// Hands each row of a query on; another statement may run meanwhile.
    func visit(
        _ sql: String, _ values: [CatalogValue], _ row: (any CatalogRow) throws -> Void
    ) throws
}

/// The catalog's way to its tables: statements that bind, run and let go in one call.
package struct CatalogConnection {
    private let session: any CatalogSession

    package init(_ session: any CatalogSession) { self.session = session }

    /// Runs a statement that gives no rows; how many rows it touched.
    @discardableResult
    package func run(_ sql: String, _ values: CatalogValue...) throws -> Int {
        try session.run(sql, values)
    }

    @discardableResult
    package func run(_ sql: String, _ values: [CatalogValue]) throws -> Int {
        try session.run(sql, values)
    }

    /// Every row of a query.
    package func all<Row>(
        _ sql: String, _ values: CatalogValue..., row: (any CatalogRow) throws -> Row
    ) throws -> [Row] {
        try all(sql, values, row)
    }

    /// The first row of a query, or nil when it has none.
    package func first<Row>(
        _ sql: String, _ values: CatalogValue..., row: (any CatalogRow) throws -> Row
    ) throws -> Row? {
        try all(sql, values, row).first
    }

    /// Whether a query has any row.
    func exists(_ sql: String, _ values: CatalogValue...) throws -> Bool {
        try !all(sql, values) { _ in true }.isEmpty
    }

    package func all<Row>(
        _ sql: String, _ values: [CatalogValue], _ row: (any CatalogRow) throws -> Row
    ) throws -> [Row] {
        var rows: [Row] = []
        try visit(sql, values) { rows.append(try row($0)) }
        return rows
    }

    /// For how many keys a statement asks: few numbers, so that few statements stay prepared.
    private static let keyCounts = [1, 8, 64, 512]

    /// The first of some keys or rows, as many as a statement takes; the last of them fills it up.
    static func filled<Key>(_ rest: ArraySlice<Key>) -> (taken: Int, keys: [Key]) {
        guard let last = rest.last else { return (0, []) }
        let count = keyCounts.first { $0 >= rest.count } ?? keyCounts[keyCounts.count - 1]
        let taken = rest.prefix(count)
        return (taken.count, taken + Array(repeating: last, count: count - taken.count))
    }

    /// Every row of a query for many keys, which are asked for some at a time.
    ///
    /// - Parameter sql: with `(?*)` where the keys stand, behind all other parameters.
    func all<Row>(
        _ sql: String, _ values: [CatalogValue] = [], among keys: [CatalogValue],
        _ row: (any CatalogRow) throws -> Row
    ) throws -> [Row] {
        var (rows, rest) = ([Row](), keys[...])
        while !rest.isEmpty {
            let (taken, filled) = Self.filled(rest)
            let marks = filled.map { _ in "?" }.joined(separator: ", ")
            rows += try all(sql.replacing("?*", with: marks), values + filled, row)
            rest = rest.dropFirst(taken)
        }
        return rows
    }

    /// Hands each row of a query on.
    func visit(
        _ sql: String, _ values: [CatalogValue], _ row: (any CatalogRow) throws -> Void
    ) throws {
        try session.visit(sql, values, row)
    }
}
