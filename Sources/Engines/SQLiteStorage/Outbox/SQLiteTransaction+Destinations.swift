import CloudModel
import SQLite
import Storage

// What a write does with destinations.
extension SQLiteTransaction {
    func register(_ destination: NewDestination) throws -> DestinationNumber {
        if let known = try self.destination(destination.kind, key: destination.key) {
            if known.user != destination.user { try removeWaiting(for: known.number) }
            try renew(known.number, as: destination)
            return known.number
        }
        let insert = try connection.prepare(
            """
            INSERT INTO destinations (
                kind, key, user_record_name, device, address, session, made_at, used_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)
            """)
        insert.bind(destination.kind.rawValue, at: 1)
        insert.bind(destination.key, at: 2)
        bind(destination, to: insert)
        insert.bind(now, at: 7)
        try insert.run()
        let number = DestinationNumber(connection.lastInsertedRowID)
        try moveSubscriptions()
        return number
    }

    private func renew(_ number: DestinationNumber, as destination: NewDestination) throws {
        let update = try connection.prepare(
            """
            UPDATE destinations SET user_record_name = ?3, device = ?4, address = ?5, session = ?6,
                used_at = ?2, badge = 0, failures = 0, due_at = iif(due_at IS NULL, NULL, ?2)
            WHERE id = ?1
            """)
        update.bind(number.value, at: 1)
        update.bind(now, at: 2)
        bind(destination, to: update)
        try update.run()
        try moveSubscriptions()
    }

    /// Columns 3 to 6.
    private func bind(_ destination: NewDestination, to statement: Statement) {
        statement.bind(destination.user?.text ?? "", at: 3)
        statement.bind(destination.device ?? "", at: 4)
        statement.bind(destination.address, at: 5)
        if let session = destination.session {
            statement.bind(session, at: 6)
        } else {
            statement.bindNull(at: 6)
        }
    }

    func change(_ destination: DestinationNumber, by change: DestinationChange) throws {
        if change.isUsed { try noteUse(of: destination) }
        if let badge = change.badge { try setBadge(badge, at: destination) }
        if let attempt = change.attempt { try note(attempt, at: destination) }
    }

    private func noteUse(of destination: DestinationNumber) throws {
        let update = try connection.prepare(
            "UPDATE destinations SET used_at = ?2 WHERE id = ?1")
        update.bind(destination.value, at: 1)
        update.bind(now, at: 2)
        try update.run()
    }

    func wakeWaiting(for destination: DestinationNumber) { moved.insert(.destination(destination)) }

    private func setBadge(_ badge: Int64, at destination: DestinationNumber) throws {
        let update = try connection.prepare(
            "UPDATE destinations SET badge = ?2 WHERE id = ?1")
        update.bind(destination.value, at: 1)
        update.bind(badge, at: 2)
        try update.run()
    }

    func removeDestinations(_ keys: DestinationKeys) throws -> Int {
        let found = try destinations(keys)
        for destination in found { try remove(destination.number) }
        return found.count
    }

    private func remove(_ number: DestinationNumber) throws {
        try removeWaiting(for: number)
        for sql in [
            "DELETE FROM dead_letters WHERE destination = ?1",
            "DELETE FROM destinations WHERE id = ?1",
        ] {
            let delete = try connection.prepare(sql)
            delete.bind(number.value, at: 1)
            try delete.run()
        }
        moved.insert(.destination(number))
        try moveSubscriptions()
    }

    private func note(_ attempt: SendingAttempt, at destination: DestinationNumber) throws {
        let update = try connection.prepare(
            """
            UPDATE destinations SET failures = iif(?2, failures + 1, 0),
                due_at = iif(EXISTS (SELECT 1 FROM outbox WHERE destination = ?1), ?3, NULL)
            WHERE id = ?1
            """)
        update.bind(destination.value, at: 1)
        update.bind(Int64(attempt.isFailure ? 1 : 0), at: 2)
        update.bind(attempt.next, at: 3)
        try update.run()
    }

    private func removeWaiting(for number: DestinationNumber) throws {
        let delete = try connection.prepare("DELETE FROM outbox WHERE destination = ?1")
        delete.bind(number.value, at: 1)
        try delete.run()
    }

    /// Notes that subscriptions or destinations are others now.
    func moveSubscriptions() throws {
        try connection.prepare(
            "UPDATE progress SET subscription_revision = subscription_revision + 1 WHERE id = 0"
        ).run()
    }
}
