import Accounts
import CloudModel
import Storage

/// Lists who waits to hear of what in an environment of a container, without what their queries compare with.
///
/// Refusals: `AccountsRefusal.emailIllegal`, `userUnknown`.
package struct ListAllSubscriptions: AdministrativeAction {
    /// One subscription, and whose it is.
    package struct Entry: Sendable {
        package let user: UserRecordName
        /// Nil for a server key's, and for a user without an address.
        package let email: String?
        package let scope: DatabaseScope
        package let subscription: Subscription
    }

    package var name: String { "subscription list" }

    private let target: NamedEnvironment
    private let email: String?

    /// - Parameter email: whose; nil for everybody's.
    package init(in target: NamedEnvironment, email: String? = nil) {
        self.target = target
        self.email = email
    }

    package var changes: Bool { false }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data, email: email)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> [Entry] {
        let container = try target.found(in: data).container
        let accounts = try email.map { [try data.users.find(email: $0)] } ?? data.users.list()
        var emails: [UserRecordName: String?] = [:]
        for account in accounts {
            emails[try data.users.derivedName(of: account, in: container)] = account.email
        }
        let user = email == nil ? nil : emails.keys.first
        return try target.store(in: data).read { try $0.allSubscriptions(of: user) }.map {
            Entry(
                user: $0.owner.user, email: emails[$0.owner.user] ?? nil, scope: $0.owner.scope,
                subscription: $0.subscription)
        }
    }
}
