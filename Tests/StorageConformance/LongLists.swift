import CloudModel
import Storage

/// Lists of 100,000 items that a test has put into an engine's tables, each named by its number.
///
/// Each list is read page by page, and nobody holds more than a page of it.
package struct LongLists {
    package static let count = 100_000

    private let catalog: any CatalogStorage
    private let stores: (ListRequest) throws -> ListPage<KnownStore>

    package init(
        in catalog: any CatalogStorage,
        stores: @escaping (ListRequest) throws -> ListPage<KnownStore>
    ) {
        self.catalog = catalog
        self.stores = stores
    }

    /// Reads a list to its end, and looks whether each item is there once.
    private static func check<Item>(
        _ name: String, prefix: String = "", expected: Int = count,
        naming: (Item) -> String, _ page: (ListRequest) throws -> ListPage<Item>
    ) throws {
        var (found, last, after) = (0, "", ListCursor?.none)
        repeat {
            let page = try page(ListRequest(after: after, prefix: prefix))
            try expect(page.items.count <= ListRequest.limitUsual, name)
            for item in page.items {
                let next = naming(item)
                // In strict order none comes twice.
                try expect(next > last, "\(name): \(next) after \(last)")
                last = next
            }
            found += page.items.count
            after = page.next
        } while after != nil
        try expect(found == expected, "\(name): \(found)")
    }

    /// Reads the lists of the catalog, each as a whole and searched by how names begin.
    package func check() throws {
        try Self.check("containers", naming: \.id.name, catalog.containers)
        try Self.check("stores", naming: \.key.container.name, stores)
        try Self.check("API tokens", naming: \.name, catalog.apiTokens)
        try Self.check("server keys", naming: \.keyID, catalog.serverKeys)
        try Self.check("accounts", naming: \.id.text, catalog.accounts)
        try Self.check("sessions", naming: Self.name, sessions)
        try Self.check("deletions", naming: \.account.text, catalog.accountDeletions)
        try Self.check(
            "containers", prefix: "C9", expected: 10_000, naming: \.id.name, catalog.containers)
        try Self.check(
            "stores", prefix: "c99", expected: 1_000, naming: \.key.container.name, stores)
        try Self.check(
            "API tokens", prefix: "t99999", expected: 1, naming: \.name, catalog.apiTokens)
        try Self.check(
            "server keys", prefix: String(repeating: "0", count: 61), expected: 4_096,
            naming: \.keyID, catalog.serverKeys)
        try Self.check(
            "accounts", prefix: "p12", expected: 1_000, naming: \.id.text, catalog.accounts)
        // The digits of "12" and of half of the digit behind.
        try Self.check(
            "sessions", prefix: "31323", expected: 1_000, naming: Self.name, sessions)
        try expect(catalog.account(AccountID("a77777"))?.email == "P77777@x.y")
    }

    private static func name(_ session: WebSession) -> String {
        String(decoding: session.session, as: UTF8.self)
    }

    private func sessions(_ request: ListRequest) throws -> ListPage<WebSession> {
        let home = TestStore.name(ContainerID("c00000"))
        return try catalog.webSessions(.environment(home, .production), livingAt: 1, request)
    }

    /// Reads the subscriptions of a store.
    package static func checkSubscriptions(_ store: any Store) throws {
        func page(_ request: ListRequest) throws -> ListPage<WatchingSubscription> {
            try store.read { try $0.allSubscriptions(of: nil, request) }
        }
        try check("subscriptions", naming: \.subscription.id.text, page)
        try check(
            "subscriptions", prefix: "s77", expected: 1_000, naming: \.subscription.id.text, page)
    }
}
