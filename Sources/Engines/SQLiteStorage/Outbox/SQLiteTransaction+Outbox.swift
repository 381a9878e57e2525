import CloudModel
import SQLite
import Storage

// What a write does with what waits to be told.
extension SQLiteTransaction {
    func enqueue(_ notice: NewNotice, countedMax: Int) throws -> Int {
        if let key = notice.mergeKey { try removeWaiting(notice.destination, key) }
        let insert = try connection.prepare(
            """
            INSERT INTO outbox (
                destination, identifier, scope, zone, record_type, is_own, merge_key, collapse_id,
                payload, made_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            """)
        insert.bind(notice.destination.value, at: 1)
        insert.bind(notice.identifier, at: 2)
        insert.bind(notice.scope.stored, at: 3)
        insert.bind(optional: notice.condition.zone?.value, at: 4)
        insert.bind(optional: notice.condition.type, at: 5)
        insert.bind(Int64(notice.condition.isOwn ? 1 : 0), at: 6)
        if let key = notice.mergeKey { insert.bind(key, at: 7) } else { insert.bindNull(at: 7) }
        if let id = notice.collapseID { insert.bind(id, at: 8) } else { insert.bindNull(at: 8) }
        insert.bind(notice.payload, at: 9)
        insert.bind(now, at: 10)
        try insert.run()
        try makeDue(notice.destination)
        moved.insert(.destination(notice.destination))
        return countedMax > 0 ? try count(for: notice.destination, max: countedMax) : 0
    }

    private func removeWaiting(_ destination: DestinationNumber, _ key: [UInt8]) throws {
        let delete = try connection.prepare(
            "DELETE FROM outbox WHERE destination = ?1 AND merge_key = ?2")
        delete.bind(destination.value, at: 1)
        delete.bind(key, at: 2)
        try delete.run()
    }

    /// Has a sender try a destination, unless it waits for its turn already.
    private func makeDue(_ destination: DestinationNumber) throws {
        let update = try connection.prepare(
            "UPDATE destinations SET due_at = ?2 WHERE id = ?1 AND due_at IS NULL AND kind <> 1")
        update.bind(destination.value, at: 1)
        update.bind(now, at: 2)
        try update.run()
        if connection.changeCount > 0 { moved.insert(.senders) }
    }

    private func count(for destination: DestinationNumber, max most: Int) throws -> Int {
        let row = try connection.prepare(
            "SELECT count(*) FROM (SELECT 1 FROM outbox WHERE destination = ?1 LIMIT ?2)")
        defer { row.reset() }
        row.bind(destination.value, at: 1)
        row.bind(Int64(most), at: 2)
        return try row.step() ? Int(row.int64(0)) : 0
    }

    func waitingScopes(for destination: DestinationNumber) throws -> [DatabaseScope] {
        let rows = try connection.prepare(
            "SELECT DISTINCT scope FROM outbox WHERE destination = ?1 ORDER BY scope")
        defer { rows.reset() }
        rows.bind(destination.value, at: 1)
        var found: [DatabaseScope] = []
        while try rows.step() {
            guard let scope = DatabaseScope(stored: rows.int64(0)) else {
                throw InvalidRow(table: "outbox")
            }
            found.append(scope)
        }
        return found
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
            delete.bind(number.value, at: 1)
            try delete.run()
        }
    }

    func giveUp(_ number: NoticeNumber, reason: String, keptMax: Int) throws {
        let move = try connection.prepare(
            """
            INSERT OR IGNORE INTO dead_letters (
                \(SQLiteSnapshot.noticeColumns), reason, died_at)
            SELECT \(SQLiteSnapshot.noticeColumns), ?2, ?3
            FROM outbox WHERE id = ?1
            """)
        move.bind(number.value, at: 1)
        move.bind(reason, at: 2)
        move.bind(now, at: 3)
        try move.run()
        let forget = try connection.prepare(
            """
            DELETE FROM dead_letters WHERE
                destination = (SELECT destination FROM dead_letters WHERE id = ?1)
                AND id <= (
                    SELECT id FROM dead_letters WHERE
                        destination = (SELECT destination FROM dead_letters WHERE id = ?1)
                    ORDER BY id DESC LIMIT 1 OFFSET ?2)
            """)
        forget.bind(number.value, at: 1)
        forget.bind(Int64(keptMax), at: 2)
        try forget.run()
        try removeNotices([number])
    }

    func replayDeadLetters(of destination: DestinationNumber, limit: Int) throws -> Int {
        let letters = try deadLetters(of: destination, after: NoticeNumber(0), limit: limit)
        let delete = try connection.prepare("DELETE FROM dead_letters WHERE id = ?1")
        for letter in letters {
            let notice = letter.notice
            _ = try enqueue(
                NewNotice(
                    destination: destination, identifier: notice.identifier, scope: notice.scope,
                    condition: notice.condition, collapseID: notice.collapseID,
                    payload: notice.payload),
                countedMax: 0)
            delete.bind(notice.number.value, at: 1)
            try delete.run()
        }
        return letters.count
    }
}

extension Statement {
    fileprivate func bind(optional number: Int64?, at index: Int32) {
        if let number { bind(number, at: index) } else { bindNull(at: index) }
    }
}
