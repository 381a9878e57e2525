import Storage

/// Lists the operators, searched by their accounts' IDs.
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
        return try useCases.catalog.operators(request).map { record in
            Listed(
                record: record, email: try useCases.catalog.account(record.account)?.email ?? "",
                hasSecondFactor: try useCases.secondFactors.recoveryLeft(of: record.account)
                    != nil)
        }
    }
}
