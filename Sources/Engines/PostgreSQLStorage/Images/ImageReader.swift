#if PostgreSQL
    import PostgreSQL
    import Storage

    /// Puts the rows of an image into the tables of its part as they come.
    struct ImageReader {
        /// So much of a table is sent at once.
        private static let copyBytes = 1 << 16

        private enum State {
            case head
            case betweenTables
            case rows(TableLayout)
            case ended
        }

        private let connection: Connection
        private let isCatalog: Bool
        private let random: (Int) -> [UInt8]
        private var state = State.head
        private var bytes: [UInt8] = []
        private var copied: [UInt8] = []
        private var tables: [TableLayout] = []
        private var store: Int64 = 0

        init(_ connection: Connection, isCatalog: Bool, _ random: @escaping (Int) -> [UInt8]) {
            self.connection = connection
            self.isCatalog = isCatalog
            self.random = random
        }

        /// - Throws: `DamagedImage`, `ForeignImage`, `PostgreSQLError`.
        mutating func take(_ more: [UInt8]) throws {
            bytes += more
            var cursor = ImageCursor(bytes, from: 0)
            var end = 0
            while try readNext(&cursor) { end = cursor.index }
            bytes.removeFirst(end)
        }

        /// The number of the store that was made; 0 for a catalog.
        func finish() throws -> Int64 {
            guard case .ended = state, bytes.isEmpty else {
                throw DamagedImage("it does not have all of its tables")
            }
            return store
        }

        /// Reads the next thing; false where more bytes must come first.
        private mutating func readNext(_ cursor: inout ImageCursor) throws -> Bool {
            switch state {
            case .head: return try readHead(&cursor)
            case .betweenTables: return try beginTable(&cursor)
            case .rows(let table):
                guard let mark = cursor.byte() else { return false }
                if mark == 0 {
                    try endTable()
                    return true
                }
                guard let row = cursor.row(of: table.columns.count) else { return false }
                try copy(row, of: table)
                return true
            case .ended: return false
            }
        }

        private mutating func readHead(_ cursor: inout ImageCursor) throws -> Bool {
            guard let mark = cursor.text(), let kind = cursor.text(), let made = cursor.count()
            else { return false }
            var migrations: [String] = []
            for _ in 0..<made {
                guard let name = cursor.text(), let sum = cursor.text() else { return false }
                migrations.append("\(name) \(sum)")
            }
            let ours = isCatalog ? PostgreSQLCatalog.migrator : StoreCreation.migrator
            guard mark == ImageText.mark,
                kind == (isCatalog ? PostgreSQLPartImage.Kind.catalog : .store).rawValue,
                migrations == ours.history.migrations.map({ "\($0.name) \($0.checksum)" })
            else {
                throw ForeignImage(
                    "it is not an image that this version of the engine on PostgreSQL has made")
            }
            if !isCatalog {
                guard let name = cursor.value(), let key = cursor.value() else { return false }
                store = try makeStore(named: name, key)
            }
            tables = try TableLayout.tables(of: connection)
            if isCatalog {
                // What the migrations have put there.
                for table in tables { _ = try connection.run("DELETE FROM \(table.name)") }
            }
            state = .betweenTables
            return true
        }

        /// A store of that name that is there was left by a restore that did not come to its end.
        private func makeStore(named name: [UInt8], _ key: [UInt8]) throws -> Int64 {
            _ = try connection.run(
                "UPDATE stores SET name = name || $2, removed_at = 0 WHERE name = $1",
                .bytes(name), .bytes(Array("~".utf8)))
            let removed = RemovedStores(connection, now: 0, isAlone: true)
            for left in try removed.all() { try removed.removeRows(of: left.number) }
            return try StoreCreation.insert(named: name, tokenKey: key, random, connection)
        }

        private mutating func beginTable(_ cursor: inout ImageCursor) throws -> Bool {
            guard let name = cursor.text() else { return false }
            guard !name.isEmpty else {
                state = .ended
                return true
            }
            guard let columns = cursor.texts() else { return false }
            guard
                let table = tables.first(where: { $0.name == name && $0.columns == columns })
            else { throw DamagedImage("it has a table that there is not") }
            let names = (isCatalog ? [] : ["store"]) + columns
            try connection.beginCopy(
                """
                COPY \(name) (\(names.joined(separator: ", "))) FROM STDIN (FORMAT binary)
                """)
            state = .rows(table)
            return true
        }

        private mutating func copy(_ row: ArraySlice<UInt8>, of table: TableLayout) throws {
            let count = Int16(table.columns.count + (isCatalog ? 0 : 1))
            withUnsafeBytes(of: count.bigEndian) { copied += $0 }
            if !isCatalog {
                copied += ImageBlock.number(8)
                withUnsafeBytes(of: store.bigEndian) { copied += $0 }
            }
            copied += row
            guard copied.count >= Self.copyBytes else { return }
            try sendCopied()
        }

        private mutating func sendCopied() throws {
            try connection.putCopy(copied)
            copied = []
        }

        private mutating func endTable() throws {
            try sendCopied()
            try connection.endCopy()
            state = .betweenTables
        }
    }
#endif
