import Accounts
import CloudModel
import JSON
import RequestRecords
import Storage

/// Says why a user's devices show old data in an environment of a container, from the lines of their requests and
/// from what the store knows; writes nothing.
///
/// Refusals: `AccountsRefusal.emailIllegal`, `userUnknown`, `containerNameIllegal`,
/// `CatalogRefusal.containerUnknown`, `RequestsRefusal`.
package struct ExplainSync: AdministrativeAction {
    package var name: String { "user sync" }

    /// Of one user, the newest ones; what is older tells nothing of now.
    private static let linesMax = 20_000

    private let email: String
    private let target: NamedEnvironment

    package init(_ email: String, in target: NamedEnvironment) {
        self.email = email
        self.target = target
    }

    package var changes: Bool { false }
    package var right: ActionRight { .container }
    package var looksAtPrivateData: Bool { true }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data, email: email)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> SyncReport {
        guard let stored = try data.requests() else { throw RequestsRefusal.nothingIsKept }
        let place = try target.found(in: data)
        let user = try data.users.derivedName(
            of: data.users.find(email: email), in: place.container)
        let users: Set<String> = [user.text]
        var lines: [RequestEntry] = []
        try stored.newest(
            RequestFilter(
                container: place.container.name, environment: place.environment,
                person: try stored.person(users))
        ) { _, entry in
            lines.append(entry)
            return lines.count < Self.linesMax
        }
        var story = SyncStory()
        // Servers store their lines a second apart: a device that changed from one to another has them out of order.
        let ordered = lines.reversed().enumerated().sorted {
            ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
        }
        for (_, line) in ordered { story.add(line) }
        var facts = SyncFacts(now: data.clock.now())
        try add(sessionsOf: data, place, to: &facts)
        facts.quotaBytes = try quota(data, place)
        try target.store(in: data).read { snapshot in
            try SyncFactReader(snapshot, of: user).read(into: &facts, for: story.devices)
        }
        return SyncReport(story, facts)
    }

    private func add(
        sessionsOf data: any ServerData, _ place: ContainerEnvironment, to facts: inout SyncFacts
    ) throws {
        try ListPage.forEach { request in
            try data.webTokens.sessions(
                container: place.container, environment: place.environment, email: email,
                now: facts.now, request)
        } _: {
            facts.sessions.insert($0.tokenID)
        }
    }

    private func quota(_ data: any ServerData, _ place: ContainerEnvironment) throws -> Int64 {
        let settings = try data.accountUseCases.catalog.container(place.container)?.settings
        return settings?[ContainerSetting.userQuotaBytes.rawValue].flatMap { Int64($0) }
            ?? data.limits.userQuotaBytes
    }
}

/// Reads what a store knows of a user's sync.
private struct SyncFactReader {
    private let snapshot: any StoreSnapshot
    private let user: UserRecordName

    init(_ snapshot: any StoreSnapshot, of user: UserRecordName) {
        self.snapshot = snapshot
        self.user = user
    }

    func read(into facts: inout SyncFacts, for devices: [SyncStory.Device]) throws {
        facts.usedBytes = try snapshot.owner(named: user)?.usedBytes ?? 0
        facts.schemaChangedAt = try snapshot.schemaHistory(limit: 1).first?.madeAt
        for (index, device) in devices.enumerated() {
            for (place, progress) in device.progress {
                facts.gaps[index, default: [:]][place] = try gap(place, after: progress.position)
            }
        }
        facts.subscriptions = try subscriptions()
        facts.destinations = try destinations()
        facts.shares = try shares()
    }

    private func gap(
        _ place: SyncStory.ZoneReference, after position: Int64
    ) throws -> SyncFacts.Gap? {
        guard let zone = try zone(place) else { return nil }
        let end = zone.changed ?? 0
        var gap = SyncFacts.Gap(
            count: 0, end: end, isExpired: position < zone.oldestValidPosition)
        guard end > position else { return gap }
        do {
            try snapshot.versions(
                in: zone.number, after: position, through: .max, newestFirst: false
            ) { version in
                gap.count += 1
                if gap.since == nil { gap.since = Self.moment(of: version) }
                return gap.count < SyncFacts.Gap.countMax
            }
        } catch is DamagedVersion {
            // NB: what was counted before it is enough to say that the device is behind.
            return gap
        }
        return gap
    }

    private func zone(_ place: SyncStory.ZoneReference) throws -> StoredZone? {
        guard let name = ZoneName(place.zone) else { return nil }
        switch place.database {
        case .private: return try snapshot.zone(named: name, ofOwnerNamed: user)
        case .shared:
            guard let owner = place.owner.flatMap({ UserRecordName($0) }) else { return nil }
            return try snapshot.zone(named: name, ofOwnerNamed: owner)
        case .public: return nil
        }
    }

    /// When a record was saved last; nil for a deletion.
    private static func moment(of version: StoredVersion) -> Milliseconds? {
        do throws(JSONError) {
            return try JSONDocument(copying: version.body).root["modified"]?["timestamp"]?.int64
        } catch {
            return nil
        }
    }

    private func subscriptions() throws -> [SyncSubscription] {
        var found: [SyncSubscription] = []
        for scope in [DatabaseScope.private, .shared, .public] {
            let owner = SubscriptionOwner(user: user, scope: scope)
            for subscription in try snapshot.subscriptions(of: owner) {
                let kind =
                    switch subscription.kind {
                    case .query: "query"
                    case .zone: "zone"
                    case .database: "database"
                    }
                found.append(
                    SyncSubscription(
                        id: subscription.id.text, database: scope, kind: kind,
                        zone: subscription.zone?.text))
            }
        }
        return found
    }

    private static let noticesMax = 1_000

    private func destinations() throws -> [SyncDestination] {
        let ways = try snapshot.destinations(of: user)
        let summaries = try snapshot.noticeSummaries(
            .waiting, for: ways.map(\.number), countedMax: Self.noticesMax)
        return zip(ways, summaries).map { way, waiting in
            let kind =
                switch way.kind {
                case .courier: "courier"
                case .apns: "apns"
                case .webPush: "webPush"
                case .webhook: "webhook"
                }
            return SyncDestination(
                kind: kind, device: way.device, failures: way.failures, waiting: waiting.count,
                oldest: waiting.oldest, usedAt: way.usedAt)
        }
    }

    private static let sharesMax = 1_000

    private func shares() throws -> [SyncShare] {
        let views = try snapshot.views(of: user, changedAfter: 0, limit: Self.sharesMax)
        let zones = try snapshot.ownedZones(views.map(\.zone))
        let entries = try snapshot.participations(of: user)
        let shares = try snapshot.shares(.numbers(entries.map(\.0)))
        var entryOfZone: [ZoneNumber: StoredParticipant] = [:]
        for (share, entry) in zip(shares, entries.map(\.1)) {
            guard let zone = share?.zone, entryOfZone[zone] == nil else { continue }
            entryOfZone[zone] = entry
        }
        return views.compactMap { view in
            guard let (zone, owner) = zones[view.zone] else { return nil }
            let entry = entryOfZone[zone.number]
            return SyncShare(
                owner: owner.text, zone: zone.name.text, isLost: view.ended != nil,
                permission: entry.map { "\($0.permission)" } ?? "none",
                status: entry.map { "\($0.status)" } ?? "none")
        }
    }
}
