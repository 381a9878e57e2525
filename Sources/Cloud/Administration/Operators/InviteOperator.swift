import Accounts
import CloudModel
import Storage

/// Invites somebody to make an account that is an operator's from its first moment.
///
/// Refusals: `AccountsRefusal.emailIllegal`, `CatalogRefusal.addressTaken`, those of `NamedRights.found`.
package struct InviteOperator: AdministrativeAction {
    package var name: String { "operator invite" }

    package var right: ActionRight { .server.proven }

    private let email: String
    private let rights: NamedRights

    package init(_ email: String, rights: NamedRights) {
        self.email = email
        self.rights = rights
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> InvitePerson.Outcome {
        let address = try AddressFormat.email(email)
        let (useCases, now) = (data.accountUseCases, data.clock.now())
        let rights = try rights.found(in: data)
        guard try useCases.catalog.account(verified: address) == nil else {
            throw CatalogRefusal.addressTaken
        }
        try useCases.catalog.add(
            OperatorInvitation(
                address: address, rights: rights,
                expiresAt: now + Milliseconds(useCases.settings.invitationSeconds) * 1_000),
            now: now)
        return try InvitePerson.invite(address, in: data)
    }
}
