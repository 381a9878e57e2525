import CloudModel
import Storage

/// One database of one container environment, as one caller sees it.
///
/// Built once the caller may use the scope at all; use cases take it and need no other check of it.
package struct Database: Sendable {
    package let scope: DatabaseScope
    /// For commands that errors name.
    package let container: ContainerID?
    package let environment: Environment
    package let caller: Caller
    package let limits: ServiceLimits
    package let storage: any Storage

    package init(
        scope: DatabaseScope, container: ContainerID? = nil, environment: Environment,
        caller: Caller, limits: ServiceLimits, storage: any Storage
    ) {
        self.scope = scope
        self.container = container
        self.environment = environment
        self.caller = caller
        self.limits = limits
        self.storage = storage
    }

    /// The owner of the zones: the caller in his private database, nobody in particular in public.
    var ownerRecordName: UserRecordName {
        scope == .public ? .publicOwner : caller.userRecordName ?? .publicOwner
    }

    /// What holds records to this database's schema.
    var schemaCheck: SchemaCheck {
        SchemaCheck(
            container: container, environment: environment, scope: scope, limits: limits)
    }

    /// The stored owner; nil while a user has never written.
    func owner(_ snapshot: any StoreSnapshot) throws -> StoredOwner? {
        try snapshot.owner(named: ownerRecordName)
    }

    /// Refuses zones that this database cannot have (rulings.md 26).
    func check(_ zone: ZoneID) throws(Fault) {
        switch scope {
        case .public:
            guard zone.name.isDefault else { throw .zoneNotFound }
        case .private:
            guard zone.owner == nil || zone.owner == caller.userRecordName else {
                throw .foreignZone
            }
        case .shared:
            // Nothing is shared with anybody yet.
            throw .zoneNotFound
        }
    }

    /// The stored zone; nil for a default zone that nobody has written to yet.
    ///
    /// - Throws: `Fault` ZONE_NOT_FOUND for a custom zone that does not exist.
    func zone(_ id: ZoneID, _ snapshot: any StoreSnapshot) throws -> StoredZone? {
        try check(id)
        if let zone = try snapshot.zone(named: id.name, ofOwnerNamed: ownerRecordName) {
            return zone
        }
        guard id.name.isDefault else { throw Fault.zoneNotFound }
        return nil
    }

    /// Refuses an endpoint in a database that it does not serve, in the service's own words.
    package func refuse(unless isServed: Bool) throws(Fault) {
        guard isServed else {
            throw .badRequest("endpoint not applicable in the database type '\(scope.rawValue)db'")
        }
    }
}
