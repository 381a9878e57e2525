#if PostgreSQL
    import PostgreSQL
    import Storage
    import StoredRows

    /// Where a kind of row that engines hand over lies: the statements that read a page of it and add to it.
    ///
    /// The first parameter of each is the store.
    struct RowTable {
        private static let rowsMax = 1_000
        /// After so many bytes a page ends; one row alone may have more.
        private static let bytesMax = 4_194_304

        let kind: RowKind
        private let first: String
        private let further: String
        private let lastText: String
        private let insert: String

        init(_ kind: RowKind) {
            self.kind = kind
            let isOfTombstones = kind.name == RowKind.ofTombstones
            let table = isOfTombstones ? RowKind.ofRecords : kind.name
            let columns = kind.fields.map { Self.column(of: $0, in: kind) }
            // What a version's sum is compared with, and computed anew from.
            let sum = kind.name == RowKind.ofRecords ? ["checksum"] : []
            let read = (columns + sum).joined(separator: ", ")
            let key = columns.prefix(kind.keyCount)
            let order = key.joined(separator: ", ")
            let condition = Self.conditions[kind.name].map { " AND \($0)" } ?? ""
            let source = "\(Self.views[kind.name] ?? table) WHERE store = $1\(condition)"
            let behind = key.indices.map { "$\($0 + 2)" }.joined(separator: ", ")
            first = Self.page(read, of: kind, from: source, order)
            further = Self.page(
                read, of: kind, from: "\(source) AND (\(order)) > (\(behind))", order)
            let falling = key.map { "\($0) DESC" }.joined(separator: ", ")
            lastText = "SELECT \(read) FROM \(source) ORDER BY \(falling) LIMIT 1"
            let forms = kind.fields.map(\.form) + sum.map { _ in .integer }
            let arrays = forms.enumerated().map { at, form in
                "$\(at + 2)::\(form == .integer ? "bigint" : "bytea")[]"
            }.joined(separator: ", ")
            insert =
                isOfTombstones
                ? """
                UPDATE records r SET deleted_at = n.deleted_at
                FROM unnest(\(arrays)) AS n (\(columns.joined(separator: ", ")))
                WHERE r.store = $1 AND r.zone = n.zone AND r.position = n.position
                """
                : "INSERT INTO \(table) (store, \(read)) SELECT $1, * FROM unnest(\(arrays))"
        }

        /// What of a table is of the kind.
        private static let conditions = [
            RowKind.ofTombstones: "deleted_at IS NOT NULL",
            // What fills indexes is the engine's own.
            RowKind.ofWork: "kind <> 3",
        ]

        /// Where rows are read with what waits for being added to them.
        private static let views = ["owners": "current_owners", "zones": "current_zones"]

        /// What fields are called here, where that differs, by their kinds.
        private static let names = [
            "owners": ["id": "owner"], "zones": ["id": "zone"], "record_types": ["id": "type"],
            "fields": ["record_type": "type"], "system_fields": ["record_type": "type"],
            "permissions": ["record_type": "type"], "held_parts": ["record_type": "type_name"],
            "roles": ["id": "role"], RowKind.ofRecords: ["record_type": "type"],
            "shares": ["id": "share"], "access_requests": ["id": "request"],
            "memberships": ["record_type": "type", "left": "left_through"],
            "destinations": ["id": "destination"], "outbox": ["id": "notice"],
            "dead_letters": ["id": "notice"], RowKind.ofWork: ["id": "work"],
        ]

        private static func column(of field: RowKind.Field, in kind: RowKind) -> String {
            names[kind.name]?[field.name] ?? field.name
        }

        private static func page(
            _ read: String, of kind: RowKind, from source: String, _ order: String
        ) -> String {
            let sizes = kind.fields.filter { $0.form != .integer }.map {
                "coalesce(octet_length(\(column(of: $0, in: kind))), 0)"
            }
            let size = sizes.isEmpty ? "0" : sizes.joined(separator: " + ")
            return """
                SELECT \(read) FROM (
                    SELECT \(read), sum(\(size)) OVER (
                        ORDER BY \(order) ROWS UNBOUNDED PRECEDING) - (\(size)) AS before
                    FROM \(source) ORDER BY \(order) LIMIT \(rowsMax)) AS page
                WHERE before < \(bytesMax)
                """
        }

        /// Some rows behind a key, nil for the first.
        func page(of store: Int64, after key: [CopiedValue]?) -> Query {
            guard let key else { return Query(first, .number(store)) }
            return Query(further, [.number(store)] + key.map(Self.value))
        }

        /// The last row there is.
        func last(of store: Int64) -> Query { Query(lastText, .number(store)) }

        /// Adds rows; those that are tombstones to records that are there.
        func adding(_ rows: [[CopiedValue]], to store: Int64) throws -> Query {
            var values: [Value] = [.number(store)]
            for (at, field) in kind.fields.enumerated() {
                let column = rows.map { $0[at] }
                values.append(
                    field.form == .integer
                        ? .numbers(column.map(\.integer)) : .byteStrings(column.map(\.bytes)))
            }
            if kind.name == RowKind.ofRecords { values.append(.numbers(try rows.map(Self.sum))) }
            return kind.name == RowKind.ofTombstones
                ? .requiring(rows.count, insert, values) : Query(insert, values)
        }

        /// What a row of an answer says.
        ///
        /// - Throws: `DamagedVersion`.
        func values(of rows: Rows, _ row: Int) throws -> [CopiedValue] {
            let values = kind.fields.enumerated().map { at, field -> CopiedValue in
                if rows.isNull(row, at) { return .nothing }
                return field.form == .integer
                    ? .integer(rows.number(row, at)) : .bytes(Array(rows.bytes(row, at)))
            }
            if kind.name == RowKind.ofRecords {
                guard try Self.sum(of: values) == rows.number(row, values.count) else {
                    throw DamagedVersion(
                        zone: ZoneNumber(rows.number(row, 0)), position: rows.number(row, 1))
                }
            }
            return values
        }

        /// The sum over a version that is kept with it.
        private static func sum(of values: [CopiedValue]) throws -> Int64 {
            guard let zone = values[0].integer, let position = values[1].integer,
                let record = values[2].integer, let type = values[3].integer,
                let flags = values[4].integer, let body = values[6].bytes
            else { throw InvalidRow(table: RowKind.ofRecords) }
            return body.withUnsafeBytes {
                VersionColumns.checksum(
                    ZoneNumber(zone), RecordNumber(record), position, type,
                    VersionFlags(rawValue: flags), $0)
            }
        }

        private static func value(_ value: CopiedValue) -> Value {
            switch value {
            case .integer(let number): .number(number)
            case .bytes(let bytes): .bytes(bytes)
            case .nothing: .null
            }
        }
    }
#endif
