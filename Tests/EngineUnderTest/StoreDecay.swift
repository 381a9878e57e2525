import SQLite

/// Changes versions of a store behind the server's back, as a disk that decays does.
package struct StoreDecay {
    package typealias Row = (key: Int64, content: [UInt8])

    let store: String

    /// - store: the path of a store's file.
    package init(store: String) { self.store = store }

    /// The rows of the store's versions, in the order of their keys.
    package func rows() throws -> [Row] {
        let connection = try Connection(path: store, mode: .readOnly)
        return try withExtendedLifetime(connection) {
            let rows = try connection.prepare("SELECT key, content FROM version_rows ORDER BY key")
            var found: [Row] = []
            while try rows.step() { found.append((rows.int64(0), [UInt8](rows.bytes(1)))) }
            return found
        }
    }

    /// The present version of a record; the deletion of one that is gone.
    private func row(of name: String) throws -> Row {
        let connection = try Connection(path: store, mode: .readOnly)
        return try withExtendedLifetime(connection) {
            let row = try connection.prepare(
                """
                SELECT v.key, v.content FROM heads h
                JOIN version_rows v ON v.key = (h.zone << 40 | h.position) WHERE h.name = ?1
                """)
            defer { row.reset() }
            row.bind(text: [UInt8](name.utf8), at: 1)
            guard try row.step() else { throw NoRecord(name: name) }
            return (row.int64(0), [UInt8](row.bytes(1)))
        }
    }

    package func put(_ content: [UInt8], _ key: Int64) throws {
        let connection = try Connection(path: store, mode: .readWrite)
        try withExtendedLifetime(connection) {
            let statement = try connection.prepare(
                "UPDATE version_rows SET content = ?2 WHERE key = ?1")
            statement.bind(key, at: 1)
            statement.bind(content, at: 2)
            try statement.run()
        }
    }

    /// Changes a bit of a row.
    package func damage(_ row: Row, at location: Int? = nil) throws {
        var content = row.content
        content[location ?? content.count / 2] ^= 1
        try put(content, row.key)
    }

    /// Changes a bit of a record's present version.
    package func damage(_ name: String) throws { try damage(row(of: name)) }

    private struct NoRecord: Error {
        let name: String
    }
}
