import Accounts
import Storage

/// Makes a person's account; the e-mail address counts as verified, the phone number does not.
///
/// Refusals: those of `Users.create`.
package struct CreateAccount: AdministrativeAction {
    package var name: String { "user create" }

    package var right: ActionRight { .server }

    private let email: String
    private let givenName: String?
    private let familyName: String?
    private let phone: String?
    private let password: [UInt8]?

    /// - Parameter password: 8 to 1,024 bytes; nil for an account without one.
    package init(
        email: String, givenName: String? = nil, familyName: String? = nil, phone: String? = nil,
        password: [UInt8]? = nil
    ) {
        self.email = email
        self.givenName = givenName
        self.familyName = familyName
        self.phone = phone
        self.password = password
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> AccountRecord {
        try data.users.create(
            email: email, givenName: givenName, familyName: familyName, phone: phone,
            password: password, now: data.clock.now())
    }
}
