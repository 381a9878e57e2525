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
        try connection.prepare(
            """
            INSERT INTO destinations (
                kind, key, user_record_name, device, address, session, made_at, used_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)
            """
        ).run(
            destination.kind.rawValue, destination.key, destination.user?.text ?? "",
            destination.device ?? "", destination.address, destination.session, now)
        let number = DestinationNumber(connection.lastInsertedRowID)
        try moveSubscriptions()
        return number
    }

    private func renew(_ number: DestinationNumber, as destination: NewDestination) throws {
        try connection.prepare(
            """
            UPDATE destinations SET user_record_name = ?3, device = ?4, address = ?5, session = ?6,
                used_at = ?2, badge = 0, failures = 0, due_at = iif(due_at IS NULL, NULL, ?2)
            WHERE id = ?1
            """
        ).run(
            number.value, now, destination.user?.text ?? "", destination.device ?? "",
            destination.address, destination.session)
        try moveSubscriptions()
    }

    func change(_ destination: DestinationNumber, by change: DestinationChange) throws {
        if change.wakesWaiting { moved.insert(.destination(destination)) }
        if change.isUsed { try noteUse(of: destination) }
        if let badge = change.badge { try setBadge(badge, at: destination) }
        if let attempt = change.attempt { try note(attempt, at: destination) }
    }

    private func noteUse(of destination: DestinationNumber) throws {
        try connection.prepare(
            "UPDATE destinations SET used_at = ?2 WHERE id = ?1"
        ).run(destination.value, now)
    }

    private func setBadge(_ badge: Int64, at destination: DestinationNumber) throws {
        try connection.prepare(
            "UPDATE destinations SET badge = ?2 WHERE id = ?1"
        ).run(destination.value, badge)
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
            try connection.prepare(sql).run(number.value)
        }
        moved.insert(.destination(number))
        try moveSubscriptions()
    }

    private func note(_ attempt: SendingAttempt, at destination: DestinationNumber) throws {
        try connection.prepare(
            """
            UPDATE destinations SET failures = iif(?2, failures + 1, 0),
                due_at = iif(EXISTS (SELECT 1 FROM outbox WHERE destination = ?1), ?3, NULL)
            WHERE id = ?1
            """
        ).run(destination.value, Int64(attempt.isFailure ? 1 : 0), attempt.next)
    }

    private func removeWaiting(for number: DestinationNumber) throws {
        try connection.prepare("DELETE FROM outbox WHERE destination = ?1").run(number.value)
    }

    /// Notes that subscriptions or destinations are others now.
    func moveSubscriptions() throws {
        try connection.prepare(
            "UPDATE progress SET subscription_revision = subscription_revision + 1 WHERE id = 0"
        ).run()
    }
}
