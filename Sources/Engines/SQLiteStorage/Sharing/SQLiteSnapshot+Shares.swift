import CloudModel
import SQLite
import Storage

// Who takes part in what, and what viewers have.
extension SQLiteSnapshot {
    func shares(_ keys: ShareKeys) throws -> [StoredShare?] {
        let statements = try shareStatements()
        let (statement, numbers) =
            switch keys {
            case .numbers(let numbers): (statements.shareByNumber, numbers.map(\.value))
            case .roots(let roots): (statements.shareByRoot, roots.map(\.value))
            case .records(let records): (statements.shareByRecord, records.map(\.value))
            }
        return try numbers.map { try statement.first($0, row: Self.share) }
    }

    func shares(in zone: ZoneNumber, limit: Int) throws -> [StoredShare] {
        try shareStatements().sharesOfZone.all(zone.value, limit, row: Self.share)
    }

    func participants(of share: ShareNumber) throws -> [StoredParticipant] {
        try shareStatements().participants.all(share.value, row: Self.participant).map(\.1)
    }

    func accessRequests(of share: ShareNumber) throws -> [StoredAccessRequest] {
        try shareStatements().accessRequests.all(share.value) { row in
            guard let user = UserRecordName(row.string(0)),
                let state = RequestState(rawValue: row.int64(2))
            else { throw InvalidRow(table: "access_requests") }
            return StoredAccessRequest(
                user: user, madeAt: row.int64(1), isBlocked: state == .blocked)
        }
    }

    func accessRequestCount(of user: UserRecordName, since moment: Milliseconds) throws -> Int {
        try shareStatements().accessRequestCount.first(user.text, moment) { Int($0.int64(0)) } ?? 0
    }

    func requestsTold(of share: ShareNumber) throws -> Milliseconds {
        try shareStatements().requestsTold.first(share.value) { $0.int64(0) } ?? 0
    }

    func participations(of user: UserRecordName) throws -> [(ShareNumber, StoredParticipant)] {
        try shareStatements().participations.all(user.text, row: Self.participant)
    }

    func invitations(to address: String) throws -> [(ShareNumber, StoredParticipant)] {
        try shareStatements().invitations.all(address, row: Self.participant)
    }

    func shortGUID(of record: RecordNumber) throws -> String? {
        try shareStatements().shortGUID.first(record.value) { $0.string(0) }
    }

    func record(ofShortGUID value: String) throws -> RecordNumber? {
        try shareStatements().recordByShortGUID.first(value) { RecordNumber($0.int64(0)) }
    }

    func locations(of records: [RecordNumber]) throws -> [RecordLocation?] {
        try records.map(location)
    }

    private func location(_ record: RecordNumber) throws -> RecordLocation? {
        try shareStatements().location.first(record.value) { row in
            guard let name = RecordName(row.string(1)) else { throw InvalidRow(table: "heads") }
            return RecordLocation(
                zone: ZoneNumber(row.int64(0)), name: name, position: row.int64(2))
        }
    }

    func grants(of shares: [ShareNumber], to viewer: UserRecordName) throws -> [StoredGrant?] {
        let statement = try shareStatements().grant
        return try shares.map { try statement.first($0.value, viewer.text, row: Self.grant) }
    }

    func grants(
        of viewer: UserRecordName, in zone: ZoneNumber, changedAfter: Position
    ) throws -> [StoredGrant] {
        try shareStatements().grantsChanged.all(
            viewer.text, zone.value, changedAfter, row: Self.grant)
    }

    func view(of viewer: UserRecordName, in zone: ZoneNumber) throws -> StoredView? {
        try shareStatements().view.first(viewer.text, zone.value, row: Self.view)
    }

    func views(
        of viewer: UserRecordName, changedAfter: Position, limit: Int
    ) throws -> [StoredView] {
        try shareStatements().viewsChanged.all(viewer.text, changedAfter, limit, row: Self.view)
    }

    func lastViewChange(of viewer: UserRecordName) throws -> Position {
        try shareStatements().lastViewChange.first(viewer.text) { max(0, $0.int64(0)) } ?? 0
    }

    func zonesViewed(by viewer: UserRecordName) throws -> [StoredZone] {
        try shareStatements().zonesViewed.all(viewer.text, row: Self.zone)
    }

    func viewsWholeAfter(of viewer: UserRecordName) throws -> Position {
        try shareStatements().viewsWholeAfter.first(viewer.text) { $0.int64(0) } ?? 0
    }

    func ownerName(_ owner: OwnerNumber) throws -> UserRecordName? {
        try shareStatements().ownerName.first(owner.value) { row in
            let text = row.string(0)
            return text == UserRecordName.publicOwner.text ? .publicOwner : UserRecordName(text)
        }
    }

    private static func share(_ row: Statement) throws -> StoredShare {
        guard let permission = SharePermission(rawValue: row.int64(4)) else {
            throw InvalidRow(table: "shares")
        }
        return StoredShare(
            number: ShareNumber(row.int64(0)), zone: ZoneNumber(row.int64(1)),
            record: RecordNumber(row.int64(2)),
            root: row.isNull(3) ? nil : RecordNumber(row.int64(3)),
            publicPermission: permission, allowsRequests: row.int64(7) != 0,
            created: row.int64(5), ended: row.isNull(6) ? nil : row.int64(6))
    }

    private static func participant(_ row: Statement) throws -> (ShareNumber, StoredParticipant) {
        guard let role = ParticipantRole(rawValue: row.int64(4)),
            let permission = SharePermission(rawValue: row.int64(5)),
            let status = AcceptanceStatus(rawValue: row.int64(6))
        else { throw InvalidRow(table: "participants") }
        return (
            ShareNumber(row.int64(0)),
            StoredParticipant(
                id: row.string(1), user: row.isNull(2) ? nil : UserRecordName(row.string(2)),
                address: row.isNull(3) ? nil : row.string(3), role: role, permission: permission,
                status: status, isApprovedRequester: row.int64(7) != 0)
        )
    }

    private static func grant(_ row: Statement) throws -> StoredGrant {
        guard let permission = SharePermission(rawValue: row.int64(2)) else {
            throw InvalidRow(table: "grants")
        }
        return StoredGrant(
            share: ShareNumber(row.int64(0)), zone: ZoneNumber(row.int64(1)),
            permission: permission,
            granted: row.int64(3), revoked: row.isNull(4) ? nil : row.int64(4),
            changed: row.int64(5))
    }

    private static func view(_ row: Statement) -> StoredView {
        StoredView(
            zone: ZoneNumber(row.int64(0)), since: row.int64(1),
            ended: row.isNull(2) ? nil : row.int64(2), changed: row.int64(3),
            oldestValidPosition: row.int64(4))
    }
}

/// What a stored request has come to; the numbers are stored.
enum RequestState: Int64 {
    /// Only counts, for it led nowhere or has been decided.
    case counted = 0
    case waiting = 1
    case blocked = 2
}
