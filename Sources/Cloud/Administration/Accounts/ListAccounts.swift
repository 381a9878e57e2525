import Storage

/// Lists the accounts, searched by their addresses.
///
/// Refusals: `UnusableCursor`.
package struct ListAccounts: AdministrativeAction {
    package var name: String { "user list" }

    package var right: ActionRight { .filtered }

    private let request: ListRequest

    package init(_ request: ListRequest = ListRequest()) { self.request = request }

    package var changes: Bool { false }

    package func run(
        in data: any ServerData, by actor: Operator
    ) throws -> ListPage<AccountRecord> {
        try data.users.list(request, knownIn: actor.rights.containers)
    }
}
