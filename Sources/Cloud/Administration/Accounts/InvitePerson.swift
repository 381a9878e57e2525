import Accounts
import CloudModel
import Storage

/// Invites somebody to make an account of their own.
///
/// Refusals: `AccountsRefusal.addressIllegal`, `CatalogRefusal.addressTaken`, `SignUpIsOff`.
package struct InvitePerson: AdministrativeAction {
    package enum Outcome: Sendable {
        /// A letter to the address is on its way.
        case sent(Address)
        /// A link to hand on, good once.
        case link(String, for: Address)
    }

    package var name: String { "user invite" }

    package var right: ActionRight { .server }

    private let address: String

    /// - Parameter address: an e-mail address or a phone number.
    package init(_ address: String) { self.address = address }

    package func run(in data: any ServerData, by actor: Operator) throws -> Outcome {
        guard data.accountUseCases.signUp != .off else { throw SignUpIsOff() }
        return try Self.invite(try AddressFormat.any(address), in: data)
    }

    /// Sends a letter, or makes the link for the operator to hand on.
    static func invite(_ address: Address, in data: any ServerData) throws -> Outcome {
        // Its owner types it with the country's code.
        guard address.kind == .email || AddressFormat.isInternational(address) else {
            throw AccountsRefusal.phoneNotInternational
        }
        let (accountUseCases, now) = (data.accountUseCases, data.clock.now())
        guard try accountUseCases.catalog.account(verified: address) == nil else {
            throw CatalogRefusal.addressTaken
        }
        guard !accountUseCases.reaches(address.kind) else {
            try accountUseCases.letters.post(.invitation, to: address, now: now)
            return .sent(address)
        }
        let secret = try accountUseCases.letters.invitation(to: address, now: now)
        return .link("\(accountUseCases.publicBaseURL)/sign-in/welcome/\(secret)", for: address)
    }
}

/// People cannot create accounts by themselves on this server.
package struct SignUpIsOff: Error, CustomStringConvertible {
    package var description: String {
        "nobody makes an account by themselves: accounts.signUp is \"off\""
    }
}
