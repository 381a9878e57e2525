import Accounts
import CloudModel
import Storage

/// Makes somebody an operator, or gives an operator other rights; makes their account where they have none.
///
/// Refusals: those of `NamedRights.found` and `Users.create`; `OperatorNeedsAccount`.
package struct CreateOperator: AdministrativeAction {
    package struct Outcome: Sendable {
        package let account: AccountRecord
        package let rights: OperatorRights
        /// Whether codes are asked for after the password, as signing in as an operator needs.
        package let hasSecondFactor: Bool
    }

    package var name: String { "operator create" }

    package var right: ActionRight { .server.proven }

    private let email: String
    private let rights: NamedRights
    private let password: [UInt8]?

    /// - Parameter password: of the account that is made; nil where there is one.
    package init(_ email: String, rights: NamedRights, password: [UInt8]? = nil) {
        self.email = email
        self.rights = rights
        self.password = password
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(account: try known(in: data)?.id)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> Outcome {
        let (rights, now) = (try rights.found(in: data), data.clock.now())
        let account = try account(in: data, now: now)
        // Only people have an address; users whom an app brought in do not sign in by themselves.
        guard account.email != nil else { throw OperatorNeedsAccount() }
        let useCases = data.accountUseCases
        try useCases.catalog.set(rights, of: account.id, now: now)
        return Outcome(
            account: account, rights: rights,
            hasSecondFactor: try useCases.secondFactors.recoveryLeft(of: account.id) != nil)
    }

    private func account(in data: any ServerData, now: Milliseconds) throws -> AccountRecord {
        if let known = try known(in: data) {
            guard password == nil else { throw CatalogRefusal.addressTaken }
            return known
        }
        guard let password else { throw OperatorNeedsAccount() }
        return try data.users.create(email: email, password: password, now: now)
    }

    private func known(in data: any ServerData) throws -> AccountRecord? {
        do {
            return try data.users.find(email: email)
        } catch AccountsRefusal.userUnknown {
            return nil
        }
    }
}

/// Somebody who is to be an operator has no account to sign in with.
package struct OperatorNeedsAccount: Error, CustomStringConvertible {
    package var description: String {
        "there is no such user with an e-mail address: give a password for a new account, or invite them"
    }
}
