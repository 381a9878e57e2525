import CloudModel
import SQLite
import Storage
import StoredRows

// What a write does with what waits to be told.
extension SQLiteTransaction {
    func enqueue(_ notice: NewNotice, countedMax: Int) throws -> Int {
        if let key = notice.mergeKey { try removeWaiting(notice.destination, key) }
        try connection.prepare(
            """
            INSERT INTO outbox (
                destination, identifier, scope, zone, record_type, is_own, merge_key, collapse_id,
                payload, made_at, trace)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            """
        ).run(
            notice.destination.value, notice.identifier, notice.scope.stored,
            notice.condition.zone?.value, notice.condition.type, notice.condition.isOwn ? 1 : 0,
            notice.mergeKey, notice.collapseID, notice.payload, now, notice.trace)
        try makeDue(notice.destination)
        moved.insert(.destination(notice.destination))
        return countedMax > 0 ? try count(for: notice.destination, max: countedMax) : 0
    }

    private func removeWaiting(_ destination: DestinationNumber, _ key: [UInt8]) throws {
        try connection.prepare(
            "DELETE FROM outbox WHERE destination = ?1 AND merge_key = ?2"
        ).run(destination.value, key)
    }

    /// Has a sender try a destination, unless it waits for its turn already.
    private func makeDue(_ destination: DestinationNumber) throws {
        try connection.prepare(
            "UPDATE destinations SET due_at = ?2 WHERE id = ?1 AND due_at IS NULL AND kind <> 1"
        ).run(destination.value, now)
        if connection.changeCount > 0 { moved.insert(.senders) }
    }

    private func count(for destination: DestinationNumber, max most: Int) throws -> Int {
        try connection.prepare(
            "SELECT count(*) FROM (SELECT 1 FROM outbox WHERE destination = ?1 LIMIT ?2)"
        ).first(destination.value, most) { Int($0.int64(0)) } ?? 0
    }

    func removeNotices(_ selection: NoticeSelection) throws {
        switch selection {
        case .waiting(let numbers): try delete(numbers, from: "outbox")
        case .waitingFor(let destination, let number):
            let delete = try connection.prepare(
                "DELETE FROM outbox WHERE destination = ?1 AND id <= ?2")
            delete.bind(destination.value, at: 1)
            delete.bind(number.value, at: 2)
            try delete.run()
        case .all(let numbers):
            try delete(numbers, from: "outbox")
            try delete(numbers, from: "dead_letters")
        }
    }

    private func delete(_ numbers: [NoticeNumber], from table: String) throws {
        let delete = try connection.prepare("DELETE FROM \(table) WHERE id = ?1")
        for number in numbers {
            try delete.run(number.value)
        }
    }

    func giveUp(_ number: NoticeNumber, reason: String, keptMax: Int) throws {
        try connection.prepare(
            """
            INSERT OR IGNORE INTO dead_letters (
                \(SQLiteSnapshot.noticeColumns), reason, died_at)
            SELECT \(SQLiteSnapshot.noticeColumns), ?2, ?3
            FROM outbox WHERE id = ?1
            """
        ).run(number.value, reason, now)
        try connection.prepare(
            """
            DELETE FROM dead_letters WHERE
                destination = (SELECT destination FROM dead_letters WHERE id = ?1)
                AND id <= (
                    SELECT id FROM dead_letters WHERE
                        destination = (SELECT destination FROM dead_letters WHERE id = ?1)
                    ORDER BY id DESC LIMIT 1 OFFSET ?2)
            """
        ).run(number.value, keptMax)
        try removeNotices([number])
    }

    func replayDeadLetters(of destination: DestinationNumber, limit: Int) throws -> Int {
        let letters = try notices(.dead(destination), after: NoticeNumber(0), limit: limit)
        let delete = try connection.prepare("DELETE FROM dead_letters WHERE id = ?1")
        for notice in letters {
            _ = try enqueue(
                NewNotice(
                    destination: destination, identifier: notice.identifier, scope: notice.scope,
                    condition: notice.condition, collapseID: notice.collapseID,
                    payload: notice.payload, trace: notice.trace),
                countedMax: 0)
            try delete.run(notice.number.value)
        }
        return letters.count
    }
}
