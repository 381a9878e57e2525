import CloudModel
import Storage

/// A list that is read page by page: each page begins behind the key of the last item before it.
///
/// The key orders the list and identifies an item, so that an index finds the beginning of a page.
package struct ListQuery {
    package enum KeyKind { case integer, text, bytes }

    /// What the searched column, the first of the key, is at least, and is below.
    package struct Bounds {
        let from: CatalogValue
        /// nil where everything from there on is wanted.
        let to: CatalogValue?

        /// All texts that begin with a prefix.
        package init(textPrefix prefix: String) {
            from = .text(prefix)
            to = ListQuery.textBehind(prefix).map { .text($0) }
        }

        /// All bytes whose lower-case hexadecimal digits begin with a prefix.
        package init(hexadecimalPrefix prefix: String) {
            let isEven = prefix.utf8.count.isMultiple(of: 2)
            let behind = String(repeating: "f", count: 2 * keyBytesMax + (isEven ? 0 : 1))
            // Shorter bytes come first: the least that begin with the prefix are its own.
            from = .bytes(ListQuery.bytes(prefix + (isEven ? "" : "0")))
            // No key is as long as this; where the prefix has other characters, nothing is below.
            to = .bytes(
                prefix.allSatisfy("0123456789abcdef".contains)
                    ? ListQuery.bytes(prefix + behind) : [])
        }
    }

    /// Tells its cursors from those of other lists.
    let name: String
    let columns: String
    /// How many columns an item has.
    let width: Int32
    let tables: String
    /// The list's own condition, with its values.
    var condition: String
    var values: [CatalogValue]
    let key: [(column: String, kind: KeyKind)]
    let bounds: Bounds?
    let grouping: String

    package init(
        name: String, columns: String, width: Int32, tables: String, condition: String = "1 = 1",
        values: [CatalogValue] = [], key: [(column: String, kind: KeyKind)],
        bounds: Bounds? = nil, grouping: String = ""
    ) {
        self.name = name
        self.columns = columns
        self.width = width
        self.tables = tables
        self.condition = condition
        self.values = values
        self.key = key
        self.bounds = bounds
        self.grouping = grouping
    }

    private static var keyBytesMax: Int { 64 }

    /// The first text that comes behind all that begin with a prefix; nil where none does.
    static func textBehind(_ prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            // UTF-8 orders as its scalars do, and surrogates are none.
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            guard let scalar = Unicode.Scalar(next) else { continue }
            scalars.append(scalar)
            return scalars.reduce(into: "") { $0.unicodeScalars.append($1) }
        }
        return nil
    }

    private static func bytes(_ digits: String) -> [UInt8] {
        let values = digits.utf8.map {
            UInt8(Character(Unicode.Scalar($0)).hexDigitValue ?? 0)
        }
        return stride(from: 0, to: values.count - 1, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }
}

extension ListQuery {
    /// Leaves out what is not of some containers.
    ///
    /// - Parameters:
    ///   - column: of the container's folded name, with what comes before it in the condition.
    ///   - end: what comes behind it.
    mutating func require(
        _ column: String, among some: Set<ContainerID>, _ end: String = ""
    ) {
        let marks = some.map { _ in "?" }.joined(separator: ", ")
        condition = "(\(condition)) AND \(column) IN (\(marks))\(end)"
        values += some.map { .text($0.folded) }
    }

    /// The statement and its values; one row more than a page has tells that there is another page.
    fileprivate func statement(
        _ request: ListRequest
    ) throws -> (sql: String, values: [CatalogValue]) {
        let columns = key.map(\.column)
        let order = columns.joined(separator: ", ")
        let (start, location) = try start(request.after, order)
        let end = bounds?.to.map { ("AND \(columns[0]) < ?", [$0]) } ?? ("", [])
        let sql = """
            SELECT \(self.columns), \(order) FROM \(tables)
            WHERE \(condition) \(start) \(end.0)
            \(grouping) ORDER BY \(order) LIMIT ?
            """
        return (sql, values + location + end.1 + [.integer(Int64(request.limit) + 1)])
    }

    /// Where a page begins: an index takes one lower bound, so that there is only one that it may take.
    private func start(
        _ cursor: ListCursor?, _ order: String
    ) throws -> (condition: String, values: [CatalogValue]) {
        guard let cursor else {
            return bounds.map { ("AND \(key[0].column) >= ?", [$0.from]) } ?? ("", [])
        }
        let marks = key.map { _ in "?" }.joined(separator: ", ")
        let behind = "AND (\(order)) > (\(marks))"
        let location = try location(cursor)
        let first = key[0].column
        return bounds.map {
            ("\(behind) AND coalesce(\(first), \(first)) >= ?", location + [$0.from])
        } ?? (behind, location)
    }

    private func location(_ cursor: ListCursor) throws -> [CatalogValue] {
        let fields = try cursor.fields(of: name, count: key.count)
        return try zip(key, fields).map { key, field in
            switch key.kind {
            case .integer:
                guard let number = Int64(field) else { throw UnusableCursor() }
                return .integer(number)
            case .text: return .text(field)
            case .bytes:
                guard field.utf8.count.isMultiple(of: 2), field.allSatisfy(\.isHexDigit) else {
                    throw UnusableCursor()
                }
                let digits = field.compactMap(\.hexDigitValue)
                return .bytes(
                    stride(from: 0, to: digits.count, by: 2).map {
                        UInt8(digits[$0] << 4 | digits[$0 + 1])
                    })
            }
        }
    }

    /// The cursor behind the item in a row.
    fileprivate func cursor(_ row: any CatalogRow) -> ListCursor {
        ListCursor(
            list: name,
            fields: zip(key, width...).map { key, column in
                switch key.kind {
                case .integer: "\(row.int64(column))"
                case .text: row.string(column)
                case .bytes:
                    row.array(column).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
                        .joined()
                }
            })
    }
}

extension CatalogConnection {
    /// One page of a list.
    ///
    /// - Throws: `UnusableCursor`.
    package func page<Item>(
        _ query: ListQuery, _ request: ListRequest, row: (any CatalogRow) throws -> Item
    ) throws -> ListPage<Item> {
        let (sql, values) = try query.statement(request)
        var items: [Item] = []
        var last: ListCursor?
        var isMore = false
        try visit(sql, values) { statement in
            if items.count == request.limit {
                isMore = true
                return
            }
            items.append(try row(statement))
            if items.count == request.limit { last = query.cursor(statement) }
        }
        return ListPage(items: items, next: isMore ? last : nil)
    }
}
