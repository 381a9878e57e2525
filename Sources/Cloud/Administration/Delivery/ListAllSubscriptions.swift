import Accounts
import CloudModel
import Storage

/// Lists who waits to hear of what in an environment of a container, without what their queries compare with;
/// searched by the subscriptions' IDs.
///
/// Refusals: `AccountsRefusal.emailIllegal`, `userUnknown`; `UnusableCursor`.
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

    package var right: ActionRight { .container.ofPerson }

    private let target: NamedEnvironment
    private let email: String?
    private let request: ListRequest

    /// - Parameter email: whose; nil for everybody's.
    package init(
        in target: NamedEnvironment, email: String? = nil, _ request: ListRequest = ListRequest()
    ) {
        self.target = target
        self.request = request
        self.email = email
    }

    package var changes: Bool { false }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data, email: email)
    }

    package func run(
        in data: any ServerData, by actor: Operator
    ) throws -> ListPage<Entry> {
        let container = try target.found(in: data).container
        let user = try email.map {
            try data.users.derivedName(of: data.users.find(email: $0), in: container)
        }
        let page = try target.store(in: data).read { try $0.allSubscriptions(of: user, request) }
        let emails = try data.users.emails(of: Set(page.items.map(\.owner.user)), in: container)
        return page.map {
            Entry(
                user: $0.owner.user, email: emails[$0.owner.user], scope: $0.owner.scope,
                subscription: $0.subscription)
        }
    }
}
