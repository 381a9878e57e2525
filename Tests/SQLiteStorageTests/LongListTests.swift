import Foundation
import SQLite
import SQLiteStorage
import StorageConformance
import Testing

@Suite("Lists of 100,000 items")
final class LongListTests {
    private let location: SQLiteLocation

    init() throws { location = try SQLiteLocation() }

    deinit { location.remove() }

    /// Runs statements that may take from `n` the numbers from 0 on, in one transaction.
    private func fill(_ path: String, _ inserts: [String]) throws {
        let connection = try Connection(path: path, mode: .readWrite)
        try connection.execute("BEGIN")
        for insert in inserts {
            try connection.execute(
                """
                WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n
                WHERE i + 1 < \(LongLists.count)) \(insert) FROM n;
                """)
        }
        try connection.execute("COMMIT")
    }

    @Test("Each item of the catalog's lists is on one page, and a prefix finds its items")
    func catalog() throws {
        let catalog = try #require(try location.openCatalog() as? SQLiteCatalog)
        try fill(
            catalog.path,
            [
                "INSERT INTO containers SELECT printf('c%05d', i), printf('C%05d', i), i",
                "INSERT INTO stores SELECT printf('c%05d', i), 'production', x'01', i",
                """
                INSERT INTO api_tokens (hash, name, container, environment, created_at)
                SELECT CAST(printf('%032d', i) AS BLOB), printf('t%05d', i), 'c00000',
                'production', 1
                """,
                """
                INSERT INTO server_keys SELECT printf('%064x', i), NULL, 'c00000', 'production',
                x'09', 'public', 1, NULL, printf('_%032x', i)
                """,
                "INSERT INTO accounts SELECT printf('a%05d', i), NULL, NULL, NULL, i, 0",
                """
                INSERT INTO addresses SELECT printf('a%05d', i), 'email', printf('p%05d@x.y', i),
                printf('P%05d@x.y', i), 1, 1
                """,
                """
                INSERT INTO web_tokens SELECT CAST(printf('%032d', i) AS BLOB),
                CAST(printf('%05d', i) AS BLOB), printf('a%05d', i), 'c00000', 'production', 1,
                9, 1, NULL, '', ''
                """,
                """
                INSERT INTO account_deletions SELECT printf('d%05d', i), 'c00000',
                printf('_%032x', i), 'keep'
                """,
            ])
        try LongLists(in: catalog, stores: catalog.stores).check()
    }

    @Test("Each subscription is on one page, and a prefix finds its subscriptions")
    func subscriptions() throws {
        let store = try location.openStore()
        try fill(
            location.path,
            [
                """
                INSERT INTO subscriptions SELECT printf('_%032x', i / 10), 2, printf('s%05d', i), 3,
                '', '', 0, 0, NULL, NULL, 0, '', x''
                """
            ])
        try LongLists.checkSubscriptions(store)
    }
}
