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
        let statement = try shareWrites().shares.insertShare
        statement.bind(zone.value, at: 1)
        statement.bind(record.value, at: 2)
        if let root { statement.bind(root.value, at: 3) } else { statement.bindNull(at: 3) }
        statement.bind(publicPermission.rawValue, at: 4)
        statement.bind(position, at: 5)
        try statement.run()
        noteTrees(in: zone)
        return StoredShare(
            number: ShareNumber(connection.lastInsertedRowID), zone: zone, record: record,
            root: root, publicPermission: publicPermission, created: position, ended: nil)
    }

    func save(_ share: StoredShare) throws {
        let statement = try shareWrites().shares.updateShare
        statement.bind(share.number.value, at: 1)
        statement.bind(share.publicPermission.rawValue, at: 2)
        statement.bind(Int64(share.allowsRequests ? 1 : 0), at: 3)
        statement.bind(share.requestsToldAt ?? 0, at: 4)
        try statement.run()
    }

    func endShare(_ share: ShareNumber) throws {
        let position = try takePosition()
        let statements = try shareWrites()
        // Views first: which they are, the grants say.
        try end(share, at: position, statements.viewers.endViewsOfShare)
        try coverageInvariants().checkViews(of: share)
        try end(share, at: position, statements.viewers.revokeShare)
        try end(share, at: position, statements.shares.endShare)
        if let ended = try self.share(share) {
            moved.insert(.zone(ended.zone))
            try note(.shareEnded, of: ended.zone, at: position)
        }
        for forget in [statements.shares.forgetParticipants, statements.shares.forgetRequests] {
            forget.bind(share.value, at: 1)
            try forget.run()
        }
        noteEnd(of: share)
    }

    private func end(
        _ share: ShareNumber, at position: Position, _ statement: Statement
    ) throws {
        statement.bind(share.value, at: 1)
        statement.bind(position, at: 2)
        statement.bind(now, at: 3)
        try statement.run()
    }

    func save(
        _ participants: [StoredParticipant], removing ids: [String], of share: ShareNumber
    ) throws {
        let remove = try shareWrites().shares.removeParticipant
        for id in ids {
            remove.bind(share.value, at: 1)
            remove.bind(id, at: 2)
            try remove.run()
        }
        for participant in participants { try write(participant, of: share) }
    }

    private func write(_ participant: StoredParticipant, of share: ShareNumber) throws {
        let statement = try shareWrites().shares.saveParticipant
        statement.bind(share.value, at: 1)
        statement.bind(participant.id, at: 2)
        bind(participant.user?.text, at: 3, of: statement)
        bind(participant.address, at: 4, of: statement)
        statement.bind(participant.role.rawValue, at: 5)
        statement.bind(participant.permission.rawValue, at: 6)
        statement.bind(participant.status.rawValue, at: 7)
        statement.bind(Int64(participant.isApprovedRequester ? 1 : 0), at: 8)
        try statement.run()
    }

    private func bind(_ text: String?, at index: Int32, of statement: Statement) {
        if let text { statement.bind(text, at: index) } else { statement.bindNull(at: index) }
    }

    /// Gives a record a short identifier, unless it has one already.
    func keep(shortGUID value: String, of record: RecordNumber) throws {
        let statement = try shareWrites().shares.insertShortGUID
        statement.bind(value, at: 1)
        statement.bind(record.value, at: 2)
        try statement.run()
    }

    func set(_ changes: [GrantChange], of share: ShareNumber) throws {
        for change in changes { try set(change.permission, of: share, for: change.viewer) }
    }

    private func set(
        _ permission: SharePermission?, of share: ShareNumber, for viewer: UserRecordName
    ) throws {
        let known = try grant(of: share, to: viewer)
        switch (known, permission) {
        case (nil, nil): break
        case (nil, let permission?): try insert(share, viewer, permission)
        case (let known?, nil): try end(known, of: viewer)
        case (_?, let permission?):
            let statement = try shareWrites().viewers.setPermission
            statement.bind(share.value, at: 1)
            statement.bind(viewer.text, at: 2)
            statement.bind(permission.rawValue, at: 3)
            try statement.run()
        }
    }

    private func insert(
        _ share: ShareNumber, _ viewer: UserRecordName, _ permission: SharePermission
    ) throws {
        let zone = try zone(ofActive: share)
        let statements = try shareWrites()
        let position = try takePosition()
        let insert = statements.viewers.insertGrant
        insert.bind(viewer.text, at: 1)
        insert.bind(zone.value, at: 2)
        insert.bind(share.value, at: 3)
        insert.bind(permission.rawValue, at: 4)
        insert.bind(position, at: 5)
        try insert.run()
        statements.viewers.dropViewsFromFeed.bind(viewer.text, at: 1)
        statements.viewers.dropViewsFromFeed.bind(zone.value, at: 2)
        try statements.viewers.dropViewsFromFeed.run()
        statements.viewers.openView.bind(viewer.text, at: 1)
        statements.viewers.openView.bind(zone.value, at: 2)
        statements.viewers.openView.bind(position, at: 3)
        try statements.viewers.openView.run()
        try coverageInvariants().checkView(of: viewer, in: zone)
        try moveSight(of: viewer, in: zone, at: position)
    }

    private func end(_ grant: StoredGrant, of viewer: UserRecordName) throws {
        let position = try takePosition()
        let statements = try shareWrites()
        for (statement, location) in [
            (statements.viewers.narrowView, grant.zone.value),
            (statements.viewers.revokeGrant, grant.share.value),
        ] {
            statement.bind(location, at: 1)
            statement.bind(position, at: 2)
            statement.bind(now, at: 3)
            statement.bind(viewer.text, at: 4)
            try statement.run()
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

    /// Takes a zone that is deleted at a position away from everyone who saw something of it.
    func endShares(of zone: ZoneNumber, at position: Position) throws {
        let statements = try shareWrites()
        for statement in [
            statements.viewers.endViewsOfZone, statements.viewers.revokeZone,
            statements.shares.endSharesOfZone,
        ] {
            statement.bind(zone.value, at: 1)
            statement.bind(position, at: 2)
            statement.bind(now, at: 3)
            try statement.run()
        }
        noteEnd(of: nil)
    }
}

// What shares cover.
extension SQLiteTransaction {
    func move(_ membership: MembershipMove) throws {
        let (record, position) = (membership.record, membership.position)
        switch (membership.previous, membership.next) {
        case (nil, let next?): try enter(record, next, at: position)
        case (let previous?, let next?):
            guard previous.share == next.share else {
                throw BrokenInvariant(
                    "a record leaves a share before it comes into another: \(record.value)")
            }
            try renew(record, previous, at: position, type: next.type)
        case (let previous?, nil):
            try leave(record, previous, at: position, left: membership.left)
        case (nil, nil): break
        }
    }

    private func enter(
        _ record: RecordNumber, _ next: MembershipMove.Next, at position: Position
    ) throws {
        _ = try zone(ofActive: next.share)
        let insert = try coverageStatements().insertMembership
        insert.bind(next.share.value, at: 1)
        insert.bind(position, at: 2)
        insert.bind(record.value, at: 3)
        insert.bind(next.version, at: 4)
        insert.bind(next.type, at: 5)
        insert.bind(position, at: 6)
        try insert.run()
        try setMembership(record, by: next.share, at: position)
    }

    private func renew(
        _ record: RecordNumber, _ membership: CurrentMembership, at position: Position, type: Int64
    ) throws {
        let renew = try coverageStatements().renewMembership
        renew.bind(membership.share.value, at: 1)
        renew.bind(membership.position, at: 2)
        renew.bind(position, at: 3)
        renew.bind(type, at: 4)
        renew.bind(record.value, at: 5)
        try renew.run()
        try requireMembership(record, membership)
        try setMembership(record, by: membership.share, at: position)
    }

    private func leave(
        _ record: RecordNumber, _ membership: CurrentMembership, at position: Position,
        left: Position
    ) throws {
        let statements = try coverageStatements()
        statements.leaveMembership.bind(membership.share.value, at: 1)
        statements.leaveMembership.bind(membership.position, at: 2)
        statements.leaveMembership.bind(position, at: 3)
        statements.leaveMembership.bind(left, at: 4)
        statements.leaveMembership.bind(now, at: 5)
        statements.leaveMembership.bind(record.value, at: 6)
        try statements.leaveMembership.run()
        try requireMembership(record, membership)
        statements.endMembership.bind(record.value, at: 1)
        try statements.endMembership.run()
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
        let set = try coverageStatements().setMembership
        set.bind(record.value, at: 1)
        set.bind(share.value, at: 2)
        set.bind(position, at: 3)
        try set.run()
        touch(share, position)
    }

    /// Notes the shares that work on a record's children concerns.
    func mark(
        _ children: MovedChildren, of record: RecordNumber, in zone: ZoneNumber
    ) throws {
        let statements = try coverageStatements()
        noteTrees(in: zone)
        for share in children.shares {
            statements.addMark.bind(share.value, at: 1)
            statements.addMark.bind(record.value, at: 2)
            statements.addMark.bind(children.since, at: 3)
            try statements.addMark.run()
        }
    }

    /// Takes away the notes of the shares that work on a record's children concerned.
    func endCoverageWork(_ record: RecordNumber) throws {
        let statement = try coverageStatements().endMarks
        statement.bind(record.value, at: 1)
        try statement.run()
    }
}
