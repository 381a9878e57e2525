import CloudModel
import Storage

// What a write reads of shares, it reads on its own connection.
extension SQLiteTransaction {
    func shares(_ keys: ShareKeys) throws -> [StoredShare?] { try snapshot.shares(keys) }

    func shares(in zone: ZoneNumber, limit: Int) throws -> [StoredShare] {
        try snapshot.shares(in: zone, limit: limit)
    }

    func participants(of share: ShareNumber) throws -> [StoredParticipant] {
        try snapshot.participants(of: share)
    }

    func accessRequests(of share: ShareNumber) throws -> [StoredAccessRequest] {
        try snapshot.accessRequests(of: share)
    }

    func accessRequestCount(of user: UserRecordName, since moment: Milliseconds) throws -> Int {
        try snapshot.accessRequestCount(of: user, since: moment)
    }

    func requestsTold(of share: ShareNumber) throws -> Milliseconds {
        try snapshot.requestsTold(of: share)
    }

    func participations(of user: UserRecordName) throws -> [(ShareNumber, StoredParticipant)] {
        try snapshot.participations(of: user)
    }

    func invitations(to address: String) throws -> [(ShareNumber, StoredParticipant)] {
        try snapshot.invitations(to: address)
    }

    func shortGUID(of record: RecordNumber) throws -> String? { try snapshot.shortGUID(of: record) }

    func record(ofShortGUID value: String) throws -> RecordNumber? {
        try snapshot.record(ofShortGUID: value)
    }

    func places(of records: [RecordNumber]) throws -> [RecordPlace?] {
        try snapshot.places(of: records)
    }

    func grants(of shares: [ShareNumber], to viewer: UserRecordName) throws -> [StoredGrant?] {
        try snapshot.grants(of: shares, to: viewer)
    }

    func grants(
        of viewer: UserRecordName, in zone: ZoneNumber, changedAfter: Position
    ) throws -> [StoredGrant] {
        try snapshot.grants(of: viewer, in: zone, changedAfter: changedAfter)
    }

    func view(of viewer: UserRecordName, in zone: ZoneNumber) throws -> StoredView? {
        try snapshot.view(of: viewer, in: zone)
    }

    func views(of viewer: UserRecordName, changedAfter: Position, limit: Int) throws -> [StoredView]
    { try snapshot.views(of: viewer, changedAfter: changedAfter, limit: limit) }

    func lastViewChange(of viewer: UserRecordName) throws -> Position {
        try snapshot.lastViewChange(of: viewer)
    }

    func zonesViewed(by viewer: UserRecordName) throws -> [StoredZone] {
        try snapshot.zonesViewed(by: viewer)
    }

    func viewsWholeAfter(of viewer: UserRecordName) throws -> Position {
        try snapshot.viewsWholeAfter(of: viewer)
    }

    func ownerName(_ owner: OwnerNumber) throws -> UserRecordName? { try snapshot.ownerName(owner) }

    func covers(of records: [RecordNumber]) throws -> [StoredCover?] {
        try snapshot.covers(of: records)
    }

    func stays(
        of share: ShareNumber, in zone: ZoneNumber, after: Position, limit: Int,
        withVersions: Bool
    ) throws -> StayRun {
        try snapshot.stays(
            of: share, in: zone, after: after, limit: limit, withVersions: withVersions)
    }

    func changedStays(
        of viewer: UserRecordName, in zone: ZoneNumber, after: Position, limit: Int
    ) throws -> StayRun? {
        try snapshot.changedStays(of: viewer, in: zone, after: after, limit: limit)
    }

    func parents(of records: [RecordNumber]) throws -> [RecordName?] {
        try snapshot.parents(of: records)
    }

    func hasLink(_ link: Link, from source: RecordNumber) throws -> Bool {
        try snapshot.hasLink(link, from: source)
    }

    func children(
        of parent: RecordName, in zone: ZoneNumber, after: RecordNumber, limit: Int
    ) throws -> [RecordNumber] {
        try snapshot.children(of: parent, in: zone, after: after, limit: limit)
    }

    func isWhole(_ share: ShareNumber) throws -> Bool { try snapshot.isWhole(share) }

    func isWhole(_ zone: ZoneNumber) throws -> Bool { try snapshot.isWhole(zone) }
}
