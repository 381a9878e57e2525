import CloudModel
import Storage
import Synchronization

/// Counts what is asked of an engine: each call that waits for an answer is a question.
final class Questions: Sendable {
    private let asked = Mutex<[String]>([])

    var all: [String] { asked.withLock { $0 } }

    func note(_ name: String) { asked.withLock { $0.append(name) } }

    func forget() { asked.withLock { $0 = [] } }
}

/// A snapshot that counts what is asked of another one.
class CountingSnapshot: StoreSnapshot {
    private let snapshot: any StoreSnapshot
    private let questions: Questions

    init(_ snapshot: any StoreSnapshot, _ questions: Questions) {
        self.snapshot = snapshot
        self.questions = questions
    }

    func note(_ name: String) { questions.note(name) }

    // MARK: - ZoneReading

    func owner(named name: UserRecordName) throws -> StoredOwner? {
        note("owner")
        return try snapshot.owner(named: name)
    }

    func ownerName(_ owner: OwnerNumber) throws -> UserRecordName? {
        note("ownerName")
        return try snapshot.ownerName(owner)
    }

    func zone(_ number: ZoneNumber) throws -> StoredZone? {
        note("zone")
        return try snapshot.zone(number)
    }

    func zone(named name: ZoneName, of owner: OwnerNumber) throws -> StoredZone? {
        note("zone")
        return try snapshot.zone(named: name, of: owner)
    }

    func zone(named name: ZoneName, ofOwnerNamed owner: UserRecordName) throws -> StoredZone? {
        note("zone")
        return try snapshot.zone(named: name, ofOwnerNamed: owner)
    }

    func recordCount(of owner: OwnerNumber) throws -> Int {
        note("recordCount")
        return try snapshot.recordCount(of: owner)
    }

    func zoneCount(of owner: OwnerNumber, limit: Int) throws -> Int {
        note("zoneCount")
        return try snapshot.zoneCount(of: owner, limit: limit)
    }

    func zones(of owner: OwnerNumber) throws -> [StoredZone] {
        note("zones")
        return try snapshot.zones(of: owner)
    }

    func zones(of owner: OwnerNumber, changedAfter: Position, limit: Int) throws -> [StoredZone] {
        note("zones")
        return try snapshot.zones(of: owner, changedAfter: changedAfter, limit: limit)
    }

    func lastChange(of owner: OwnerNumber) throws -> Position {
        note("lastChange")
        return try snapshot.lastChange(of: owner)
    }

    // MARK: - RecordReading

    func heads(of names: [RecordName], in zone: ZoneNumber) throws -> [StoredHead?] {
        note("heads")
        return try snapshot.heads(of: names, in: zone)
    }

    func locations(of records: [RecordNumber]) throws -> [RecordLocation?] {
        note("places")
        return try snapshot.locations(of: records)
    }

    func name(at position: Position, in zone: ZoneNumber) throws -> RecordName? {
        note("name")
        return try snapshot.name(at: position, in: zone)
    }

    func version<Value>(
        at position: Position, in zone: ZoneNumber, _ visit: (StoredVersion) throws -> Value
    ) throws -> Value? {
        note("version")
        return try snapshot.version(at: position, in: zone, visit)
    }

    func versions(
        in zone: ZoneNumber, after: Position, through: Position, newestFirst: Bool,
        _ visit: (StoredVersion) throws -> Bool
    ) throws {
        note("versions")
        try snapshot.versions(
            in: zone, after: after, through: through, newestFirst: newestFirst, visit)
    }

    func versions(
        after location: SurveyCursor, limit: Int,
        _ visit: (ZoneNumber, StoredVersion) throws -> Bool
    ) throws -> SurveyCursor? {
        note("versions")
        return try snapshot.versions(after: location, limit: limit, visit)
    }

    func sources(
        of target: RecordName, in zone: ZoneNumber, kinds: ClosedRange<LinkKind>, limit: Int
    ) throws -> [LinkSource] {
        note("sources")
        return try snapshot.sources(of: target, in: zone, kinds: kinds, limit: limit)
    }

    func sources(
        of target: RecordName, in zone: ZoneNumber, kind: LinkKind, after: RecordNumber, limit: Int
    ) throws -> [LinkSource] {
        note("sources")
        return try snapshot.sources(of: target, in: zone, kind: kind, after: after, limit: limit)
    }

    func parents(of records: [RecordNumber]) throws -> [RecordName?] {
        note("parents")
        return try snapshot.parents(of: records)
    }

    func hasLink(_ link: Link, from source: RecordNumber) throws -> Bool {
        note("hasLink")
        return try snapshot.hasLink(link, from: source)
    }

    func children(
        of parent: RecordName, in zone: ZoneNumber, after: RecordNumber, limit: Int
    ) throws -> [RecordNumber] {
        note("children")
        return try snapshot.children(of: parent, in: zone, after: after, limit: limit)
    }

    // MARK: - CurrentRecordReading

    func current(
        of names: [RecordName], in zone: ZoneNumber, inOrder: Bool,
        _ visit: (_ index: Int, StoredVersion) throws -> Bool
    ) throws {
        note("current")
        try snapshot.current(of: names, in: zone, inOrder: inOrder, visit)
    }

    func links(of source: RecordNumber) throws -> [Link] {
        note("links")
        return try snapshot.links(of: source)
    }

    // MARK: - SchemaReading

    var schema: Schema {
        get throws {
            // Each snapshot says by a number whether it has moved, and so it is seldom read.
            return try snapshot.schema
        }
    }

    var identity: StoreIdentity {
        get throws {
            // As the schema.
            return try snapshot.identity
        }
    }

    func recordTypes() throws -> [String: Int64] {
        note("recordTypes")
        return try snapshot.recordTypes()
    }

    func schemaHistory(limit: Int) throws -> [StoredSchemaChange] {
        note("schemaHistory")
        return try snapshot.schemaHistory(limit: limit)
    }

    func assignedRoles(of user: UserRecordName) throws -> Set<Int64> {
        note("assignedRoles")
        return try snapshot.assignedRoles(of: user)
    }

    // MARK: - ShareReading

    func shares(_ keys: ShareKeys) throws -> [StoredShare?] {
        note("shares")
        return try snapshot.shares(keys)
    }

    func shares(in zone: ZoneNumber, limit: Int) throws -> [StoredShare] {
        note("shares")
        return try snapshot.shares(in: zone, limit: limit)
    }

    func participants(of share: ShareNumber) throws -> [StoredParticipant] {
        note("participants")
        return try snapshot.participants(of: share)
    }

    func accessRequests(of share: ShareNumber) throws -> [StoredAccessRequest] {
        note("accessRequests")
        return try snapshot.accessRequests(of: share)
    }

    func accessRequestCount(of user: UserRecordName, since moment: Milliseconds) throws -> Int {
        note("accessRequestCount")
        return try snapshot.accessRequestCount(of: user, since: moment)
    }

    func requestsTold(of share: ShareNumber) throws -> Milliseconds {
        note("requestsTold")
        return try snapshot.requestsTold(of: share)
    }

    func participations(of user: UserRecordName) throws -> [(ShareNumber, StoredParticipant)] {
        note("participations")
        return try snapshot.participations(of: user)
    }

    func invitations(to address: String) throws -> [(ShareNumber, StoredParticipant)] {
        note("invitations")
        return try snapshot.invitations(to: address)
    }

    func shortGUID(of record: RecordNumber) throws -> String? {
        note("shortGUID")
        return try snapshot.shortGUID(of: record)
    }

    func record(ofShortGUID value: String) throws -> RecordNumber? {
        note("record")
        return try snapshot.record(ofShortGUID: value)
    }

    func grants(of shares: [ShareNumber], to viewer: UserRecordName) throws -> [StoredGrant?] {
        note("grants")
        return try snapshot.grants(of: shares, to: viewer)
    }

    func grants(
        of viewer: UserRecordName, in zone: ZoneNumber, changedAfter: Position
    ) throws -> [StoredGrant] {
        note("grants")
        return try snapshot.grants(of: viewer, in: zone, changedAfter: changedAfter)
    }

    func view(of viewer: UserRecordName, in zone: ZoneNumber) throws -> StoredView? {
        note("view")
        return try snapshot.view(of: viewer, in: zone)
    }

    func views(of viewer: UserRecordName, changedAfter: Position, limit: Int) throws -> [StoredView]
    {
        note("views")
        return try snapshot.views(of: viewer, changedAfter: changedAfter, limit: limit)
    }

    func lastViewChange(of viewer: UserRecordName) throws -> Position {
        note("lastViewChange")
        return try snapshot.lastViewChange(of: viewer)
    }

    func zonesViewed(by viewer: UserRecordName) throws -> [StoredZone] {
        note("zonesViewed")
        return try snapshot.zonesViewed(by: viewer)
    }

    func viewsWholeAfter(of viewer: UserRecordName) throws -> Position {
        note("viewsWholeAfter")
        return try snapshot.viewsWholeAfter(of: viewer)
    }

    func currentMemberships(of records: [RecordNumber]) throws -> [CurrentMembership?] {
        note("currentMemberships")
        return try snapshot.currentMemberships(of: records)
    }

    func memberships(
        of share: ShareNumber, in zone: ZoneNumber, after: Position, limit: Int, withVersions: Bool
    ) throws -> MembershipRun {
        note("memberships")
        return try snapshot.memberships(
            of: share, in: zone, after: after, limit: limit, withVersions: withVersions)
    }

    func changedMemberships(
        of viewer: UserRecordName, in zone: ZoneNumber, after: Position, limit: Int
    ) throws -> MembershipRun? {
        note("changedMemberships")
        return try snapshot.changedMemberships(of: viewer, in: zone, after: after, limit: limit)
    }

    func isWhole(_ share: ShareNumber) throws -> Bool {
        note("isWhole")
        return try snapshot.isWhole(share)
    }

    func isWhole(_ zone: ZoneNumber) throws -> Bool {
        note("isWhole")
        return try snapshot.isWhole(zone)
    }

    // MARK: - AssetReading

    func assetReceipt(_ id: [UInt8]) throws -> StoredReceipt? {
        note("assetReceipt")
        return try snapshot.assetReceipt(id)
    }

    func assetBytes(of record: RecordNumber) throws -> Int {
        note("assetBytes")
        return try snapshot.assetBytes(of: record)
    }

    func unusedAssets(since moment: Milliseconds, limit: Int) throws -> [AssetDigest] {
        note("unusedAssets")
        return try snapshot.unusedAssets(since: moment, limit: limit)
    }

    func unknownAssets(among digests: [AssetDigest]) throws -> [AssetDigest] {
        note("unknownAssets")
        return try snapshot.unknownAssets(among: digests)
    }

    // MARK: - ClientTokenReading

    func clientToken(_ key: ClientTokenKey) throws -> [UInt8]? {
        note("clientToken")
        return try snapshot.clientToken(key)
    }

    // MARK: - SubscriptionReading

    func subscription(_ id: SubscriptionID, of owner: SubscriptionOwner) throws -> Subscription? {
        note("subscription")
        return try snapshot.subscription(id, of: owner)
    }

    func subscriptions(of owner: SubscriptionOwner) throws -> [Subscription] {
        note("subscriptions")
        return try snapshot.subscriptions(of: owner)
    }

    func allSubscriptions(
        of user: UserRecordName?, _ request: ListRequest
    ) throws -> ListPage<WatchingSubscription> {
        note("allSubscriptions")
        return try snapshot.allSubscriptions(of: user, request)
    }

    func subscriptionRevision() throws -> Int64 {
        note("subscriptionRevision")
        return try snapshot.subscriptionRevision()
    }

    func hasSubscriptions() throws -> Bool {
        note("hasSubscriptions")
        return try snapshot.hasSubscriptions()
    }

    func watching(of owner: SubscriptionOwner) throws -> [WatchingSubscription] {
        note("watching")
        return try snapshot.watching(of: owner)
    }

    func watchingPublic(
        _ type: RecordTypeName, requiring match: SubscriptionMatch?
    ) throws -> [WatchingSubscription] {
        note("watchingPublic")
        return try snapshot.watchingPublic(type, requiring: match)
    }

    func fieldsRequired(of type: RecordTypeName) throws -> [String] {
        note("fieldsRequired")
        return try snapshot.fieldsRequired(of: type)
    }

    func watchers(ofShared zone: ZoneNumber) throws -> [UserRecordName] {
        note("watchers")
        return try snapshot.watchers(ofShared: zone)
    }

    // MARK: - ChangeReading

    func lastPosition() throws -> Position {
        note("lastPosition")
        return try snapshot.lastPosition()
    }

    func position(of follower: FollowerName) throws -> Position? {
        note("position")
        return try snapshot.position(of: follower)
    }

    func changes(
        after position: Position, limit: Int, _ visit: (FollowedChange) throws -> Bool
    ) throws -> Position? {
        note("changes")
        return try snapshot.changes(after: position, limit: limit, visit)
    }

    // MARK: - DestinationReading

    func destinations(_ keys: DestinationKeys) throws -> [StoredDestination] {
        note("destinations")
        return try snapshot.destinations(keys)
    }

    func destinationsDue(
        _ kinds: Set<DestinationKind>, by moment: Milliseconds, limit: Int
    ) throws -> [StoredDestination] {
        note("destinationsDue")
        return try snapshot.destinationsDue(kinds, by: moment, limit: limit)
    }

    func nextDestinationMoment(after moment: Milliseconds) throws -> Milliseconds? {
        note("nextDestinationMoment")
        return try snapshot.nextDestinationMoment(after: moment)
    }

    // MARK: - OutboxReading

    func notices(
        for destination: DestinationNumber, after number: NoticeNumber, limit: Int
    ) throws -> [StoredNotice] {
        note("notices")
        return try snapshot.notices(for: destination, after: number, limit: limit)
    }

    func outboxState() throws -> (count: Int, oldest: Milliseconds?) {
        note("outboxState")
        return try snapshot.outboxState()
    }

    func deadLetters(
        of destination: DestinationNumber, after number: NoticeNumber, limit: Int
    ) throws -> [DeadLetter] {
        note("deadLetters")
        return try snapshot.deadLetters(of: destination, after: number, limit: limit)
    }

    // MARK: - ErasureReading

    func notices(speakingOf person: UserRecordName) throws -> [NoticeNumber] {
        note("notices")
        return try snapshot.notices(speakingOf: person)
    }

    func isFollowed(through position: Position) throws -> Bool {
        note("isFollowed")
        return try snapshot.isFollowed(through: position)
    }

    // MARK: - StoreSnapshot

    func page(
        of query: StoreQuery, _ visit: (StoredVersion) throws -> Void
    ) throws -> QueryCursor? {
        note("page")
        return try snapshot.page(of: query, visit)
    }

    func words(in text: String) throws -> [[UInt8]] {
        note("words")
        return try snapshot.words(in: text)
    }

    func isWorkQueued(ofAny kinds: [WorkKind]) throws -> Bool {
        note("isWorkQueued")
        return try snapshot.isWorkQueued(ofAny: kinds)
    }

    func checkStop() throws {
        try snapshot.checkStop()
    }
}
