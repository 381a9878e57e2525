import Storage

/// Lists the accounts.
package struct ListAccounts: AdministrativeAction {
    package var name: String { "user list" }

    package init() {}

    package var changes: Bool { false }

    package func run(in data: any ServerData, by actor: Operator) throws -> [AccountRecord] {
        try data.users.list()
    }
}
