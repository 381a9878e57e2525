import CloudModel
import Cryptography
import Storage

/// Finds who must hear of the changes of one store (semantics.md §5, rulings.md 41, 42 and 58).
///
/// Only one thread may use it at a time.
final class NoticeMatching {
    private let source: NoticeSource
    private let limits: ServiceLimits
    private let index: WatchingIndex
    private var pageNumber: UInt64 = 0

    init(
        at source: NoticeSource, limits: ServiceLimits, decode: @escaping WatchingIndex.Decode
    ) {
        self.source = source
        self.limits = limits
        index = WatchingIndex(decode: decode)
    }

    /// Goes through a page of a store's changes, on its snapshot.
    func match(_ page: ChangeFollower.Page, of storage: any Store) throws -> NoticePage {
        let snapshot = page.snapshot
        try index.renew(snapshot)
        pageNumber += 1
        let run = try MatchingRun(
            self, storage, snapshot, page: pageNumber,
            webhooks: snapshot.destinations(ofKind: .webhook))
        try page.forEach { change in
            try run.take(change)
            return run.made.noticeCount < NoticePage.noticesPerPieceMax
                && run.testCount < Self.testsPerPageMax
        }
        return run.made
    }

    /// How many queries are asked about the records of one page, at about 10 microseconds each.
    ///
    /// While its snapshot stands, the store's log cannot be started over.
    static let testsPerPageMax = 4_000

    /// The matching of one page.
    private final class MatchingRun {
        private let matching: NoticeMatching
        private let storage: any Store
        private let snapshot: any StoreSnapshot
        private let page: UInt64
        private let key: HMACSHA256
        private let types: [Int64: RecordTypeName]
        private let schema: Schema
        private let words: SearchWords
        private var zones: [ZoneNumber: (zone: StoredZone, owner: UserRecordName)?] = [:]
        private var access: [UserRecordName: RecordAccess] = [:]
        private var viewers: [ZoneNumber: [UserRecordName]] = [:]
        private var sights: [SightKey: ZoneAccess?] = [:]
        private var merged: Set<MergedKey> = []
        private var named: (position: Position, identifier: String)?
        var made = NoticePage()
        /// How many queries have been asked about a record.
        var testCount = 0

        private struct SightKey: Hashable {
            let viewer: UserRecordName
            let zone: ZoneNumber
        }

        private struct MergedKey: Hashable {
            let subscription: SubscriptionKey
            let zone: ZoneNumber
            let author: ChangeAuthor?
        }

        init(
            _ matching: NoticeMatching, _ storage: any Store, _ snapshot: any StoreSnapshot,
            page: UInt64, webhooks: [StoredDestination]
        ) throws {
            self.matching = matching
            self.storage = storage
            self.snapshot = snapshot
            self.page = page
            key = HMACSHA256(key: try snapshot.identity.tokenKey)
            schema = try snapshot.schema
            types = Dictionary(
                schema.types.map { ($0.value.number, $0.key) }, uniquingKeysWith: { a, _ in a })
            words = SearchWords(matching.limits)
            made.revision = matching.index.revision
            made.webhooks = webhooks
        }

        private var index: WatchingIndex { matching.index }

        func take(_ change: FollowedChange) throws {
            guard let (zone, owner) = try zoneAndOwner(of: change.zone) else { return }
            let type = change.type.flatMap { types[$0] }
            tellWebhooks(change, type, zone, owner)
            switch change.kind {
            case .saved, .deleted:
                guard let type,
                    let record = ChangedRecord(change, type: type, zone: zone, owner: owner)
                else { return }
                if owner == .publicOwner {
                    try takePublic(record)
                } else {
                    try takeOwned(record)
                    try tellViewers(of: zone, owner, change, type: type)
                }
            case .zoneMade, .zoneDeleted:
                guard owner != .publicOwner else { return }
                try tellOwner(of: zone, owner, change, type: nil)
            case .sight, .shareEnded:
                try tellViewers(of: zone, owner, change, type: nil)
            }
        }

        /// Names a change; made for changes alone that somebody is told of, and once for all of them.
        private func identifier(of change: FollowedChange) -> String {
            if let named, named.position == change.position { return named.identifier }
            let made = UniqueID.made(from: key.code(for: Array("notice \(change.position)".utf8)))
            named = (change.position, made)
            return made
        }

        private func zoneAndOwner(
            of number: ZoneNumber
        ) throws -> (zone: StoredZone, owner: UserRecordName)? {
            if let known = zones[number] { return known }
            var found: (StoredZone, UserRecordName)?
            if let zone = try snapshot.zone(number), let owner = try snapshot.ownerName(zone.owner)
            {
                found = (zone, owner)
            }
            zones[number] = .some(found)
            return found
        }

        private func tellWebhooks(
            _ change: FollowedChange, _ type: RecordTypeName?, _ zone: StoredZone,
            _ owner: UserRecordName
        ) {
            guard !made.webhooks.isEmpty else { return }
            let word: StaticString
            switch change.kind {
            case .saved: word = change.wasAlive ? "update" : "create"
            case .deleted: word = "delete"
            case .zoneMade: word = "createZone"
            case .zoneDeleted: word = "deleteZone"
            case .sight, .shareEnded: return
            }
            made.bodies.append(
                WebhookBody(
                    change, word: word, type: type, zone: zone.name, owner: owner,
                    identifier: identifier(of: change), in: matching.source))
        }

        // MARK: - Queries

        private func takePublic(_ record: ChangedRecord) throws {
            let firing = try index.publicOnes(for: record, snapshot, admitted).filter {
                try fires($0, for: record)
            }
            let users = Set(firing.map(\.owner.user)).filter { access[$0] == nil }
            try access.merge(RecordAccess.all(of: users, snapshot)) { known, _ in known }
            for watched in firing {
                guard let isOwn = try mayRead(record, watched.owner.user) else { continue }
                try draft(
                    watched, record,
                    NoticeCondition(type: record.typeNumber, isOwn: isOwn))
            }
        }

        /// Whether a user may read a record, and if so, whether they made it; nil when they may not read it.
        private func mayRead(
            _ record: ChangedRecord, _ user: UserRecordName
        ) throws -> Bool? {
            let rights = try access[user] ?? RecordAccess(of: user, snapshot)
            switch rights.reach(.read, on: record.type) {
            case .all: return try record.creator() == user.text
            case .own: return try record.creator() == user.text ? true : nil
            case .none: return nil
            }
        }

        private func takeOwned(_ record: ChangedRecord) throws {
            let owner = SubscriptionOwner(user: record.zoneOwner, scope: .private)
            for watched in try index.all(of: owner, snapshot, admitted)
            where watched.subscription.kind == .query {
                let zone = watched.subscription.zone
                guard zone == nil || zone == record.zone.name,
                    watched.subscription.recordType == record.type,
                    try fires(watched, for: record)
                else { continue }
                try draft(watched, record, NoticeCondition())
            }
            try tellOwner(
                of: record.zone, record.zoneOwner, record.change, type: record.type)
        }

        private func fires(_ watched: Watched, for record: ChangedRecord) throws -> Bool {
            guard watched.since < record.change.position,
                watched.subscription.firesOn.contains(record.firing),
                !made.spent.contains(watched.key)
            else { return false }
            testCount += 1
            return try watched.finds(record, page: page, words, snapshot)
        }

        private func draft(
            _ watched: Watched, _ record: ChangedRecord,
            _ condition: NoticeCondition
        ) throws {
            let subject = NoticePayload.Subject.query(
                record: record.name, record.reason,
                fields: watched.info.readsFields ? try record.shown() : NoticeFields())
            let collapse = watched.info.collapseID.map { Array("c\($0)".utf8) }
            try add(
                watched, subject, (record.zone.name, record.zoneOwner), record.change,
                condition, mergeKey: collapse)
        }

        // MARK: - Zones and databases

        /// Notifies an owner's subscriptions to a zone and to the database.
        private func tellOwner(
            of zone: StoredZone, _ owner: UserRecordName, _ change: FollowedChange,
            type: RecordTypeName?
        ) throws {
            let all = try index.all(
                of: SubscriptionOwner(user: owner, scope: .private), snapshot, admitted)
            for watched in all {
                let isConcerned =
                    switch watched.subscription.kind {
                    case .query: false
                    case .zone: watched.subscription.zone == zone.name
                    case .database: !zone.name.isDefault
                    }
                guard isConcerned else { continue }
                try tell(watched, of: zone, owner, change, type, NoticeCondition())
            }
        }

        /// Notifies those who see something of a zone and may still see what the change was about.
        private func tellViewers(
            of zone: StoredZone, _ owner: UserRecordName, _ change: FollowedChange,
            type: RecordTypeName?
        ) throws {
            let watching = try viewers[zone.number] ?? snapshot.watchers(ofShared: zone.number)
            viewers[zone.number] = watching
            let concerned = watching.filter { change.person == nil || change.person == $0 }
            let shown = try viewersShown(change, of: zone, among: concerned)
            for viewer in concerned where shown.contains(viewer) {
                let all = try index.all(
                    of: SubscriptionOwner(user: viewer, scope: .shared), snapshot, admitted)
                for watched in all {
                    try tell(
                        watched, of: zone, owner, change, type,
                        NoticeCondition(zone: zone.number))
                }
            }
        }

        /// What a viewer sees of a zone; nil for nothing.
        private func sight(
            of viewer: UserRecordName, in zone: StoredZone
        ) throws -> ZoneAccess? {
            let key = SightKey(viewer: viewer, zone: zone.number)
            if let known = sights[key] { return known }
            let access = try ZoneAccess.of(
                viewer, in: zone, limits: matching.limits, snapshot: snapshot)
            sights[key] = .some(access)
            return access
        }

        private func viewersShown(
            _ change: FollowedChange, of zone: StoredZone, among viewers: [UserRecordName]
        ) throws -> Set<UserRecordName> {
            var shown: Set<UserRecordName> = []
            var others: [UserRecordName] = []
            for viewer in viewers {
                guard let access = try sight(of: viewer, in: zone) else { continue }
                switch change.kind {
                case .zoneMade, .zoneDeleted: break
                case .sight: shown.insert(viewer)
                case .shareEnded: others.append(viewer)
                case .saved, .deleted:
                    if try access.wholeZone != nil || sees(change, access) {
                        shown.insert(viewer)
                    } else {
                        others.append(viewer)
                    }
                }
            }
            return try shown.union(viewersThatLost(change, in: zone, among: others))
        }

        private func sees(_ change: FollowedChange, _ access: ZoneAccess) throws -> Bool {
            guard change.kind == .saved, let record = change.record else { return false }
            do {
                return try access.sees(record)
            } catch is Fault {
                // NB: parents in a circle lead to no share; nobody is shown the record.
                return false
            }
        }

        /// Those who lost with a change what it was about: a share, or a record that left their trees.
        private func viewersThatLost(
            _ change: FollowedChange, in zone: StoredZone, among viewers: [UserRecordName]
        ) throws -> Set<UserRecordName> {
            guard !viewers.isEmpty else { return [] }
            let before = change.position - 1
            let grants = try zip(
                viewers,
                snapshot.grants(
                    viewers.map { GrantKey($0, .changed(in: zone.number, after: before)) }))
            if change.kind == .shareEnded {
                return Set(grants.filter { $1.contains { $0.revoked == change.position } }.map(\.0))
            }
            let shares = Array(
                Set(grants.flatMap { $1.lazy.filter { $0.revoked == nil }.map(\.share) }))
            guard !shares.isEmpty else { return [] }
            let runs = try snapshot.memberships(
                shares.map { .share($0, after: before, limit: 1, withVersions: false) },
                in: zone.number)
            // A record that has just left their trees is in their feed at the change's own position.
            let left = Set(
                zip(shares, runs).filter { $1?.memberships.first?.position == change.position }
                    .map(\.0))
            return Set(
                grants.filter { $1.contains { $0.revoked == nil && left.contains($0.share) } }
                    .map(\.0))
        }

        private func tell(
            _ watched: Watched, of zone: StoredZone, _ owner: UserRecordName,
            _ change: FollowedChange, _ type: RecordTypeName?,
            _ condition: NoticeCondition
        ) throws {
            let subscription = watched.subscription
            guard watched.since < change.position,
                subscription.recordType == nil || type == nil || subscription.recordType == type
            else { return }
            // One notice is enough, however much has changed. But devices of other authors hear of each
            // other's changes.
            let key = MergedKey(
                subscription: watched.key, zone: zone.number, author: change.author?.untraced)
            guard merged.insert(key).inserted else { return }
            try add(
                watched, subscription.kind == .zone ? .zone : .database, (zone.name, owner), change,
                condition, mergeKey: Array("z\(zone.number.value)".utf8))
        }

        // MARK: - What is told

        private func add(
            _ watched: Watched, _ subject: NoticePayload.Subject,
            _ zone: (name: ZoneName, owner: UserRecordName), _ change: FollowedChange,
            _ condition: NoticeCondition, mergeKey: [UInt8]?
        ) throws {
            let destinations = try index.destinations(of: watched.owner.user, snapshot)
            let told = destinations.filter { !NoticeDraft.isOrigin($0, of: change.author) }
            // A subscription has not fired when only the changing device itself would have heard.
            if !destinations.isEmpty, told.isEmpty { return }
            if watched.subscription.firesOnce { made.spent.insert(watched.key) }
            guard !told.isEmpty else { return }
            let payload = NoticePayload(
                container: matching.source.container, identifier: identifier(of: change),
                user: watched.owner.user, subscription: watched.subscription.id,
                scope: watched.owner.scope, zone: zone, subject: subject, info: watched.info)
            made.drafts.append(
                NoticeDraft(
                    owner: watched.owner, subscription: watched.subscription, payload: payload,
                    rendered: watched.info.countsBadge ? nil : payload.bytes(badge: nil),
                    condition: condition, mergeKey: mergeKey.map { key(watched, $0) },
                    author: change.author, destinations: told))
            made.noticeCount += told.count
        }

        /// Combines the subscription with the rest, because one destination may have notices of several.
        private func key(_ watched: Watched, _ rest: [UInt8]) -> [UInt8] {
            Array("\(watched.owner.scope.number) \(watched.subscription.id.text)\n".utf8) + rest
        }

        private func admitted(_ query: RecordQuery, _ owner: SubscriptionOwner) -> RecordQuery? {
            let database = Database(
                scope: owner.scope, container: matching.source.container,
                environment: matching.source.environment,
                caller: Caller(kind: .user, userRecordName: owner.user), limits: matching.limits,
                storage: storage, identities: NoIdentities(), random: .system)
            var filters = query
            filters.sorts = []
            do throws(Fault) {
                return try QueryCheck.admit(
                    filters, to: schema, in: database, needsIndexes: false)
            } catch {
                // NB: the schema may get the type or the field later.
                return nil
            }
        }
    }
}

/// Stands in for the people where nobody asks for names.
struct NoIdentities: Identities {
    func person(named name: UserRecordName) throws -> Person? { nil }
}
