import CloudModel
import SQLite
import Storage

// The data that devices leave with their changes of a zone.
extension SQLiteTransaction {
    func setClientToken(_ data: [UInt8], _ key: ClientTokenKey, devicesMax: Int) throws {
        try connection.prepare(
            """
            DELETE FROM client_tokens
            WHERE zone = ?1 AND user_record_name = ?2 AND device = ?3
            """
        ).run(key.zone.value, key.user.text, key.device)
        guard !data.isEmpty else { return }
        try connection.prepare(
            """
            INSERT INTO client_tokens (zone, user_record_name, device, data, set_at)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """
        ).run(key.zone.value, key.user.text, key.device, data, now)
        try connection.prepare(
            """
            DELETE FROM client_tokens WHERE zone = ?1 AND user_record_name = ?2 AND device IN (
                SELECT device FROM client_tokens WHERE zone = ?1 AND user_record_name = ?2
                    AND device <> ?3 ORDER BY set_at DESC LIMIT -1 OFFSET ?4)
            """
        ).run(key.zone.value, key.user.text, key.device, max(0, devicesMax - 1))
    }
}
