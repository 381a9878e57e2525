import CloudModel
import Cryptography
import Storage

/// One database of one container environment, as one caller sees it.
///
/// It is built once the caller may use the scope at all, so use cases need no other check of that.
package final class Database: Sendable {
    package let scope: DatabaseScope
    /// The container, for commands that errors mention.
    package let container: ContainerID?
    package let environment: Environment
    package let caller: Caller
    package let limits: ServiceLimits
    package let storage: any Store
    /// Ends the caller's reads; nil where nobody does.
    private let stop: StopSignal?
    /// Tells who is behind user record names: for the names of participants and the owner's addresses.
    package let identities: any Identities
    package let random: RandomSource
    /// Tells of a user's request what its changes say of their author; asked when something changes.
    private let makeAuthor: @Sendable (UserRecordName) -> ChangeAuthor
    /// Nil where no asset is saved or shown.
    package let assets: AssetAccess?
    /// Nil where nobody is shown the address of a share.
    package let shareAddresses: ShareAddresses?
    /// Of all databases of the container environment together; nil for none.
    let quota: TotalQuota?

    package init(
        scope: DatabaseScope, container: ContainerID? = nil, environment: Environment,
        caller: Caller, limits: ServiceLimits, storage: any Store,
        stop: StopSignal? = nil, identities: any Identities, random: RandomSource,
        assets: AssetAccess? = nil, shareAddresses: ShareAddresses? = nil,
        quota: TotalQuota? = nil,
        author: @escaping @Sendable (UserRecordName) -> ChangeAuthor = {
            ChangeAuthor(user: $0, device: nil)
        }
    ) {
        self.scope = scope
        self.container = container
        self.environment = environment
        self.caller = caller
        self.limits = limits
        self.storage = storage
        self.stop = stop
        makeAuthor = author
        self.assets = assets
        self.shareAddresses = shareAddresses
        self.quota = quota
        self.identities = identities
        self.random = random
    }

    /// Reads one moment of the store, until the caller's stop.
    func read<Value>(_ body: (any StoreSnapshot) throws -> Value) throws -> Value {
        try storage.read(ReadLoad(until: stop), body)
    }

    /// Reads one moment of the store together with others, in the caller's turn.
    ///
    /// - Parameters: as of `Store.readTogether`.
    package func readTogether<Value: Sendable>(
        _ needs: StoreNeeds, _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        storage.readTogether(needs, by: StoreCaller(caller), body, completion: completion)
    }

    /// Ends a loop over what was read once the caller's reads are to end.
    ///
    /// - Throws: `WorkStopped`.
    func checkStop() throws { try stop?.check() }

    /// The owner of a zone: another user in the shared database.
    func owner(of zone: ZoneID) -> UserRecordName {
        scope == .shared ? zone.owner ?? ownerRecordName : ownerRecordName
    }

    /// The owner of the zones: the caller in a private database, no particular user in the public one.
    var ownerRecordName: UserRecordName {
        scope == .public ? .publicOwner : caller.userRecordName ?? .publicOwner
    }

    /// The same data, as the caller sees it in another database.
    func seen(in scope: DatabaseScope) -> Database {
        Database(
            scope: scope, container: container, environment: environment, caller: caller,
            limits: limits, storage: storage, stop: stop, identities: identities,
            random: random, assets: assets, shareAddresses: shareAddresses, quota: quota,
            author: makeAuthor)
    }

    /// The first part of short identifiers that are made here.
    var linkRoute: ShortGUID.Route {
        container.map { ShortGUID.Route($0, environment) } ?? .nowhere
    }

    /// The author of the caller's changes; nil for a caller who makes none.
    var author: ChangeAuthor? {
        caller.userRecordName.map(makeAuthor)
    }

    /// Checks records against this database's schema.
    var schemaCheck: SchemaCheck {
        SchemaCheck(
            container: container, environment: environment, scope: scope, limits: limits)
    }

    /// The stored owner; nil until the user first writes.
    func owner(_ snapshot: any StoreSnapshot) throws -> StoredOwner? {
        try snapshot.owner(named: ownerRecordName)
    }

    /// Refuses zones that this database cannot have (rulings.md 26).
    package func check(_ zone: ZoneID) throws(Fault) {
        switch scope {
        case .public:
            guard zone.name.isDefault else { throw .zoneNotFound }
        case .private:
            guard zone.owner == nil || zone.owner == caller.userRecordName else {
                throw .foreignZone
            }
        case .shared:
            // The request must name the owner. Only those who see an owner's zones know which zones there
            // are.
            guard zone.owner != nil, !zone.name.isDefault else { throw .zoneNotFound }
        }
    }

    /// The stored zone; nil for a default zone that nobody has written to yet.
    ///
    /// - Throws: `Fault` ZONE_NOT_FOUND for a custom zone that does not exist, and in a shared database for a
    ///   zone of which the caller sees nothing.
    func zone(_ id: ZoneID, _ snapshot: any StoreSnapshot) throws -> StoredZone? {
        try check(id)
        if scope == .shared { return try access(to: id, snapshot).zone }
        if let zone = try snapshot.zone(named: id.name, ofOwnerNamed: ownerRecordName) {
            return zone
        }
        guard id.name.isDefault else { throw Fault.zoneNotFound }
        return nil
    }

    /// As `zone`, for many: read at once.
    func zones(
        _ ids: [ZoneID], _ snapshot: any StoreSnapshot
    ) throws -> [Result<StoredZone?, Fault>] {
        if scope == .shared {
            return try accesses(to: ids, snapshot).map { access in access.map { $0.zone } }
        }
        let stored = try snapshot.zones(ids.map { .nameOfOwner($0.name, ownerRecordName) })
        return zip(ids, stored).map { id, zone in
            do throws(Fault) { try check(id) } catch { return .failure(error) }
            return zone == nil && !id.name.isDefault ? .failure(.zoneNotFound) : .success(zone)
        }
    }

    /// The stored zone; makes a default zone when it is first written to.
    ///
    /// - Throws: as `zone`.
    func madeZone(_ id: ZoneID, _ transaction: any StoreTransaction) throws -> StoredZone {
        if let zone = try zone(id, transaction) { return zone }
        return try transaction.makeZone(named: id.name, ofOwnerNamed: ownerRecordName)
    }

    /// What the caller may see of a zone of the shared database.
    ///
    /// - Throws: `Fault` ZONE_NOT_FOUND when they see nothing of it, or it does not exist.
    package func access(to id: ZoneID, _ snapshot: any StoreSnapshot) throws -> ZoneAccess {
        try check(id)
        guard let owner = id.owner, let viewer = caller.userRecordName,
            let zone = try snapshot.zone(named: id.name, ofOwnerNamed: owner),
            let access = try ZoneAccess.of(viewer, in: zone, limits: limits, snapshot: snapshot)
        else { throw Fault.zoneNotFound }
        return access
    }

    /// As `access`, for many: read at once.
    func accesses(
        to ids: [ZoneID], _ snapshot: any StoreSnapshot
    ) throws -> [Result<ZoneAccess, Fault>] {
        guard let viewer = caller.userRecordName else {
            return ids.map { _ in .failure(.zoneNotFound) }
        }
        let stored = try snapshot.zones(
            ids.map { .nameOfOwner($0.name, $0.owner ?? ownerRecordName) })
        let views = try snapshot.views(of: viewer, .zones(stored.compactMap { $0?.number }))
        let viewed = Dictionary(views.map { ($0.zone, $0) }) { view, _ in view }
        let accesses = try ZoneAccess.of(
            viewer,
            in: stored.compactMap { zone in
                zone.flatMap { zone in viewed[zone.number].map { (zone, $0) } }
            }, limits: limits, snapshot: snapshot)
        let seen = Dictionary(accesses.map { ($0.zone.number, $0) }) { access, _ in access }
        return zip(ids, stored).map { id, zone in
            do throws(Fault) { try check(id) } catch { return .failure(error) }
            return zone.flatMap { seen[$0.number] }.map { .success($0) } ?? .failure(.zoneNotFound)
        }
    }

    /// Refuses an endpoint in a database that it does not serve, in the service's own words.
    package func refuse(unless isServed: Bool) throws(Fault) {
        guard isServed else {
            throw .badRequest("endpoint not applicable in the database type '\(scope.rawValue)db'")
        }
    }
}

extension ServiceLimits {
    /// - Throws: `Fault` BAD_REQUEST for more operations than a request may have.
    func check(operationCount count: Int) throws(Fault) {
        guard count <= operationsPerRequestMax else {
            throw .limitExceeded(
                "operations: \(count) given; the limit is \(operationsPerRequestMax) "
                    + "(limits.operationsPerRequestMax)")
        }
    }
}
