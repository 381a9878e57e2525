import Accounts
import CloudDatabase
import CloudModel
import Cryptography
import RecordDecoding
import Storage

/// One database of a container environment on whose records an operator works.
///
/// On behalf of a user, by the rules that hold for them; else as the operator, whom no role of the public database
/// holds back.
package struct OperatedDatabase: Sendable {
    package let target: NamedEnvironment
    package let scope: DatabaseScope
    private let email: String?
    private let zone: String?
    private let owner: String?

    /// - Parameters:
    ///   - email: on whose behalf; nil for nobody's, in the public database alone.
    ///   - zone: the name of a zone; nil for the default zone.
    ///   - owner: in a shared database, the user record name of the zone's owner.
    package init(
        _ target: NamedEnvironment, _ scope: DatabaseScope, of email: String? = nil,
        zone: String? = nil, owner: String? = nil
    ) {
        self.target = target
        self.scope = scope
        self.email = email
        self.zone = zone
        self.owner = owner
    }

    /// Whether records are somebody's own, or are shown as somebody sees them.
    var isPrivate: Bool { scope != .public || email != nil }

    /// Who acts as somebody must have shown who they are.
    var right: ActionRight { email == nil ? .container : .container.proven }

    /// - Throws: as `ActionSubject.init`.
    func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(
            target, in: data, email: email,
            item: "\(scope.rawValue) \(zone ?? ZoneName.defaultZone.text)")
    }

    /// An open database, and the zone of it that is meant.
    struct Opened {
        let database: Database
        let zone: ZoneID
        let tokenKey: [UInt8]
    }

    /// - Parameters:
    ///   - saves: whether records with assets are saved; else none is shown with a link.
    ///   - linksShares: whether one-time links are shown and followed.
    /// - Throws: `RecordsRefusal`; `AccountsRefusal`; `CatalogRefusal.containerUnknown`; `StorageFailure`.
    func opened(
        in data: any ServerData, saves: Bool = false, linksShares: Bool = false
    ) throws -> Opened {
        let found = try target.found(in: data)
        let caller = try caller(in: found.container, data, isNoted: saves)
        let store = try data.store(of: found.container, in: found.environment)
        let key = try store.identity.tokenKey
        let now = data.clock.now()
        // Nobody gets an address: what was uploaded is known by its receipt.
        let assets = AssetAccess(AssetTokens(key: key, base: ""), now: now) {
            AssetOrigin(credential: .serverKey([]), user: nil)
        }
        let database = Database(
            scope: scope, container: found.container, environment: found.environment,
            caller: caller, limits: data.limits, storage: store,
            identities: KnownPeople(catalog: data.accountUseCases.catalog)
                .people(of: found.container),
            random: data.random, assets: saves ? assets : nil,
            shareAddresses: linksShares ? ShareAddresses(key: key, base: "") : nil)
        return Opened(
            database: database, zone: try zoneID(for: caller), tokenKey: key)
    }

    private func caller(
        in container: ContainerID, _ data: any ServerData, isNoted: Bool
    ) throws -> Caller {
        guard let email else {
            guard scope == .public else {
                throw RecordsRefusal(
                    "a \(scope.rawValue) database is somebody's: name them with --user")
            }
            let names = try UserRecordNames(
                catalog: data.accountUseCases.catalog, random: data.random)
            return Caller(
                kind: .serverKey, userRecordName: names.name(ofKey: "operator", in: container),
                passesRoles: true)
        }
        let account = try data.users.find(email: email)
        // Anyone who writes is known to the container from then on.
        let name =
            isNoted
            ? try data.users.recordName(of: account, in: container)
            : try data.users.derivedName(of: account, in: container)
        return Caller(kind: .user, userRecordName: name, account: account.id)
    }

    private func zoneID(for caller: Caller) throws -> ZoneID {
        try RecordsRefusal.of {
            try ZoneReader(caller: caller, scope: scope).zone(
                ZoneReader.Spelling(name: zone ?? ZoneName.defaultZone.text, owner: owner))
        }
    }
}

/// An action on one such database, by the right that it takes.
package protocol OperatedAction: AdministrativeAction {
    var target: OperatedDatabase { get }
}

extension OperatedAction {
    package var right: ActionRight { target.right }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try target.subject(in: data)
    }
}

/// One that only looks.
package protocol OperatedReading: OperatedAction {}

extension OperatedReading {
    package var changes: Bool { false }
    package var looksAtPrivateData: Bool { target.isPrivate }
}

/// Why an operator's work on records was refused, in one line.
package struct RecordsRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    init(_ fault: Fault) { self.init("\(fault.code.rawValue): \(fault.reason)") }

    /// Tells people what a fault says.
    static func of<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let fault as Fault { throw RecordsRefusal(fault) }
    }
}
