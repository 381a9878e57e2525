import CloudModel
import SQLite
import Storage

// Who follows the store.
extension SQLiteTransaction {
    func follow(as follower: FollowerName) throws -> Position {
        if let known = try position(of: follower) { return known }
        let last = reachedPosition
        let insert = try connection.prepare(
            "INSERT INTO followers (name, position) VALUES (?1, ?2)")
        insert.bind(follower.text, at: 1)
        insert.bind(last, at: 2)
        try insert.run()
        try renewFollowing()
        return last
    }

    func want(
        _ wanted: Set<PreviousVersionNeed>, alone: Bool, for follower: FollowerName
    ) throws {
        guard try position(of: follower) != nil else { return }
        var isNew = alone
        if alone { try forgetWanted(of: follower) }
        let insert = try connection.prepare(
            """
            INSERT OR IGNORE INTO previous_version_needs (follower, scope, number, record_type)
            VALUES (?1, ?2, ?3, ?4)
            """)
        for one in wanted {
            Self.bind(one, of: follower, to: insert)
            try insert.run()
            isNew = isNew || connection.changeCount > 0
        }
        if isNew { try renewFollowing() }
    }

    private static func bind(
        _ wanted: PreviousVersionNeed, of follower: FollowerName, to insert: Statement
    ) {
        insert.bind(follower.text, at: 1)
        switch wanted.scope {
        case .owner(let owner):
            insert.bind(Following.ownerScope, at: 2)
            insert.bind(owner.value, at: 3)
        case .zone(let zone):
            insert.bind(Following.zoneScope, at: 2)
            insert.bind(zone.value, at: 3)
        }
        insert.bind(wanted.type ?? Following.allTypes, at: 4)
    }

    func advance(_ follower: FollowerName, through position: Position) throws {
        let update = try connection.prepare(
            "UPDATE followers SET position = max(position, ?2) WHERE name = ?1")
        update.bind(follower.text, at: 1)
        update.bind(position, at: 2)
        try update.run()
        try ChangeLog(connection).forgetPassed()
    }

    func unfollow(_ follower: FollowerName) throws {
        try forgetWanted(of: follower)
        let delete = try connection.prepare("DELETE FROM followers WHERE name = ?1")
        delete.bind(follower.text, at: 1)
        try delete.run()
        try renewFollowing()
        let log = ChangeLog(connection)
        if following.isOn { try log.forgetPassed() } else { try log.forgetAll() }
    }

    private func forgetWanted(of follower: FollowerName) throws {
        let delete = try connection.prepare(
            "DELETE FROM previous_version_needs WHERE follower = ?1")
        delete.bind(follower.text, at: 1)
        try delete.run()
    }
}

// What is noted for them.
extension SQLiteTransaction {
    /// Notes that a zone was made or has gone.
    func note(_ kind: ChangeKind, of zone: ZoneNumber, at position: Position) throws {
        guard following.isOn else { return }
        try noting(kind, zone, position).run()
    }

    /// Notes that what a person is shown of a zone has changed.
    func noteSight(of person: UserRecordName, in zone: ZoneNumber, at position: Position) throws {
        guard following.isOn else { return }
        let note = try noting(.sight, zone, position)
        note.bind(person.text, at: 5)
        try note.run()
    }

    /// Notes a record's change; before its previous version goes.
    func note(_ version: NewVersion, of record: RecordNumber, previous: PreviousVersion?) throws {
        let kind: ChangeKind = version.flags.contains(.tombstone) ? .deleted : .saved
        let note = try noting(kind, version.zone.number, version.position)
        note.bind(record.value, at: 4)
        note.bind(version.type, at: 10)
        note.bind(Int64(version.previousIsAlive ? 1 : 0), at: 11)
        if let previous {
            note.bind(previous.position, at: 6)
            note.bind(previous.type, at: 7)
            note.bind(previous.flags, at: 8)
            note.bind(previous.body, at: 9)
        }
        try note.run()
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

    private func noting(
        _ kind: ChangeKind, _ zone: ZoneNumber, _ position: Position
    ) throws -> Statement {
        let note = try followingStatements().note
        notedChanges += 1
        note.bind(position, at: 1)
        note.bind(kind.rawValue, at: 2)
        note.bind(zone.value, at: 3)
        for index in Int32(4)...10 { note.bindNull(at: index) }
        note.bind(Int64(0), at: 11)
        if let author {
            note.bind(author.user.text, at: 12)
        } else {
            note.bindNull(at: 12)
        }
        if let device = author?.device {
            note.bind(device, at: 13)
        } else {
            note.bindNull(at: 13)
        }
        return note
    }
}

/// A version that goes, as it is kept for a follower.
struct PreviousVersion {
    let position: Position
    let type: Int64
    let flags: Int64
    let body: [UInt8]
}
