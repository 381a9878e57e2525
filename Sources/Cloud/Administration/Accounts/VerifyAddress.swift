import Accounts
import Storage

/// Notes that a further e-mail address or phone number is a user's own.
///
/// Refusals: those of `Users.verify`.
package struct VerifyAddress: AdministrativeAction {
    package var name: String { "user verify" }

    package var right: ActionRight { .server.proven }

    private let email: String
    private let address: String

    package init(_ address: String, of email: String) {
        self.email = email
        self.address = address
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(account: try data.users.find(email: email).id)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> AccountRecord {
        try data.users.verify(email: email, address: address, now: data.clock.now())
    }
}
