import CloudModel
import Storage
import Synchronization

/// Counts what is asked of an engine: each call that waits for an answer is a question.
final class Questions: Sendable {
    /// What was asked for by name.
    struct Subjects: Equatable {
        var owners: Set<UserRecordName> = []
        var zones: Set<ZoneName> = []
        var records: Set<RecordName> = []
    }

    private let asked = Mutex<[String]>([])
    /// The queued work of which steps were done, in their order.
    private let left = Mutex<[WorkTask]>([])
    private let subjects = Mutex(Subjects())
    /// What writes have said that they would ask for.
    private let needs = Mutex(Subjects())

    var all: [String] { asked.withLock { $0 } }
    var allLeft: [WorkTask] { left.withLock { $0 } }
    var askedFor: Subjects { subjects.withLock { $0 } }
    var needed: Subjects { needs.withLock { $0 } }

    func note(_ name: String) { asked.withLock { $0.append(name) } }

    func noteLeft(_ task: WorkTask) { left.withLock { $0.append(task) } }

    func note(_ change: (inout Subjects) -> Void) { subjects.withLock { change(&$0) } }

    func note(_ needed: StoreNeeds) {
        needs.withLock { needs in
            if let owner = needed.owner { needs.owners.insert(owner) }
            if let zone = needed.zone { needs.zones.insert(zone) }
            needs.records.formUnion(needed.records)
        }
    }

    func forget() {
        asked.withLock { $0 = [] }
        subjects.withLock { $0 = Subjects() }
        needs.withLock { $0 = Subjects() }
    }
}

/// A snapshot that counts what is asked of another one.
class CountingSnapshot: StoreSnapshot {
    private let snapshot: any StoreSnapshot
    let questions: Questions

    init(_ snapshot: any StoreSnapshot, _ questions: Questions) {
        self.snapshot = snapshot
        self.questions = questions
    }

    func note(_ name: String) { questions.note(name) }

    // MARK: - ZoneReading

    func owners(_ keys: [OwnerKey]) throws -> [StoredOwner?] {
        note("owners")
        for case .name(let name) in keys { questions.note { $0.owners.insert(name) } }
        return try snapshot.owners(keys)
    }

    func amount(of owner: OwnerNumber?) throws -> (bytes: Int64, owners: Int, records: Int?) {
        note("amount")
        return try snapshot.amount(of: owner)
    }

    func zones(_ keys: [ZoneKey]) throws -> [StoredZone?] {
        note("zones")
        questions.note { subjects in
            for key in keys {
                switch key {
                case .number: break
                case .name(let name, _): subjects.zones.insert(name)
                case .nameOfOwner(let name, let owner):
                    subjects.zones.insert(name)
                    subjects.owners.insert(owner)
                }
            }
        }
        return try snapshot.zones(keys)
    }

    func zones(of owner: OwnerNumber, _ selection: ZoneSelection) throws -> [StoredZone] {
        note("zones")
        return try snapshot.zones(of: owner, selection)
    }

    // MARK: - RecordReading

    func heads(of names: [RecordName], in zone: ZoneNumber) throws -> [StoredHead?] {
        note("heads")
        questions.note { $0.records.formUnion(names) }
        return try snapshot.heads(of: names, in: zone)
    }

    func locations(_ keys: LocationKeys) throws -> [RecordLocation?] {
        note("places")
        return try snapshot.locations(keys)
    }

    func versions(
        in zone: ZoneNumber, after: Position, through: Position, newestFirst: Bool, expected: Int?,
        _ visit: (StoredVersion) throws -> Bool
    ) throws {
        note("versions")
        try snapshot.versions(
            in: zone, after: after, through: through, newestFirst: newestFirst,
            expected: expected, visit)
    }

    func versions(
        after location: SurveyCursor, limit: Int,
        _ visit: (ZoneNumber, StoredVersion) throws -> Bool
    ) throws -> SurveyCursor? {
        note("versions")
        return try snapshot.versions(after: location, limit: limit, visit)
    }

    func sources(
        of targets: [RecordName], in zone: ZoneNumber, kinds: ClosedRange<LinkKind>,
        after: RecordNumber, limit: Int
    ) throws -> [[LinkSource]] {
        note("sources")
        return try snapshot.sources(
            of: targets, in: zone, kinds: kinds, after: after, limit: limit)
    }

    // MARK: - CurrentRecordReading

    func current(
        _ keys: CurrentKeys, inOrder: Bool,
        _ visit: (_ index: Int, StoredVersion) throws -> Bool
    ) throws {
        note("current")
        if case .names(let names, _) = keys { questions.note { $0.records.formUnion(names) } }
        try snapshot.current(keys, inOrder: inOrder, visit)
    }

    func links(
        of records: [RecordNumber], kinds: ClosedRange<LinkKind>
    ) throws -> [[Link]] {
        note("links")
        return try snapshot.links(of: records, kinds: kinds)
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

    func schemaHistory(limit: Int) throws -> [StoredSchemaChange] {
        note("schemaHistory")
        return try snapshot.schemaHistory(limit: limit)
    }

    func assignedRoles(of users: [UserRecordName]) throws -> [Set<Int64>] {
        note("assignedRoles")
        return try snapshot.assignedRoles(of: users)
    }

    // MARK: - ShareReading

    func shares(_ keys: ShareKeys) throws -> [StoredShare?] {
        note("shares")
        return try snapshot.shares(keys)
    }

    func participants(
        _ keys: [ParticipantKey]
    ) throws -> [[(ShareNumber, StoredParticipant)]] {
        note("participants")
        return try snapshot.participants(keys)
    }

    func accessRequests(_ keys: [AccessRequestKey]) throws -> [[StoredAccessRequest]] {
        note("accessRequests")
        return try snapshot.accessRequests(keys)
    }

    func shortGUIDs(_ keys: [ShortGUIDKey]) throws -> [StoredShortGUID?] {
        note("shortGUIDs")
        return try snapshot.shortGUIDs(keys)
    }

    func grants(_ keys: [GrantKey]) throws -> [[StoredGrant]] {
        note("grants")
        return try snapshot.grants(keys)
    }

    func views(of viewer: UserRecordName, _ selection: ViewSelection) throws -> [StoredView] {
        note("views")
        return try snapshot.views(of: viewer, selection)
    }

    func viewer(_ name: UserRecordName) throws -> StoredViewer {
        note("viewer")
        return try snapshot.viewer(name)
    }

    func currentMemberships(of records: [RecordNumber]) throws -> [CurrentMembership?] {
        note("currentMemberships")
        return try snapshot.currentMemberships(of: records)
    }

    func memberships(
        _ selections: [MembershipSelection], in zone: ZoneNumber
    ) throws -> [MembershipRun?] {
        note("memberships")
        return try snapshot.memberships(selections, in: zone)
    }

    func coverageWork(_ keys: [CoverageWorkKey]) throws -> [Position?] {
        note("coverageWork")
        return try snapshot.coverageWork(keys)
    }

    // MARK: - AssetReading

    func assetReceipts(_ ids: [[UInt8]]) throws -> [StoredReceipt?] {
        note("assetReceipts")
        return try snapshot.assetReceipts(ids)
    }

    func assetBytes(of records: [RecordNumber]) throws -> [Int] {
        note("assetBytes")
        return try snapshot.assetBytes(of: records)
    }

    func assets(_ selection: AssetSelection) throws -> [AssetDigest] {
        note("assets")
        return try snapshot.assets(selection)
    }

    // MARK: - ClientTokenReading

    func clientToken(_ key: ClientTokenKey) throws -> [UInt8]? {
        note("clientToken")
        return try snapshot.clientToken(key)
    }

    // MARK: - SubscriptionReading

    func subscriptions(_ keys: SubscriptionKeys) throws -> [WatchingSubscription] {
        note("subscriptions")
        return try snapshot.subscriptions(keys)
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

    func fieldsRequired(of type: RecordTypeName) throws -> [String] {
        note("fieldsRequired")
        return try snapshot.fieldsRequired(of: type)
    }

    func watchers(ofShared zone: ZoneNumber) throws -> [UserRecordName] {
        note("watchers")
        return try snapshot.watchers(ofShared: zone)
    }

    // MARK: - ChangeReading

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

    // MARK: - OutboxReading

    func notices(
        _ keys: NoticeKeys, after number: NoticeNumber, limit: Int
    ) throws -> [StoredNotice] {
        note("notices")
        return try snapshot.notices(keys, after: number, limit: limit)
    }

    func noticeSummaries(
        _ state: NoticeState, for destinations: [DestinationNumber]?, countedMax: Int
    ) throws -> [NoticeSummary] {
        note("noticeSummaries")
        return try snapshot.noticeSummaries(state, for: destinations, countedMax: countedMax)
    }

    // MARK: - StoreSnapshot

    func page(
        of query: StoreQuery, _ visit: (StoredVersion) throws -> Void
    ) throws -> QueryCursor? {
        note("page")
        return try snapshot.page(of: query, visit)
    }

    func nextWorkMoment(_ kinds: [WorkKind]?, for holder: WorkHolder) throws -> Milliseconds? {
        note("nextWorkMoment")
        return try snapshot.nextWorkMoment(kinds, for: holder)
    }
}
