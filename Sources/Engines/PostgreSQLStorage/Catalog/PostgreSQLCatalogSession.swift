#if PostgreSQL
    import CatalogSQL
    import PostgreSQL
    import StoredRows

    /// Statements in the SQL that both engines understand, in a transaction that is open.
    struct PostgreSQLCatalogSession: CatalogSession {
        let ask: (Query) throws -> [Rows]

        /// - Parameter ask: runs a statement within something larger, such as a snapshot that begins with it.
        init(ask: @escaping (Query) throws -> [Rows]) { self.ask = ask }

        init(connection: Connection) { ask = { try connection.run([$0]) } }

        func run(_ sql: String, _ values: [CatalogValue]) throws -> Int {
            try rows(sql, values).changeCount
        }

        func visit(
            _ sql: String, _ values: [CatalogValue], _ row: (any CatalogRow) throws -> Void
        ) throws {
            let rows = try rows(sql, values)
            for number in 0..<rows.count { try row(PostgreSQLCatalogRow(rows: rows, row: number)) }
        }

        private func rows(_ sql: String, _ values: [CatalogValue]) throws -> Rows {
            let query = Query(NumberedParameters.text(of: sql), values.map(Self.value))
            guard let rows = try ask(query).last else {
                throw InvalidRow(table: "an answer")
            }
            return rows
        }

        private static func value(_ value: CatalogValue) -> Value {
            switch value {
            case .integer(let number): .number(number)
            case .real(let real): .real(real)
            case .text(let text): .text(text)
            case .bytes(let bytes): .bytes(bytes)
            case .nothing: .null
            }
        }
    }

    /// A row of an answer.
    struct PostgreSQLCatalogRow: CatalogRow {
        let rows: Rows
        let row: Int

        func isNull(_ column: Int32) -> Bool { rows.isNull(row, Int(column)) }
        func int64(_ column: Int32) -> Int64 { rows.number(row, Int(column)) }
        func real(_ column: Int32) -> Double { rows.real(row, Int(column)) }
        func string(_ column: Int32) -> String { rows.text(row, Int(column)) }
        func array(_ column: Int32) -> [UInt8] { Array(rows.bytes(row, Int(column))) }
    }

    extension Rows {
        /// What is made of each row.
        func all<Value>(_ make: (any CatalogRow) throws -> Value) rethrows -> [Value] {
            try (0..<count).map { try make(PostgreSQLCatalogRow(rows: self, row: $0)) }
        }
    }

    /// Parameters in the server's form: `?` and `?2` become `$1` and `$2`.
    enum NumberedParameters {
        /// - Parameter sql: has no question mark in a string.
        static func text(of sql: String) -> String {
            var text: [UInt8] = []
            var highest = 0
            var rest = Substring(sql).utf8
            while let byte = rest.popFirst() {
                guard byte == UInt8(ascii: "?") else {
                    text.append(byte)
                    continue
                }
                let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
                rest.removeFirst(digits.count)
                // As SQLite numbers them: one without a number is the next after the highest.
                let number = Int(String(Substring(digits))) ?? highest + 1
                highest = max(highest, number)
                text += Array("$\(number)".utf8)
            }
            return String(decoding: text, as: UTF8.self)
        }
    }
#endif
