import Accounts
import Storage

/// Sets a user's password, and signs them out everywhere.
///
/// Refusals: those of `Users.setPassword`.
package struct SetPassword: AdministrativeAction {
    package var name: String { "user password" }

    package var right: ActionRight { .server.proven }

    private let password: [UInt8]
    private let email: String

    /// - Parameter password: 8 to 1,024 bytes.
    package init(_ password: [UInt8], of email: String) {
        self.password = password
        self.email = email
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(account: try data.users.find(email: email).id)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> AccountRecord {
        try data.users.setPassword(password, email: email)
    }
}
