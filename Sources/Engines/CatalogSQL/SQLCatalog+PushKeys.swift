import CloudModel
import Storage
import StoredRows

extension SQLCatalog {
    package func add(_ key: PushKeyRecord) throws {
        try write { catalog in
            try Self.requireContainer(key.container, in: catalog)
            try catalog.run(
                """
                INSERT INTO push_keys
                (container, topic, key_id, team_id, sealed_key, created_at)
                VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (container, topic) DO UPDATE SET key_id = excluded.key_id,
                team_id = excluded.team_id, sealed_key = excluded.sealed_key,
                created_at = excluded.created_at
                """, .text(key.container.folded), .text(key.topic), .text(key.keyID),
                .text(key.teamID), .bytes(key.sealedKey), .integer(key.createdAt))
        }
    }

    private static var pushKeyQuery: String {
        """
        SELECT c.name, k.topic, k.key_id, k.team_id, k.sealed_key, k.created_at
        FROM push_keys k JOIN containers c ON c.folded = k.container
        """
    }

    package func pushKeys(of container: ContainerID?) throws -> [PushKeyRecord] {
        try read { catalog in
            try catalog.all(
                """
                \(Self.pushKeyQuery) WHERE k.container = ?1 OR ?1 IS NULL
                ORDER BY k.container, k.topic
                """, .optional(container?.folded), row: Self.pushKey)
        }
    }

    private static func pushKey(_ row: any CatalogRow) throws -> PushKeyRecord {
        guard let container = ContainerID(row.string(0)) else {
            throw InvalidRow(table: "push_keys")
        }
        return PushKeyRecord(
            container: container, topic: row.string(1), keyID: row.string(2),
            teamID: row.string(3), sealedKey: row.array(4), createdAt: row.int64(5))
    }
}
