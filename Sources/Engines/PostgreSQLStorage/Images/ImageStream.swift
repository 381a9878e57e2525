#if PostgreSQL
    import MigrationHistory
    import PostgreSQL

    /// The bytes of an image, made as they are read; in a session that is in its snapshot.
    final class ImageStream {
        /// What is fetched of a table at once, about.
        private static let fetchBytes = 2 << 20
        private static let fetchRowsMax = 4_000

        private let connection: Connection
        private let store: Int64?
        private var tables: ArraySlice<TableLayout>
        private var text = ImageText()
        /// Whole blocks that nobody has read yet, and where the first lies.
        private var blocks: [UInt8] = []
        private(set) var offset: Int64 = 0
        private var isBegun = false
        private var isEnded = false
        private var rowsPerFetch = 100

        /// - Parameters:
        ///   - store: whose rows it has; nil for all rows of each table.
        ///   - head: what stands before the tables.
        init(
            _ connection: Connection, of store: Int64?, _ tables: [TableLayout], head: ImageText
        ) {
            self.connection = connection
            self.store = store
            self.tables = tables[...]
            text = head
        }

        /// Up to so many bytes from an offset on, which is not before `offset`.
        func read(at wanted: Int64, count: Int) throws -> [UInt8] {
            while true {
                let skipped = min(Int(wanted - offset), blocks.count)
                blocks.removeFirst(skipped)
                offset += Int64(skipped)
                if isEnded || (offset == wanted && blocks.count >= count) { break }
                try addMore()
            }
            let read = Array(blocks.prefix(count))
            blocks.removeFirst(read.count)
            offset += Int64(read.count)
            return read
        }

        private func addMore() throws {
            guard let table = tables.first else {
                text.append("")
                blocks += text.takeBlocks(all: true) + ImageBlock.encode([])
                isEnded = true
                return
            }
            if !isBegun {
                isBegun = true
                text.append(table)
                try declare(table)
            }
            if try !fetch(table) {
                text.append(rowMark: 0)
                tables = tables.dropFirst()
                isBegun = false
            }
            blocks += text.takeBlocks(all: false)
        }

        private func declare(_ table: TableLayout) throws {
            let rows = store.map { " WHERE store = \($0)" } ?? ""
            _ = try connection.run([
                Query(
                    """
                    DECLARE image_\(table.name) NO SCROLL CURSOR FOR
                    SELECT \(table.columns.joined(separator: ", ")) FROM \(table.name)\(rows)
                    """)
            ])
        }

        /// Fetches rows of a table; whether there may be more.
        private func fetch(_ table: TableLayout) throws -> Bool {
            let wanted = rowsPerFetch
            let rows = try connection.run("FETCH FORWARD \(wanted) FROM image_\(table.name)")
            let before = text.bytes.count
            for row in 0..<rows.count {
                text.append(rowMark: 1)
                for column in table.columns.indices {
                    text.append(
                        value: rows.isNull(row, column) ? nil : rows.bytes(row, column))
                }
            }
            let bytes = text.bytes.count - before
            if bytes > Self.fetchBytes { rowsPerFetch = max(wanted / 4, 1) }
            if bytes < Self.fetchBytes / 8 {
                rowsPerFetch = min(wanted * 4, Self.fetchRowsMax)
            }
            guard rows.count < wanted else { return true }
            _ = try connection.run([Query("CLOSE image_\(table.name)")])
            return false
        }
    }
#endif
