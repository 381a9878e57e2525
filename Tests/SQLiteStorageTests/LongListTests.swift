import CloudModel
import Foundation
import SQLite
import SQLiteStorage
import Storage
import StorageConformance
import Testing

@Suite("Lists of 100,000 items")
final class LongListTests {
    private static let count = 100_000
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
                WHERE i + 1 < \(Self.count)) \(insert) FROM n;
                """)
        }
        try connection.execute("COMMIT")
    }

    /// Reads a list to its end, and looks whether each item is there once.
    private func read<Item>(
        _ name: String, prefix: String = "", expected: Int = count,
        naming: (Item) -> String, _ page: (ListRequest) throws -> ListPage<Item>
    ) throws {
        var (found, last, after) = (0, "", ListCursor?.none)
        repeat {
            let page = try page(ListRequest(after: after, prefix: prefix))
            #expect(page.items.count <= ListRequest.limitUsual, "\(name)")
            for item in page.items {
                let next = naming(item)
                // In strict order none comes twice.
                if next <= last { Issue.record("\(name): \(next) after \(last)") }
                last = next
            }
            found += page.items.count
            after = page.next
        } while after != nil
        #expect(found == expected, "\(name)")
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
        func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
        let home = try #require(ContainerID("c00000"))
        func sessions(_ request: ListRequest) throws -> ListPage<WebSession> {
            try catalog.webSessions(.environment(home, .production), livingAt: 1, request)
        }
        try read("containers", naming: \.id.name, catalog.containers)
        try read("stores", naming: \.key.container.name, catalog.stores)
        try read("API tokens", naming: \.name, catalog.apiTokens)
        try read("server keys", naming: \.keyID, catalog.serverKeys)
        try read("accounts", naming: \.id.text, catalog.accounts)
        try read("sessions", naming: { text($0.session) }, sessions)
        try read("deletions", naming: \.account.text, catalog.accountDeletions)
        try read(
            "containers", prefix: "C9", expected: 10_000, naming: \.id.name, catalog.containers)
        try read(
            "stores", prefix: "c99", expected: 1_000, naming: \.key.container.name, catalog.stores)
        try read("API tokens", prefix: "t99999", expected: 1, naming: \.name, catalog.apiTokens)
        let zeros = String(repeating: "0", count: 61)
        try read("server keys", prefix: zeros, expected: 4_096, naming: \.keyID, catalog.serverKeys)
        try read("accounts", prefix: "p12", expected: 1_000, naming: \.id.text, catalog.accounts)
        // The digits of "12" and of half of the digit behind.
        try read(
            "sessions", prefix: "31323", expected: 1_000, naming: { text($0.session) }, sessions)
        #expect(try catalog.account(AccountID("a77777"))?.email == "P77777@x.y")
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
        func page(_ request: ListRequest) throws -> ListPage<WatchingSubscription> {
            try store.read { try $0.allSubscriptions(of: nil, request) }
        }
        try read("subscriptions", naming: \.subscription.id.text, page)
        try read(
            "subscriptions", prefix: "s77", expected: 1_000, naming: \.subscription.id.text, page)
    }
}
