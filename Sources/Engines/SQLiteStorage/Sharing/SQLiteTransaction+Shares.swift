import CloudModel
import SQLite
import Storage

// Shares, participants and what viewers are granted.
extension SQLiteTransaction {
    func makeShare(
        in zone: ZoneNumber, record: RecordNumber, root: RecordNumber?,
        publicPermission: SharePermission
    ) throws -> StoredShare {
        let position = try takePosition()
        try shareWrites().insertShare.run(
            zone.value, record.value, root?.value, publicPermission.rawValue, position)
        noteTrees(in: zone)
        return StoredShare(
            number: ShareNumber(connection.lastInsertedRowID), zone: zone, record: record,
            root: root, publicPermission: publicPermission, created: position, ended: nil)
    }

    func setPublicPermission(_ permission: SharePermission, of share: ShareNumber) throws {
        try shareWrites().setPublicPermission.run(share.value, permission.rawValue)
    }

    func endShare(_ share: ShareNumber) throws {
        let position = try takePosition()
        let statements = try shareWrites()
        // Views first: which they are, the grants say.
        try end(share, at: position, statements.endViewsOfShare)
        try coverageInvariants().checkViews(of: share)
        try end(share, at: position, statements.revokeShare)
        try end(share, at: position, statements.endShare)
        if let ended = try self.share(share) {
            moved.insert(.zone(ended.zone))
            try note(.shareEnded, of: ended.zone, at: position)
        }
        for forget in [statements.forgetParticipants, statements.forgetRequests] {
            try forget.run(share.value)
        }
        noteEnd(of: share)
    }

    private func end(
        _ share: ShareNumber, at position: Position, _ statement: Statement
    ) throws {
        try statement.run(share.value, position, now)
    }

    func save(_ participant: StoredParticipant, of share: ShareNumber) throws {
        try shareWrites().saveParticipant.run(
            share.value, participant.id, participant.user?.text, participant.address,
            participant.role.rawValue, participant.permission.rawValue,
            participant.status.rawValue, participant.isApprovedRequester ? 1 : 0)
    }

    func removeParticipant(_ id: String, of share: ShareNumber) throws {
        try shareWrites().removeParticipant.run(share.value, id)
    }

    func setShortGUID(_ value: String, of record: RecordNumber) throws {
        try shareWrites().insertShortGUID.run(value, record.value)
    }

    func grant(
        _ share: StoredShare, to viewer: UserRecordName, permission: SharePermission
    ) throws {
        let statements = try shareWrites()
        if try grant(of: share.number, to: viewer) != nil {
            statements.setPermission.bind(share.number.value, viewer.text, permission.rawValue)
            return try statements.setPermission.run()
        }
        guard try zone(ofActive: share.number) == share.zone else {
            throw BrokenInvariant("a grant is of the share's own zone: share \(share.number.value)")
        }
        let position = try takePosition()
        let insert = statements.insertGrant
        try insert.run(
            viewer.text, share.zone.value, share.number.value, permission.rawValue, position)
        try statements.dropViewsFromFeed.run(viewer.text, share.zone.value)
        try statements.openView.run(viewer.text, share.zone.value, position)
        try coverageInvariants().checkView(of: viewer, in: share.zone)
        try moveSight(of: viewer, in: share.zone, at: position)
    }

    func revoke(_ share: ShareNumber, from viewer: UserRecordName) throws {
        guard let grant = try grant(of: share, to: viewer) else { return }
        let position = try takePosition()
        let statements = try shareWrites()
        for (statement, location) in [
            (statements.narrowView, grant.zone.value),
            (statements.revokeGrant, share.value),
        ] {
            try statement.run(location, position, now, viewer.text)
        }
        try coverageInvariants().checkView(of: viewer, in: grant.zone)
        try moveSight(of: viewer, in: grant.zone, at: position)
    }

    private func moveSight(
        of viewer: UserRecordName, in zone: ZoneNumber, at position: Position
    ) throws {
        moved.formUnion([.person(viewer), .zone(zone)])
        try noteSight(of: viewer, in: zone, at: position)
    }

    /// Takes a zone that is deleted at a position away from all its viewers.
    func endShares(of zone: ZoneNumber, at position: Position) throws {
        let statements = try shareWrites()
        for statement in [
            statements.endViewsOfZone, statements.revokeZone,
            statements.endSharesOfZone,
        ] {
            try statement.run(zone.value, position, now)
        }
        noteEnd(of: nil)
    }
}

// What shares cover.
extension SQLiteTransaction {
    func enter(_ membership: StoredMembership) throws {
        _ = try zone(ofActive: membership.share)
        try coverageStatements().insertMembership.run(
            membership.share.value, membership.position, membership.record.value,
            membership.version, membership.type, membership.entered)
        try setMembership(membership.record, by: membership.share, at: membership.position)
    }

    func renew(
        _ record: RecordNumber, _ membership: CurrentMembership, at position: Position, type: Int64
    ) throws {
        try coverageStatements().renewMembership.run(
            membership.share.value, membership.position, position, type, record.value)
        try requireMembership(record, membership)
        try setMembership(record, by: membership.share, at: position)
    }

    func leave(
        _ record: RecordNumber, _ membership: CurrentMembership, at position: Position,
        left: Position
    ) throws {
        let statements = try coverageStatements()
        try statements.leaveMembership.run(
            membership.share.value, membership.position, position, left, now, record.value)
        try requireMembership(record, membership)
        try statements.endMembership.run(record.value)
        touch(membership.share, position)
    }

    /// Coverage leads to its record's membership: so that was there, once.
    private func requireMembership(_ record: RecordNumber, _ membership: CurrentMembership) throws {
        guard connection.changeCount == 1 else {
            throw BrokenInvariant(
                "coverage leads to its membership: record \(record.value) in share \(membership.share.value) "
                    + "at \(membership.position)")
        }
    }

    private func setMembership(
        _ record: RecordNumber, by share: ShareNumber, at position: Position
    ) throws {
        try coverageStatements().setMembership.run(record.value, share.value, position)
        touch(share, position)
    }

    func markCoverageWork(
        _ record: RecordNumber, in zone: ZoneNumber, concerning shares: [ShareNumber],
        since: Position
    ) throws {
        let statements = try coverageStatements()
        noteTrees(in: zone)
        for share in shares {
            try statements.addMark.run(share.value, record.value, since)
        }
    }

    func coverageWorkSince(
        _ record: RecordNumber, concerning share: ShareNumber
    ) throws -> Position? {
        try coverageStatements().markSince.first(share.value, record.value) { $0.int64(0) }
    }

    /// Takes away the notes of the shares that work on a record's children concerned.
    func endCoverageWork(_ record: RecordNumber) throws {
        try coverageStatements().endMarks.run(record.value)
    }
}
