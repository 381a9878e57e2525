import CloudModel
import SQLite
import Storage
import StoredRows

// Who follows the store.
extension SQLiteTransaction: FollowerRows {
    func insert(_ follower: FollowerName) throws -> Position {
        let last = reachedPosition
        try connection.prepare(
            "INSERT INTO followers (name, position) VALUES (?1, ?2)"
        ).run(follower.text, last)
        return last
    }

    func insert(_ needs: [Need], of follower: FollowerName) throws -> Bool {
        let insert = try connection.prepare(
            """
            INSERT OR IGNORE INTO previous_version_needs (follower, scope, number, record_type)
            VALUES (?1, ?2, ?3, ?4)
            """)
        var isNew = false
        for need in needs {
            try insert.run(follower.text, need.scope, need.number, need.type)
            isNew = isNew || connection.changeCount > 0
        }
        return isNew
    }

    func setPosition(_ position: Position?, of follower: FollowerName) throws {
        guard let position else { return try remove(follower) }
        try connection.prepare(
            "UPDATE followers SET position = max(position, ?2) WHERE name = ?1"
        ).run(follower.text, position)
        try ChangeLog(connection).forgetPassed()
    }

    private func remove(_ follower: FollowerName) throws {
        try removeNeeds(of: follower)
        try connection.prepare("DELETE FROM followers WHERE name = ?1").run(follower.text)
        try renewFollowing()
        let log = ChangeLog(connection)
        if following.isOn { try log.forgetPassed() } else { try log.forgetAll() }
    }

    func removeNeeds(of follower: FollowerName) throws {
        try connection.prepare(
            "DELETE FROM previous_version_needs WHERE follower = ?1"
        ).run(follower.text)
    }
}

// What is noted for them.
extension SQLiteTransaction {
    /// Notes that a zone was made or has gone.
    func note(_ kind: ChangeKind, of zone: ZoneNumber, at position: Position) throws {
        guard following.isOn else { return }
        try run(kind, zone, position)
    }

    /// Notes that what a person is shown of a zone has changed.
    func noteSight(of person: UserRecordName, in zone: ZoneNumber, at position: Position) throws {
        guard following.isOn else { return }
        try run(.sight, zone, position, person: person)
    }

    /// Notes a record's change; before its previous version goes.
    func note(_ version: NewVersion, of record: RecordNumber, previous: PreviousVersion?) throws {
        try run(
            version.flags.contains(.tombstone) ? .deleted : .saved, version.zone.number,
            version.position, record, version, previous)
    }

    /// A record's version before a change, if somebody wants it.
    func wantedPrevious(of version: NewVersion) throws -> PreviousVersion? {
        guard version.previousIsAlive, let previous = version.previous,
            following.mayWant(in: version.zone)
        else { return nil }
        let key = SQLiteSnapshot.key(version.zone.number, previous.position)
        do {
            return try versions.visit(at: key, of: previous.record) { stored in
                guard following.wants((stored.type, version.type), in: version.zone) else {
                    return nil
                }
                return PreviousVersion(
                    position: previous.position, type: stored.type, flags: stored.flags.rawValue,
                    body: [UInt8](stored.body))
            } ?? nil
        } catch is DamagedVersion {
            // NB: nobody can be told what it was.
            return nil
        }
    }

    private func run(
        _ kind: ChangeKind, _ zone: ZoneNumber, _ position: Position, _ record: RecordNumber? = nil,
        _ version: NewVersion? = nil, _ previous: PreviousVersion? = nil,
        person: UserRecordName? = nil
    ) throws {
        notedChanges += 1
        try followingStatements().note.run(
            position, kind.rawValue, zone.value, record?.value, person?.text, previous?.position,
            previous?.type, previous?.flags, previous?.body, version?.type,
            version?.previousIsAlive == true ? 1 : 0, author?.user.text, author?.device,
            author?.trace)
    }
}

/// A version that goes, as it is kept for a follower.
struct PreviousVersion {
    let position: Position
    let type: Int64
    let flags: Int64
    let body: [UInt8]
}
