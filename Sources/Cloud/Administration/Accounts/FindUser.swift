import Accounts
import CloudModel
import Storage

/// Tells whose account is behind the name by which a container knows a user.
///
/// Nil for nobody's, such as a server key's. Refusals: `AccountsRefusal.containerNameIllegal`,
/// `CatalogRefusal.containerUnknown`.
package struct FindUser: AdministrativeAction {
    package var name: String { "user named" }
    package var changes: Bool { false }
    package var right: ActionRight { .container }

    private let container: String
    private let user: String

    package init(named user: String, in container: String) {
        self.user = user
        self.container = container
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(container: try data.containers.find(container).id)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> AccountRecord? {
        let id = try data.containers.find(container).id
        guard let name = UserRecordName(user),
            let account = try data.accountUseCases.catalog.account(named: name, in: id)
        else { return nil }
        return try data.users.find(email: account.text)
    }
}
