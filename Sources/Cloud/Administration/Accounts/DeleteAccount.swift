import Accounts
import Storage

/// Deletes an account with its private data in every container, for ever.
///
/// Refusals: `AccountsRefusal.emailIllegal`, `userUnknown`.
package struct DeleteAccount: AdministrativeAction {
    package var name: String { "user delete" }

    package var right: ActionRight { .server.proven }

    private let email: String

    package init(email: String) { self.email = email }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(account: try data.users.find(email: email).id)
    }

    /// - Returns: the account as it was.
    package func run(in data: any ServerData, by actor: Operator) throws -> AccountRecord {
        let account = try data.users.find(email: email)
        try data.noteErasure(of: account.id, publicRecords: .keep)
        _ = try data.users.delete(email: email)
        try UnfinishedDeletions(in: data).finish()
        return account
    }
}
