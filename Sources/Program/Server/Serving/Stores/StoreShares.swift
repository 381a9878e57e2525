import Accounts
import Administration
import CloudDatabase
import CloudModel
import Cryptography
import Dispatch
import JSON
import Pages
import RecordDecoding
import Storage

/// What share pages know of the stores' shares, and do with them.
///
/// The first characters of a link say which stores it may lead to, so that no other one is opened.
struct StoreShares: SharedLinks {
    private let folder: DataFolder
    private let limits: ServiceLimits
    private let baseURL: String
    private let names: UserRecordNames
    private let people: KnownPeople

    /// - Parameter baseURL: where browsers reach the server, without a slash at the end.
    init(_ folder: DataFolder, baseURL: String) throws {
        self.folder = folder
        limits = folder.limits
        self.baseURL = baseURL
        names = try UserRecordNames(catalog: folder.catalog, random: folder.random)
        people = KnownPeople(catalog: folder.catalog)
    }

    func look(at link: String, as visitor: AccountRecord?) throws -> SharedThing? {
        for candidate in try candidates(of: link) {
            let database = try database(candidate, for: visitor)
            let look = LookAtShare(
                link, addresses: visitor.map { Person($0).addresses } ?? [], in: database)
            // Looked for where it cannot be too, for the time that it takes.
            let glance = try database.storage.read { try look.glance($0) }
            if candidate.isMeant, let glance {
                return try thing(glance, in: candidate.key.container)
            }
        }
        return nil
    }

    func join(_ link: String, as visitor: AccountRecord) throws -> Bool {
        for candidate in try candidates(of: link) where candidate.isMeant {
            let database = try database(candidate, for: visitor)
            let look = LookAtShare(link, addresses: Person(visitor).addresses, in: database)
            guard try database.storage.read({ try look.glance($0) }) != nil else { continue }
            // First, so that every participant has a name.
            try note(visitor, in: candidate.key.container)
            if try look.join() { return true }
        }
        return false
    }

    func ask(for link: String, as visitor: AccountRecord) throws {
        for candidate in try candidates(of: link) {
            let database = try database(candidate, for: visitor)
            if candidate.isMeant { try note(visitor, in: candidate.key.container) }
            try RequestAccess([candidate.isMeant ? link : ""], in: database).runAndWait()
        }
    }

    func sheet(of link: String, as visitor: AccountRecord, change: String?) throws -> [UInt8]? {
        for candidate in try candidates(of: link) where candidate.isMeant {
            let open = try database(candidate, for: visitor)
            let look = LookAtShare(link, addresses: Person(visitor).addresses, in: open)
            guard let (zone, name) = try open.storage.read({ try look.record($0) }) else {
                continue
            }
            let database = try database(
                candidate, for: visitor, scope: zone.owner == nil ? .private : .shared)
            var writer = JSONWriter(reserving: 4_096)
            writer.raw("{\"records\":[")
            do {
                let isGone = try change.map {
                    try carry(out: $0, on: name, in: zone, of: database)
                }
                if isGone == true {
                    writer.raw("{\"recordName\":")
                    writer.string(name.text)
                    writer.raw(",\"deleted\":true}")
                } else {
                    try database.storage.read { snapshot in
                        try LookupRecords(in: zone, of: database, snapshot: snapshot).append(
                            LookupRecords.Item(name: name.text, rendering: .whole), to: &writer)
                    }
                }
            } catch let fault as Fault {
                fault.append(record: name.text, to: &writer)
            }
            writer.raw("]}")
            return writer.bytes
        }
        return nil
    }

    private static let notOfShare = Fault.badRequest("operation: one on this share was expected")

    /// Does to a share what an app could do by `records/modify`, by the same rules; to nothing else.
    ///
    /// - Returns: whether the share is gone for the visitor.
    private func carry(
        out change: String, on name: RecordName, in zone: ZoneID, of database: Database
    ) throws -> Bool {
        let body = try RequestObject(body: Array("{\"operations\":[\(change)]}".utf8))
        guard let elements = try body.array("operations") else { throw Self.notOfShare }
        let operations = try OperationDecoder(
            zones: ZoneReader(caller: database.caller, scope: database.scope), rendering: .whole,
            limits: limits, makeName: { RecordNames.random(folder.random) }
        ).decode(elements)
        guard operations.count == 1, operations.first?.recordName == name.text else {
            throw Self.notOfShare
        }
        let pending = Pending<[RecordOutcome]>()
        try ModifyRecords(operations, in: zone, of: database, atomic: true, device: "share page")
            .run(
                beside: LongWork(stop: StopSignal(), habits: DecisionHabits()) {
                    DispatchQueue.global().async(execute: $0)
                }
            ) { pending.end($0) }
        switch try pending.wait().first {
        case .failed(_, let fault): throw fault
        case .deleted: return true
        case .saved, nil: return false
        }
    }

    func usage(of account: AccountRecord) throws -> [AppUsage] {
        try fromStores(usedBy: account) { key, app in
            let store = try folder.stores.store(of: key.container, in: key.environment)
            let name = names.name(of: account.id, in: key.container)
            return try store.read { snapshot in
                guard let owner = try snapshot.owner(named: name) else { return [] }
                return [
                    AppUsage(
                        app: app, environment: key.environment, bytes: owner.usedBytes,
                        records: try snapshot.amount(of: owner.number).records ?? 0)
                ]
            }
        }
    }

    func shares(of account: AccountRecord) throws -> [KnownShare] {
        try fromStores(usedBy: account) { key, app in
            let database = try database(Candidate(key: key, isMeant: true), for: account)
            let list = ListShares(
                of: names.name(of: account.id, in: key.container), in: database)
            return try database.storage.read { try list.run($0) }.map { share in
                KnownShare(
                    title: share.title, owner: share.isOwn ? "" : Self.name(share.owner),
                    isOwn: share.isOwn, others: share.others, isOpen: share.isOpen, app: app,
                    link: share.guid.text)
            }
        }
    }

    /// What all stores say in which somebody may have something.
    ///
    /// One whose data cannot be read now is left out.
    private func fromStores<Item>(
        usedBy account: AccountRecord, _ read: (StoreKey, AppLabel) throws -> [Item]
    ) throws -> [Item] {
        var found: [Item] = []
        try ListPage.forEach {
            try folder.catalog.containers($0, usedBy: account.id)
        } _: { container in
            let label = try folder.accountUseCases.label(of: container.id)
            for key in try folder.engine.stores(of: container.id) {
                do { found += try read(key, label) } catch {
                    // NB: the log tells of a store that cannot be read elsewhere.
                    continue
                }
            }
        }
        return found
    }

    private static func name(_ person: Person?) -> String {
        [person?.givenName, person?.familyName].compactMap(\.self).joined(separator: " ")
    }

    // MARK: - Places

    private struct Candidate {
        let key: StoreKey
        /// Whether the link may lead there.
        let isMeant: Bool
    }

    /// The stores that a link may lead to.
    ///
    /// For a link that leads to none, it is the first store of all: so finding nothing takes the
    /// same time.
    private func candidates(of link: String) throws -> [Candidate] {
        let route = ShareLink(link)?.guid.route
        var found: [Candidate] = []
        var first: StoreKey?
        try ListPage.forEach(folder.engine.stores) { store in
            let key = store.key
            if first == nil, try folder.catalog.container(key.container)?.isElsewhere != true {
                first = key
            }
            guard ShortGUID.Route(key.container, key.environment) == route else { return }
            found.append(Candidate(key: key, isMeant: true))
        }
        guard found.isEmpty, let first else { return found }
        return [Candidate(key: first, isMeant: false)]
    }

    private func database(
        _ candidate: Candidate, for visitor: AccountRecord?, scope: DatabaseScope = .public
    ) throws -> Database {
        let store = try folder.stores.store(
            of: candidate.key.container, in: candidate.key.environment)
        let caller =
            visitor.map {
                Caller(
                    kind: .user, userRecordName: names.name(of: $0.id, in: candidate.key.container),
                    account: $0.id)
            } ?? .world
        return Database(
            scope: scope, container: candidate.key.container,
            environment: candidate.key.environment,
            caller: caller, limits: limits, storage: store,
            identities: people.people(of: candidate.key.container), random: folder.random,
            shareAddresses: ShareAddresses(key: try store.identity.tokenKey, base: baseURL))
    }

    private func note(_ visitor: AccountRecord, in container: ContainerID) throws {
        try folder.catalog.note(
            names.name(of: visitor.id, in: container), of: visitor.id, in: container)
    }

    private func thing(_ glance: ShareGlance, in container: ContainerID) throws -> SharedThing {
        let fallback = try folder.catalog.container(container)?
            .settings[ContainerSetting.fallbackURL.rawValue]
        return SharedThing(
            title: glance.title, type: glance.type, thumbnail: glance.thumbnail,
            owner: Self.name(glance.owner),
            participation: SharedThing.Participation(glance.participation),
            mayWrite: glance.permission == .readWrite,
            app: try folder.accountUseCases.label(of: container),
            destination: fallback.map { $0 + glance.link },
            link: "\(baseURL)/share/\(glance.guid.text)")
    }
}

extension SharedThing.Participation {
    fileprivate init(_ participation: ShareGlance.Participation) {
        switch participation {
        case .owner: self = .owner
        case .joined: self = .joined
        case .invited: self = .invited
        case .left: self = .left
        case .open: self = .open
        }
    }
}
