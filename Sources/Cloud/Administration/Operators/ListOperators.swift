import Accounts
import Storage

/// Lists the operators, searched by how the IDs of their accounts begin, or by one address.
///
/// Refusals: `UnusableCursor`.
package struct ListOperators: AdministrativeAction {
    package struct Listed: Sendable {
        package let record: OperatorRecord
        /// Empty for an account without an address.
        package let email: String
        package let hasSecondFactor: Bool
    }

    package var name: String { "operator list" }

    package var right: ActionRight { .server }

    private let request: ListRequest

    package init(_ request: ListRequest = ListRequest()) { self.request = request }

    package var changes: Bool { false }

    package func run(in data: any ServerData, by actor: Operator) throws -> ListPage<Listed> {
        let catalog = data.accountUseCases.catalog
        guard let request = try resolved(among: data.users) else {
            return ListPage(items: [], next: nil)
        }
        let page = try catalog.operators(request)
        let ids = Set(page.items.map(\.account))
        let accounts = try catalog.accounts(Set(ids.map { .id($0) }))
        let means = try catalog.signInMeans(of: ids)
        return page.map { record in
            Listed(
                record: record, email: accounts[.id(record.account)]?.email ?? "",
                hasSecondFactor: means[record.account]?.secondFactor != nil)
        }
    }

    /// The request by the ID of the account, for one that names an address; nil where nobody has that.
    private func resolved(among users: Users) throws -> ListRequest? {
        guard request.prefix.contains("@") else { return request }
        do {
            let account = try users.find(email: request.prefix)
            return ListRequest(
                after: request.after, limit: request.limit, prefix: account.id.text)
        } catch is AccountsRefusal {
            return nil
        }
    }
}
