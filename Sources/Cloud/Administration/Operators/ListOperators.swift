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
        let useCases = data.accountUseCases
        guard let request = try resolved(among: data.users) else {
            return ListPage(items: [], next: nil)
        }
        return try useCases.catalog.operators(request).map { record in
            Listed(
                record: record, email: try useCases.catalog.account(record.account)?.email ?? "",
                hasSecondFactor: try useCases.secondFactors.recoveryLeft(of: record.account)
                    != nil)
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
