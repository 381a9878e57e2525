import CloudModel
import Storage

/// What the caller may do with the records of the batch (rulings.md 6 and 8).
struct RightRule {
    private let context: BatchContext

    init(_ context: BatchContext) { self.context = context }

    /// Refuses what the caller may not do whatever is stored.
    ///
    /// That is to make records of some types, and to make or delete the records that the server keeps of
    /// users.
    func check(toMakeOrDelete operation: RecordOperation) throws {
        guard !operation.kind.deletes else {
            guard !operation.name.isReserved else { throw UserRecord.deleteRefused }
            return
        }
        guard !operation.name.isReserved, operation.type != .users else {
            throw UserRecord.createRefused
        }
        // Without a type, the save fails for lack of it. Shares have rules of their own.
        guard let type = operation.type, type != .share,
            context.rights.reach(.create, on: type) == .none
        else { return }
        throw RecordAccess.createRefused
    }

    /// Whether the caller may do this to the living record of a name.
    ///
    /// What is read for this counts towards no limit: a limit would tell the size of the record.
    func allows(_ permission: Permissions, _ key: RecordKey) throws -> Bool {
        guard context.rights.holdsBack else { return true }
        let previous = try context.previous(key)
        return try context.rights.allows(permission, ofType: previous.type) {
            try context.creator(of: key)
        }
    }

    /// Takes the field `roles` out of the fields that a save of a user's record sends.
    ///
    /// - Returns: the other fields, and the user's new roles; nil when the roles stay.
    /// - Throws: `Fault` ACCESS_DENIED when the roles change and the request is not signed by a key of scope
    ///   `container`; BAD_REQUEST for a number that no role has.
    func rolesApart(
        _ admitted: EncodedFields, of type: RecordTypeName, _ name: RecordName
    ) throws -> (EncodedFields, Set<Int64>?) {
        guard type == .users, UserRecordName(name.text) != nil else { return (admitted, nil) }
        let (fields, wanted) = try UserRecord.split(admitted)
        guard let wanted else { return (fields, nil) }
        guard context.database.scope == .public, context.database.caller.passesRoles else {
            throw Fault(
                .accessDenied,
                "WRITE operation not permitted: only a key of scope container changes roles")
        }
        let known = Set(context.schema.roles.values)
        if let unknown = wanted.sorted().first(where: { !known.contains($0) }) {
            throw Fault.badRequest("roles: no role has the number \(unknown)")
        }
        return (fields, wanted)
    }

    /// The record of a user; it shows the user's roles only to those who give roles.
    func answered(_ body: [UInt8], of user: UserRecordName) throws -> [UInt8] {
        context.database.caller.passesRoles
            ? UserRecord.body(body, roles: try roles(of: user)) : body
    }

    /// The roles of a user; only the public database has roles.
    func roles(of user: UserRecordName) throws -> Set<Int64> {
        guard context.database.scope == .public else { return [] }
        if let known = context.rolesOfUsers[user] { return known }
        let named = context.operations.indices.compactMap { index in
            context.operation(index).flatMap { UserRecord.user($0.name, in: context.zone.name) }
        }
        let users = Array(Set(named).union([user]).subtracting(context.rolesOfUsers.keys))
        for (user, given) in zip(users, try context.stored.assignedRoles(of: users)) {
            context.rolesOfUsers[user] = given.intersection(context.schema.roles.values)
        }
        return context.rolesOfUsers[user] ?? []
    }
}
