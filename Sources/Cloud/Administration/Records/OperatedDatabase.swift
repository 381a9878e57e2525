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

    /// Without a person, an operator works on the public database as themselves.
    var right: ActionRight { email == nil ? .container.ofPerson : .container.onBehalf }

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
        return try OperatedEnvironment(found, in: data).opened(
            scope, for: caller, zone: zone ?? ZoneName.defaultZone.text, of: owner, saves: saves,
            linksShares: linksShares)
    }

    private func caller(
        in container: ContainerID, _ data: any ServerData, isNoted: Bool
    ) throws -> Caller {
        guard let email else {
            guard scope == .public else {
                throw RecordsRefusal(
                    "a \(scope.rawValue) database is somebody's: name them with --user")
            }
            return try Caller(operatorOf: container, in: data)
        }
        let account = try data.users.find(email: email)
        // Anyone who writes is known to the container from then on.
        let name =
            isNoted
            ? try data.users.recordName(of: account, in: container)
            : try data.users.derivedName(of: account, in: container)
        return Caller(kind: .user, userRecordName: name, account: account.id)
    }
}

extension Caller {
    /// The operator as themselves, whom no role of a public database holds back.
    init(operatorOf container: ContainerID, in data: any ServerData) throws {
        let names = try UserRecordNames(catalog: data.accountUseCases.catalog, random: data.random)
        self.init(
            kind: .serverKey, userRecordName: names.name(ofKey: "operator", in: container),
            passesRoles: true)
    }
}

/// A container environment whose store is open for an operator.
struct OperatedEnvironment {
    let target: ContainerEnvironment
    let people: KnownPeople
    let store: any Store
    private let tokenKey: [UInt8]
    private let data: any ServerData

    /// - Throws: as `ServerData.store`.
    init(_ target: ContainerEnvironment, in data: any ServerData) throws {
        self.target = target
        self.data = data
        people = KnownPeople(catalog: data.accountUseCases.catalog)
        store = try data.store(of: target.container, in: target.environment)
        tokenKey = try store.identity.tokenKey
    }

    /// Opens a database of it, as `OperatedDatabase.opened`.
    ///
    /// - Throws: `RecordsRefusal` for a zone that such a database cannot have.
    func opened(
        _ scope: DatabaseScope, for caller: Caller, zone: String, of owner: String? = nil,
        saves: Bool = true, linksShares: Bool = false
    ) throws -> OperatedDatabase.Opened {
        // Nobody gets an address: what was uploaded is known by its receipt.
        let assets = AssetAccess(AssetTokens(key: tokenKey, base: ""), now: data.clock.now()) {
            AssetOrigin(credential: .serverKey([]), user: nil)
        }
        let database = Database(
            scope: scope, container: target.container, environment: target.environment,
            caller: caller, limits: data.limits, storage: store,
            identities: people.people(of: target.container),
            random: data.random, assets: saves ? assets : nil,
            shareAddresses: linksShares ? ShareAddresses(key: tokenKey, base: "") : nil)
        let zone = try RecordsRefusal.of {
            try ZoneReader(caller: caller, scope: scope).zone(
                ZoneReader.Spelling(name: zone, owner: owner))
        }
        return OperatedDatabase.Opened(database: database, zone: zone, tokenKey: tokenKey)
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
