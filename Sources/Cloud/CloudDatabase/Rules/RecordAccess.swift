import CloudModel
import Storage

/// What the caller may do with the records of a database, by their types (rulings.md 6 and 8).
///
/// In the public database, the grants of the schema decide. Everybody has the grants of `_world`. Users and
/// server keys also have those of `_icloud`, and those of `_creator` for their own records. Users also have
/// those of the roles that they were given. In other databases, and for keys of scope `container`, nothing is
/// held back.
///
/// It is made for one request, inside its snapshot or transaction, and goes by the grants and roles of that
/// moment.
package final class RecordAccess {
    /// Which records of a type a permission is for.
    package enum Reach: Sendable {
        case none
        /// Those that the caller has made.
        case own
        case all
    }

    package static let readRefused = Fault(.accessDenied, "READ operation not permitted")
    package static let createRefused = Fault(.accessDenied, "CREATE operation not permitted")
    package static let writeRefused = Fault(.accessDenied, "WRITE operation not permitted")

    /// The schema; empty outside of the public database.
    private let schema: Schema
    private let user: UserRecordName?
    /// The caller's roles, the same for every record; nil when grants hold nothing back.
    private let roles: [RoleName]?
    private var names: [Int64: RecordTypeName] = [:]

    package init(_ database: Database, _ snapshot: any StoreSnapshot) throws {
        user = database.caller.userRecordName
        schema = database.scope == .public ? try snapshot.schema : Schema()
        guard database.scope == .public, !database.caller.passesRoles else {
            roles = nil
            return
        }
        guard let user else {
            roles = [.world]
            return
        }
        let given = schema.roles.isEmpty ? [] : try snapshot.assignedRoles(of: user)
        roles = Self.roles(schema, given: given)
    }

    private init(of user: UserRecordName, _ schema: Schema, given: Set<Int64>) {
        self.schema = schema
        self.user = user
        roles = Self.roles(schema, given: given)
    }

    /// What another user may do with the records of the public database.
    convenience init(of user: UserRecordName, _ snapshot: any StoreSnapshot) throws {
        let schema = try snapshot.schema
        let given = schema.roles.isEmpty ? [] : try snapshot.assignedRoles(of: user)
        self.init(of: user, schema, given: given)
    }

    /// What other users may do with the records of the public database: read at once.
    static func all(
        of users: some Sequence<UserRecordName>, _ snapshot: any StoreSnapshot
    ) throws -> [UserRecordName: RecordAccess] {
        let (users, schema) = (Array(Set(users)), try snapshot.schema)
        // Most containers have no roles of their own.
        let given =
            schema.roles.isEmpty
            ? users.map { _ in [] } : try snapshot.assignedRoles(of: users)
        return Dictionary(
            uniqueKeysWithValues: zip(users, given).map {
                ($0, RecordAccess(of: $0, schema, given: $1))
            })
    }

    private static func roles(_ schema: Schema, given: Set<Int64>) -> [RoleName] {
        [.world, .authenticated] + schema.roles.filter { given.contains($0.value) }.keys
    }

    /// Whether the caller's roles are the same as at another look.
    func hasRoles(of other: RecordAccess) -> Bool {
        roles.map(Set.init) == other.roles.map(Set.init)
    }

    /// Whether there may be records that the caller must not see.
    var holdsBack: Bool { roles != nil }

    /// Which records of a type the caller may read, change or delete.
    ///
    /// For `create`: whether they may make any; what they make is their own.
    package func reach(_ permission: Permissions, on type: RecordTypeName) -> Reach {
        guard let roles else { return .all }
        // A type that does not exist yet gets the default grants.
        let grants = schema.types[type]?.grants ?? Schema.RecordType.grantsDefault
        if roles.contains(where: { grants[$0]?.contains(permission) == true }) { return .all }
        return user != nil && grants[.creator]?.contains(permission) == true ? .own : .none
    }

    /// Whether the caller may do this to a stored record.
    ///
    /// - Parameters:
    ///   - number: of its type.
    ///   - creator: who made it; asked for only where it matters.
    package func allows(
        _ permission: Permissions, ofType number: Int64, creator: () throws -> String?
    ) throws -> Bool {
        guard roles != nil else { return true }
        guard let type = type(number) else { return false }
        switch reach(permission, on: type) {
        case .all: return true
        case .none: return false
        case .own:
            guard let user else { return false }
            return try creator() == user.text
        }
    }

    /// Which records of a type the caller's queries find.
    ///
    /// - Throws: `Fault` ACCESS_DENIED when the caller may read none.
    package func queried(_ type: RecordTypeName) throws(Fault) -> QueryAccess {
        switch reach(.read, on: type) {
        case .all: return .all
        case .own:
            guard let user else { throw Self.readRefused }
            return .own(user)
        case .none: throw Self.readRefused
        }
    }

    /// Whether a free name must get the same answer as the name of a record that the caller may not see.
    ///
    /// That is so when the caller may see no record at all: none of the type that they name, or else none of
    /// any type.
    func conceals(_ permission: Permissions, type: RecordTypeName? = nil) -> Bool {
        guard roles != nil else { return false }
        if let type { return reach(permission, on: type) == .none }
        let types = schema.types.keys.lazy.filter { $0 != .users && $0 != .share }
        return !types.isEmpty && types.allSatisfy { reach(permission, on: $0) == .none }
    }

    /// Whether the type with that number is the one of the records that the server keeps of users.
    func isOfUsers(_ number: Int64) -> Bool { schema.types[.users]?.number == number }

    private func type(_ number: Int64) -> RecordTypeName? {
        if names.isEmpty { for (name, type) in schema.types { names[type.number] = name } }
        return names[number]
    }
}
