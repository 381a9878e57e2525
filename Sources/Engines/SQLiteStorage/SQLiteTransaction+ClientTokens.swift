import CloudModel
import SQLite
import Storage

// The data that devices leave with their changes of a zone.
extension SQLiteTransaction {
    func setClientToken(_ data: [UInt8], _ key: ClientTokenKey, devicesMax: Int) throws {
        let forget = try connection.prepare(
            """
            DELETE FROM client_tokens
            WHERE zone = ?1 AND user_record_name = ?2 AND device = ?3
            """)
        forget.bind(key)
        try forget.run()
        guard !data.isEmpty else { return }
        let insert = try connection.prepare(
            """
            INSERT INTO client_tokens (zone, user_record_name, device, data, set_at)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """)
        insert.bind(key)
        insert.bind(data, at: 4)
        insert.bind(now, at: 5)
        try insert.run()
        let forgetOldest = try connection.prepare(
            """
            DELETE FROM client_tokens WHERE zone = ?1 AND user_record_name = ?2 AND device IN (
                SELECT device FROM client_tokens WHERE zone = ?1 AND user_record_name = ?2
                    AND device <> ?3 ORDER BY set_at DESC LIMIT -1 OFFSET ?4)
            """)
        forgetOldest.bind(key)
        forgetOldest.bind(Int64(max(0, devicesMax - 1)), at: 4)
        try forgetOldest.run()
    }
}

extension Statement {
    func bind(_ key: ClientTokenKey) {
        bind(key.zone.value, at: 1)
        bind(key.user.text, at: 2)
        bind(key.device, at: 3)
    }
}
