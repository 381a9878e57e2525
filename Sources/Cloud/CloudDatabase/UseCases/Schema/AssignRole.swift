import CloudModel
import Storage

/// Gives a user one of the container's roles in an environment's public database, or takes it away.
package struct AssignRole: Sendable {
    /// Why a role cannot be given.
    package enum Refusal: Error, Sendable, Equatable {
        /// The role is built in: nobody gives it.
        case builtIn
        /// The schema has no such role, only these.
        case unknown(known: [String])
    }

    private let user: UserRecordName
    private let role: String
    private let isGiven: Bool

    /// - Parameter isGiven: false to take the role away.
    package init(_ role: String, isGiven: Bool, to user: UserRecordName) {
        self.role = role
        self.isGiven = isGiven
        self.user = user
    }

    /// Changes the user's roles and waits until that is on disk.
    ///
    /// Requests that begin later see it. Never run it on an event loop.
    ///
    /// - Returns: whether anything has changed.
    /// - Throws: `Refusal`; failures of the machinery.
    package func run(in storage: any Store) throws -> Bool {
        try storage.writeAndWait(frees: !isGiven) { transaction in
            let known = try transaction.schema.roles
            let name = RoleName(role)
            guard name?.isBuiltIn != true else { throw Refusal.builtIn }
            guard let name, let number = known[name] else {
                throw Refusal.unknown(known: known.keys.map(\.text).sorted())
            }
            let previous = try transaction.assignedRoles(of: user)
            let roles = isGiven ? previous.union([number]) : previous.subtracting([number])
            guard roles != previous else { return false }
            try transaction.assign(roles.intersection(known.values), to: user)
            return true
        }
    }
}
