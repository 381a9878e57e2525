import Accounts
import CloudDatabase
import CloudModel
import Storage

/// Gives a user one of a container's roles in the public database of an environment, or takes it.
///
/// Refusals: `RoleRefusal`; `CatalogRefusal.containerUnknown`; `AccountsRefusal.userUnknown`.
package struct ChangeRole: AdministrativeAction {
    package var name: String { isGiven ? "user role add" : "user role remove" }

    package var right: ActionRight { .container }

    /// What came of it.
    package struct Outcome: Sendable {
        package let account: AccountRecord
        /// The name that the container knows the account by.
        package let user: UserRecordName
        package let hasChanged: Bool
    }

    private let email: String
    private let role: String
    private let isGiven: Bool
    private let target: NamedEnvironment

    /// - Parameter isGiven: false to take the role away.
    package init(
        _ role: String, isGiven: Bool, to email: String, in target: NamedEnvironment
    ) {
        self.role = role
        self.isGiven = isGiven
        self.email = email
        self.target = target
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data, email: email, item: role)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> Outcome {
        let store = try target.store(in: data)
        let account = try data.users.find(email: email)
        let user = try data.users.recordName(of: account, in: target.found(in: data).container)
        do {
            let hasChanged = try AssignRole(role, isGiven: isGiven, to: user).run(in: store)
            return Outcome(account: account, user: user, hasChanged: hasChanged)
        } catch let refusal as AssignRole.Refusal {
            throw RoleRefusal(refusal, of: role, target.environment)
        }
    }
}

/// Why a role is neither given nor taken; nothing was changed.
package struct RoleRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    init(_ refusal: AssignRole.Refusal, of role: String, _ environment: Environment) {
        switch refusal {
        case .builtIn: description = "\(role) is built in: it is not given to anybody"
        case .unknown(let known):
            description =
                "the schema of \(environment.rawValue) has no role '\(role)'; it has "
                + (known.isEmpty ? "none" : known.joined(separator: ", "))
        }
    }
}
