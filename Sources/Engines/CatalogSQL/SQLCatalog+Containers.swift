import CloudModel
import Storage
import StoredRows

extension SQLCatalog {
    package func add(_ container: ContainerRecord) throws {
        try write(endsWhatWasTrue: false) { catalog in
            let added = try catalog.run(
                """
                INSERT INTO containers (folded, name, created_at) VALUES (?, ?, ?)
                ON CONFLICT DO NOTHING
                """, .text(container.id.folded), .text(container.id.name),
                .integer(container.createdAt))
            guard added == 1 else { throw CatalogRefusal.containerExists }
            for (key, value) in container.settings {
                try Self.set(key, to: value, of: container.id, in: catalog)
            }
        }
    }

    package func containers(
        _ request: ListRequest, usedBy account: AccountID?, among some: Set<ContainerID>?
    ) throws -> ListPage<ContainerRecord> {
        var query = ListQuery(
            name: "containers", columns: "name, created_at", width: 2, tables: "containers",
            key: [("folded", .text)],
            bounds: ListQuery.Bounds(textPrefix: request.prefix.lowercased()))
        if let account {
            query.condition =
                "folded IN (SELECT container FROM user_names WHERE account = ?)"
            query.values = [.text(account.text)]
        }
        if let some { query.require("folded", among: some) }
        return try read { [query] catalog in
            let page = try catalog.page(query, request, row: Self.container)
            return ListPage(
                items: try Self.withSettings(page.items, in: catalog), next: page.next)
        }
    }

    package func set(
        _ settings: [String: String?], icon: NamedPicture?, of id: ContainerID
    ) throws {
        try write { catalog in
            try Self.requireContainer(id, in: catalog)
            for (key, value) in settings {
                try Self.set(key, to: value, of: id, in: catalog)
            }
            if let icon {
                try catalog.run(
                    """
                    INSERT INTO container_icons (container, name, picture) VALUES (?, ?, ?)
                    ON CONFLICT (container) DO UPDATE SET name = excluded.name,
                    picture = excluded.picture
                    """, .text(id.folded), .text(icon.name), .bytes(icon.bytes))
            }
            try catalog.run(
                """
                DELETE FROM container_icons WHERE container = ?1 AND name NOT IN
                (SELECT value FROM container_settings WHERE container = ?1 AND key = 'icon')
                """, .text(id.folded))
        }
    }

    package func icon(named name: String) throws -> [UInt8]? {
        try read { catalog in
            try catalog.first(
                "SELECT picture FROM container_icons WHERE name = ? LIMIT 1", .text(name)
            ) { $0.array(0) }
        }
    }

    /// Takes a container out of the catalog, with all that ends with it.
    ///
    /// - Parameter others: does in the same transaction what else ends with it, before its stores are forgotten.
    package func delete(
        _ id: ContainerID, with others: (CatalogConnection) throws -> Void = { _ in }
    ) throws {
        try write { catalog in
            try Self.requireContainer(id, in: catalog)
            try others(catalog)
            let container = CatalogValue.text(id.folded)
            try catalog.run(
                """
                DELETE FROM api_token_origins WHERE token_hash IN
                (SELECT hash FROM api_tokens WHERE container = ?)
                """, container)
            for table in Self.tablesByAccount where table != "external_users" {
                try catalog.run(
                    """
                    DELETE FROM \(table) WHERE account IN
                    (SELECT account FROM external_users WHERE container = ?)
                    """, container)
            }
            try catalog.run(
                """
                DELETE FROM accounts WHERE id IN
                (SELECT account FROM external_users WHERE container = ?)
                """, container)
            for table in Self.tablesByContainer {
                try catalog.run("DELETE FROM \(table) WHERE container = ?", container)
            }
            try Self.dropConsentsOfNoToken(in: catalog)
            try catalog.run("DELETE FROM containers WHERE folded = ?", container)
        }
    }

    /// Everything that ends with its container.
    package static var tablesByContainer: [String] {
        [
            "container_settings", "api_tokens", "server_keys", "web_tokens", "user_names",
            "account_deletions", "stores", "external_users", "sign_in_codes", "push_keys",
            "container_icons", "operator_containers", "operator_looks",
        ]
    }

    /// Consents end with the API token that they were given to.
    static func dropConsentsOfNoToken(in catalog: CatalogConnection) throws {
        try catalog.run(
            "DELETE FROM consents WHERE token_hash NOT IN (SELECT hash FROM api_tokens)")
    }

    /// Fails unless there is such a container.
    package static func requireContainer(_ id: ContainerID, in catalog: CatalogConnection) throws {
        let isKnown = try catalog.exists(
            "SELECT 1 FROM containers WHERE folded = ?", .text(id.folded))
        guard isKnown else { throw CatalogRefusal.containerUnknown }
    }

    private static func set(
        _ key: String, to value: String?, of id: ContainerID, in catalog: CatalogConnection
    ) throws {
        guard let value else {
            try catalog.run(
                "DELETE FROM container_settings WHERE container = ? AND key = ?",
                .text(id.folded), .text(key))
            return
        }
        try catalog.run(
            """
            INSERT INTO container_settings (container, key, value) VALUES (?, ?, ?)
            ON CONFLICT (container, key) DO UPDATE SET value = excluded.value
            """, .text(id.folded), .text(key), .text(value))
    }

    /// A container without its settings.
    private static func container(_ row: any CatalogRow) throws -> ContainerRecord {
        guard let id = ContainerID(row.string(0)) else {
            throw InvalidRow(table: "containers")
        }
        return ContainerRecord(id: id, createdAt: row.int64(1))
    }

    private static func withSettings(
        _ containers: [ContainerRecord], in catalog: CatalogConnection
    ) throws -> [ContainerRecord] {
        let settings = try catalog.all(
            "SELECT container, key, value FROM container_settings WHERE container IN (?*)",
            among: containers.map { .text($0.id.folded) }
        ) { (container: $0.string(0), key: $0.string(1), value: $0.string(2)) }
        let byContainer = Dictionary(grouping: settings, by: \.container)
        return containers.map { container in
            var whole = container
            for (_, key, value) in byContainer[container.id.folded] ?? [] {
                whole.settings[key] = value
            }
            return whole
        }
    }
}
