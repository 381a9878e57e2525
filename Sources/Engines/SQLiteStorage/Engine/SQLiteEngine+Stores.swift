import CloudModel
import Files
import SQLite
import Storage

// Which stores there are, and what is wrong with them.
extension SQLiteEngine {
    package func stores() throws -> [StoreKey] { try sqliteCatalog.stores().map(\.key) }

    package func storesWithEarlyLinks() throws -> [StoreKey] {
        try sqliteCatalog.stores().filter(\.hasEarlyLinks).map(\.key)
    }

    package func isThere(_ key: StoreKey) throws -> Bool {
        try files.hasFile(key) && FileSystem.size(of: files.path(of: key)) > 0
    }

    package func isMissing(_ key: StoreKey) throws -> Bool {
        do {
            return try !examine(key)
        } catch let error as SQLiteError where error.kind == .corrupt {
            // It is there; what reads it says what is wrong with it.
            return false
        }
    }

    package func examine(_ key: StoreKey) throws -> Bool {
        guard let known = try sqliteCatalog.store(key) else { return true }
        guard try isThere(key) else { return false }
        let facts = try StoreFacts(at: files.path(of: key))
        return known.name.map { $0 == facts.name } ?? true
    }

    package func isOfFormerVersion(_ key: StoreKey) throws -> Bool {
        try StoreFacts(at: files.path(of: key)).formerVersion != nil
    }

    package func strays() throws -> [String] { try files.strays(beside: stores()) }

    package func words(for key: StoreKey) -> String { files.path(of: key) }

    package func finishResets() throws {
        // One that was cut off between two moves has its files beside their place.
        for key in try stores() where try !isThere(key) { try files.finishReplacing(key) }
    }

    package func catalogProblems() throws -> [String] {
        try CatalogCheck(path: files.catalogPath).problems()
    }

    package func problems(of key: StoreKey, lossesSince moment: Milliseconds) throws -> [String] {
        try StoreCheck(path: files.path(of: key), lossesSince: moment).problems()
    }

    package func rowsToMove(_ rows: FormerRows, of key: StoreKey) throws -> Int {
        let connection = try Connection(path: files.path(of: key), mode: .readOnly)
        return try withExtendedLifetime(connection) {
            let row = try connection.prepare(Self.countSQL(of: rows))
            defer { row.reset() }
            return try row.step() ? Int(row.int64(0)) : 0
        }
    }

    private static func countSQL(of rows: FormerRows) -> String {
        switch rows {
        case .versions: "SELECT count(*) FROM versions"
        // Nothing is beyond NULL: once all have been moved there are none.
        case .names:
            """
            SELECT count(*) FROM heads
            WHERE id > (SELECT names_through FROM progress WHERE names_by_text <> 0)
            """
        }
    }

    package func assets(of key: StoreKey) -> any AssetRows {
        StoredAssets(path: files.path(of: key))
    }
}
