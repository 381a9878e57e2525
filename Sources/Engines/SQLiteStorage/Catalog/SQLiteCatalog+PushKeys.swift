import CloudModel
import SQLite
import Storage

extension SQLiteCatalog {
    package func add(_ key: PushKeyRecord) throws {
        try write { catalog in
            try SQLiteCatalog.requireContainer(key.container, in: catalog)
            try catalog.run(
                """
                INSERT OR REPLACE INTO push_keys
                (container, topic, key_id, team_id, sealed_key, created_at)
                VALUES (?, ?, ?, ?, ?, ?)
                """, .text(key.container.folded), .text(key.topic), .text(key.keyID),
                .text(key.teamID), .bytes(key.sealedKey), .integer(key.createdAt))
        }
    }

    private static let pushKeyQuery = """
        SELECT c.name, k.topic, k.key_id, k.team_id, k.sealed_key, k.created_at
        FROM push_keys k JOIN containers c ON c.folded = k.container
        """

    package func pushKeys(of container: ContainerID?) throws -> [PushKeyRecord] {
        try read { catalog in
            try catalog.all(
                """
                \(SQLiteCatalog.pushKeyQuery) WHERE ?1 IS NULL OR k.container = ?1
                ORDER BY k.container, k.topic
                """, .optional(container?.folded), row: SQLiteCatalog.pushKey)
        }
    }

    private static func pushKey(_ row: Statement) throws -> PushKeyRecord {
        guard let container = ContainerID(row.string(0)) else {
            throw SQLiteError.unreadable("push_keys")
        }
        return PushKeyRecord(
            container: container, topic: row.string(1), keyID: row.string(2),
            teamID: row.string(3), sealedKey: row.array(4), createdAt: row.int64(5))
    }
}
