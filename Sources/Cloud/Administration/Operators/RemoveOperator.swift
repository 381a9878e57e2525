import CloudModel
import Storage

/// Takes the role of an operator from somebody, at once; their account stays.
///
/// Refusals: `AccountsRefusal.emailIllegal`, `userUnknown`; `CatalogRefusal.operatorUnknown`.
package struct RemoveOperator: AdministrativeAction {
    package var name: String { "operator remove" }

    package var right: ActionRight { .server.proven }

    private let email: String

    package init(_ email: String) { self.email = email }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(account: try data.users.find(email: email).id)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> AccountRecord {
        let account = try data.users.find(email: email)
        try data.accountUseCases.catalog.set(nil, of: account.id, now: data.clock.now())
        return account
    }
}
