import CloudDatabase
import CloudModel
import Cryptography
import Storage

/// Finds the database that each record of an import belongs to, and makes its zone when that is not there.
///
/// With a user, all go to that user's private database. Else a record of the public database goes to the public one, and a
/// private one to the account whose address the file names, or that the container knows by the same name.
final class ImportTargets {
    /// Who a file says that somebody is.
    enum Owner: Hashable {
        /// Nobody: the public database.
        case none
        /// By an address, or as an operator names accounts.
        case named(String)
        /// By the name that the container has for them.
        case known(String)
    }

    private struct Key: Hashable {
        let owner: Owner
        let zone: ZoneName
    }

    /// How many owners' zones are made at once.
    private static let makingMax = 16

    let environment: OperatedEnvironment
    private let email: String?
    private let data: any ServerData
    /// The addresses of owners, as the file tells them.
    private var emails: [String: String] = [:]
    private var found: [Key: Result<ImportTarget, RecordsRefusal>] = [:]

    init(_ environment: OperatedEnvironment, email: String?, in data: any ServerData) {
        self.environment = environment
        self.email = email
        self.data = data
    }

    /// Hears what a file says of an owner.
    func note(owner: String, email: String?) { if let email { emails[owner] = email } }

    /// Opens together what lines that come next belong to; what leads nowhere is refused when it is asked for.
    func prepare(_ lines: [ImportLine]) throws {
        var emails = emails
        var keys: Set<Key> = []
        for line in lines {
            switch line.content {
            case .zone(let owner, let email): if let email { emails[owner] = email }
            case .record(let record), .share(_, let record): keys.insert(key(of: record, emails))
            case .schema, .mistake: break
            }
        }
        try open(keys.filter { found[$0] == nil })
    }

    /// - Throws: `RecordsRefusal` when nobody here is the owner; what the catalog and the store report.
    func target(of record: ImportedRecord) throws -> ImportTarget {
        let key = key(of: record, emails)
        if found[key] == nil { try open([key]) }
        if let target = found[key] { return try target.get() }
        if case .named(let text) = key.owner { _ = try data.users.find(email: text) }
        let refusal = RecordsRefusal(
            "nobody here is \(Fault.shown(record.owner ?? "")), who owns the record; "
                + "name somebody with --user")
        found[key] = .failure(refusal)
        throw refusal
    }

    private func key(of record: ImportedRecord, _ emails: [String: String]) -> Key {
        Key(owner: owner(of: record, emails), zone: record.zone)
    }

    private func owner(of record: ImportedRecord, _ emails: [String: String]) -> Owner {
        if let email { return .named(email) }
        guard let owner = record.owner, owner != UserRecordName.publicOwner.text else {
            return .none
        }
        return emails[owner].map { .named($0) } ?? .known(owner)
    }

    private func open(_ keys: Set<Key>) throws {
        let callers = try callers(for: Set(keys.map(\.owner)))
        var opened: [(key: Key, database: OperatedDatabase.Opened)] = []
        for key in keys {
            guard let caller = callers[key.owner] else { continue }
            do {
                let scope = key.owner == .none ? DatabaseScope.public : .private
                opened.append(
                    (key, try environment.opened(scope, for: caller, zone: key.zone.text)))
            } catch let refusal as RecordsRefusal {
                found[key] = .failure(refusal)
            }
        }
        for (key, database) in opened { found[key] = .success(ImportTarget(database, data)) }
        try makeZones(opened.filter { $0.key.owner != .none && !$0.key.zone.isDefault })
    }

    /// Those who have an account here, each known to the container from then on.
    func callers(for owners: Set<Owner>) throws -> [Owner: Caller] {
        let container = environment.target.container
        let names = owners.compactMap { owner in
            if case .known(let name) = owner { UserRecordName(name) } else { nil }
        }
        let bearers =
            names.isEmpty
            ? [:] : try data.accountUseCases.catalog.bearers(of: Set(names), in: container)
        var texts: [Owner: String] = [:]
        for owner in owners {
            switch owner {
            case .none: break
            case .named(let text): texts[owner] = text
            case .known(let name):
                if let name = UserRecordName(name), case .account(let id) = bearers[name] {
                    texts[owner] = id.text
                }
            }
        }
        var callers: [Owner: Caller] = [:]
        if owners.contains(.none) { callers[.none] = try Caller(operatorOf: container, in: data) }
        guard !texts.isEmpty else { return callers }
        let version = data.accountUseCases.catalog.version
        let accounts = try data.users.find(named: Set(texts.values))
        let given = try data.users.recordNames(of: Set(accounts.values.map(\.id)), in: container)
        for (owner, text) in texts {
            guard let account = accounts[text], let name = given[account.id] else { continue }
            environment.people.know([name: account], in: container, asOf: version)
            callers[owner] = Caller(kind: .user, userRecordName: name, account: account.id)
        }
        return callers
    }

    /// Makes the zones that are not there, all of an owner at once.
    private func makeZones(
        _ opened: [(key: Key, database: OperatedDatabase.Opened)]
    ) throws {
        guard !opened.isEmpty else { return }
        let stored = try environment.store.read { snapshot in
            try snapshot.zones(
                opened.map { _, opened in
                    .nameOfOwner(
                        opened.zone.name, opened.database.caller.userRecordName ?? .publicOwner)
                })
        }
        let missing = zip(opened, stored).filter { $1 == nil }.map(\.0)
        let most = data.limits.operationsPerRequestMax
        let parts = Dictionary(grouping: missing, by: \.key.owner).values.flatMap { zones in
            stride(from: 0, to: zones.count, by: most).map { Array(zones[$0...].prefix(most)) }
        }
        for start in stride(from: 0, to: parts.count, by: Self.makingMax) {
            let making = parts[start...].prefix(Self.makingMax)
            for (zones, outcomes) in zip(making, try making.map(beginMaking)) {
                for (zone, outcome) in zip(zones, try outcomes.wait()) {
                    guard case .failure(let fault) = outcome else { continue }
                    // The import ends here, and goes on with it when it is run again.
                    guard fault.code != .tryAgainLater else { throw fault }
                    found[zone.key] = .failure(RecordsRefusal(fault))
                }
            }
        }
    }

    private func beginMaking(
        _ zones: [(key: Key, database: OperatedDatabase.Opened)]
    ) throws -> Pending<[ModifyZones.Outcome]> {
        let pending = Pending<[ModifyZones.Outcome]>()
        guard let opened = zones.first?.database else { return pending }
        try ModifyZones(
            zones.map { ModifyZones.Operation(kind: .create, zone: $0.database.zone) },
            in: opened.database, key: HMACSHA256(key: opened.tokenKey)
        ).run { pending.end($0) }
        return pending
    }
}

/// One zone of a database into which records go.
final class ImportTarget {
    let opened: OperatedDatabase.Opened
    let writer: RecordBatchWriter

    init(_ opened: OperatedDatabase.Opened, _ data: any ServerData) {
        self.opened = opened
        writer = RecordBatchWriter(opened, data)
    }
}
