import CatalogSQL
import SQLite

/// Reads the catalog and holds it to what is always true of it.
///
/// Works on a snapshot of its own, also while the catalog is in use.
package struct CatalogCheck: Sendable {
    private static let rules = SQLiteCatalog.rules {
        "(typeof(\($0)) <> 'blob' OR length(\($0)) <> \($1))"
    }

    private let path: String

    package init(path: String) { self.path = path }

    /// What is wrong with the file or with what it says, in lines for the operator.
    ///
    /// - Throws: `SQLiteError` when the file is too broken to be read.
    package func problems() throws -> [String] {
        let connection = try Connection(path: path, mode: .readOnly)
        return try connection.snapshot { connection in
            let damage = try connection.integrityCheck()
            // Rules would only repeat in other words what a damaged file shows.
            guard damage.isEmpty else { return damage }
            return try CatalogRule.problems(of: Self.rules) {
                let statement = try connection.prepare($0)
                defer { statement.reset() }
                return try statement.step() ? statement.int64(0) : 0
            }
        }
    }
}
