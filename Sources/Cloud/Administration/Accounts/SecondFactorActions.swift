import Accounts
import Storage

/// Whether somebody is asked for codes after the password.
package struct SecondFactorState: Sendable {
    package let account: AccountRecord
    /// How many recovery codes are left; nil where no codes are asked for.
    package let recoveryLeft: Int?
}

/// Says whether a user is asked for codes after the password.
///
/// Refusals: `emailIllegal`, `userUnknown`.
package struct ShowSecondFactor: AdministrativeAction {
    package var name: String { "user second-factor" }

    package var right: ActionRight { .person }

    private let email: String

    package init(of email: String) { self.email = email }

    package var changes: Bool { false }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(account: try data.users.find(email: email).id)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> SecondFactorState {
        let account = try data.users.find(email: email)
        return SecondFactorState(
            account: account,
            recoveryLeft: try data.accountUseCases.secondFactors.recoveryLeft(of: account.id))
    }
}

/// Removes a user's second factor, so that the password is enough: for people who have lost both
/// the app and the recovery codes.
///
/// Refusals: `emailIllegal`, `userUnknown`.
package struct RemoveSecondFactor: AdministrativeAction {
    package var name: String { "user second-factor" }

    package var right: ActionRight { .server.proven }

    private let email: String

    package init(of email: String) { self.email = email }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(account: try data.users.find(email: email).id)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> SecondFactorState {
        let account = try data.users.find(email: email)
        try data.accountUseCases.secondFactors.remove(of: account.id)
        return SecondFactorState(account: account, recoveryLeft: nil)
    }
}
