import CloudModel
import SQLite

extension StoreCheck {
    /// What a store has lost that it had acknowledged: found now, or at a start since a moment.
    static func losses(
        _ connection: Connection, noted note: PositionNote.Content?, since moment: Milliseconds
    ) throws -> [String] {
        var losses: [String] = []
        let properties = StoreProperties(connection)
        let last = try properties.lastPosition()
        if let note, let lost = try properties.loss(noted: note) {
            losses.append(
                "behind what was acknowledged: the last change is \(last), \(lost) was told to clients"
            )
        }
        let rows = try connection.prepare(
            """
            SELECT last_position, lost_through FROM incarnations
            WHERE lost_through IS NOT NULL AND ended_at >= ?1 ORDER BY last_position
            """)
        defer { rows.reset() }
        rows.bind(moment, at: 1)
        while try rows.step() {
            losses.append(
                "lost what was acknowledged: changes after \(rows.int64(0)), through \(rows.int64(1))"
            )
        }
        return losses
    }
}
