import CloudModel
import Storage
import StoredRows

extension SQLCatalog {
    /// As `StorageEngine.readRows` of the catalog.
    package func readRows<Value: Sendable>(
        of container: ContainerID?, _ body: (CopiedRows) throws -> Value
    ) throws -> Value {
        let tables = container == nil ? CopiedTable.ofAll : CopiedTable.ofContainer
        // All of them first: nobody else waits while they are handed on.
        let rows = try read { catalog in
            try tables.indices.map { kind in
                let key = container.map { [CatalogValue.text($0.folded)] } ?? []
                return try tables[kind].rows(kind, key, in: catalog)
            }
        }
        let copied = CopiedRows(
            of: tables.map(\.kind), estimate: Int64(rows.reduce(0) { $0 + $1.count })
        ) { kind, key in key == nil ? rows[kind] : [] }
        return try body(copied)
    }

    /// As `StorageEngine.takeRows` of the catalog.
    package func takeRows<Value: Sendable>(
        of container: ContainerID?, _ body: (TakenRows) throws -> Value
    ) throws -> Value {
        let tables = container == nil ? CopiedTable.ofAll : CopiedTable.ofContainer
        return try write { catalog in
            try body(
                TakenRows(
                    rows: CopiedRows(kinds: tables.map(\.kind.name), estimate: 0) { _ in [] },
                    last: { nil },
                    append: { rows in
                        for row in rows { try tables[row.kind].take(row.values, in: catalog) }
                    }, clear: {}))
        }
    }
}

extension CopiedTable {
    private var columns: String { kind.fields.map(\.name).joined(separator: ", ") }

    fileprivate func rows(
        _ number: Int, _ values: [CatalogValue], in catalog: CatalogConnection
    ) throws -> [CopiedRow] {
        var found: [CopiedRow] = []
        let condition = condition.map { " WHERE \($0)" } ?? ""
        let key = kind.fields.prefix(kind.keyCount).map(\.name).joined(separator: ", ")
        // A condition that names no container has no place for one.
        let values = condition.contains("?1") ? values : []
        try catalog.visit(
            "SELECT \(columns) FROM \(kind.name)\(condition) ORDER BY \(key)", values
        ) { found.append(CopiedRow(kind: number, self.values(of: $0))) }
        return found
    }

    private func values(of row: any CatalogRow) -> [CopiedValue] {
        kind.fields.indices.map { at in
            let column = Int32(at)
            if row.isNull(column) { return .nothing }
            return kind.fields[at].form == .integer
                ? .integer(row.int64(column)) : .bytes(row.array(column))
        }
    }

    private func bound(_ values: [CopiedValue]) -> [CatalogValue] {
        zip(values, kind.fields).map { value, field in
            switch value {
            case .integer(let number): .integer(number)
            case .bytes(let bytes):
                field.form == .text ? .text(String(decoding: bytes, as: UTF8.self)) : .bytes(bytes)
            case .nothing: .nothing
            }
        }
    }

    /// - Throws: `CopyRefusal`.
    fileprivate func take(_ values: [CopiedValue], in catalog: CatalogConnection) throws {
        let bound = bound(values)
        if case .added = meeting, try isThere(values, bound, in: catalog) { return }
        let places = Array(repeating: "?", count: bound.count).joined(separator: ", ")
        let added = try catalog.run(
            "INSERT INTO \(kind.name) (\(columns)) VALUES (\(places)) ON CONFLICT DO NOTHING", bound
        )
        guard added == 0 else { return }
        let key = kind.fields.prefix(kind.keyCount).map { "\($0.name) = ?" }
        var there: [CopiedValue]?
        try catalog.visit(
            "SELECT \(columns) FROM \(kind.name) WHERE \(key.joined(separator: " AND "))",
            Array(bound.prefix(kind.keyCount))
        ) { there = self.values(of: $0) }
        if let there, isSame(there, values) { return }
        switch meeting {
        case .kept where there != nil:
            guard let account = kind.fields.firstIndex(where: { $0.name == "account" }),
                there?[account] != values[account]
            else { return }
            throw CopyRefusal(
                "\(kind.name): what belongs to account \(Self.text(values[account])) belongs to "
                    + "another there")
        case .kept: try refuseAddress(values, bound, in: catalog)
        case .added: return
        case .refused(let what, let name):
            throw CopyRefusal("the \(what) \(Self.text(values[name])) is there already, as another")
        }
    }

    /// Whether two rows say the same; when something was used last does not count, since that goes on meanwhile.
    private func isSame(_ there: [CopiedValue], _ values: [CopiedValue]) -> Bool {
        zip(kind.fields, zip(there, values)).allSatisfy { field, pair in
            field.name == "used_at" || pair.0 == pair.1
        }
    }

    /// Whether a row says the same in all of its fields.
    private func isThere(
        _ values: [CopiedValue], _ bound: [CatalogValue], in catalog: CatalogConnection
    ) throws -> Bool {
        let same = zip(kind.fields, values).map {
            $1 == .nothing ? "\($0.name) IS NULL" : "\($0.name) = ?"
        }
        let known = zip(values, bound).filter { $0.0 != .nothing }.map(\.1)
        var isThere = false
        try catalog.visit(
            "SELECT 1 FROM \(kind.name) WHERE \(same.joined(separator: " AND ")) LIMIT 1", known
        ) { _ in isThere = true }
        return isThere
    }

    /// An address that the other catalog has verified for another account: two people are never made one.
    private func refuseAddress(
        _ values: [CopiedValue], _ bound: [CatalogValue], in catalog: CatalogConnection
    ) throws {
        guard kind.name == "addresses" else { return }
        let other = try catalog.first(
            "SELECT account FROM addresses WHERE kind = ? AND folded = ? AND verified_at IS NOT NULL",
            bound[1], bound[2]
        ) { $0.string(0) }
        throw CopyRefusal(
            "\(Self.text(values[3])) is the address of account \(Self.text(values[0])) here and of "
                + "account \(other ?? "?") there: give one of them another address first")
    }

    private static func text(_ value: CopiedValue) -> String {
        switch value {
        case .integer(let number): "\(number)"
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        case .nothing: ""
        }
    }
}
