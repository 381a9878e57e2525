import Accounts
import CloudModel
import Storage

/// Tells whose account is behind the name by which a container knows a user.
///
/// Refusals: `AccountsRefusal.containerNameIllegal`, `CatalogRefusal.containerUnknown`, `UserNameRefusal`.
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

    package func run(in data: any ServerData, by actor: Operator) throws -> AccountRecord {
        let id = try data.containers.find(container).id
        guard let name = UserRecordName(user),
            let account = try data.accountUseCases.catalog.account(named: name, in: id)
        else { throw UserNameRefusal() }
        return try data.users.find(email: account.text)
    }
}

/// No account is behind a user record name: it is a server key's, or nobody's.
package struct UserNameRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    package var description: String { "no account has this user record name in the container" }
}
