import Accounts
import Storage

/// Makes a token that lets a script act as an operator; its text is in the outcome and nowhere else.
///
/// Refusals: those of `NamedRights.found` and `OperatorTokens.create`.
package struct CreateOperatorToken: AdministrativeAction {
    package var name: String { "operator-token create" }

    package var right: ActionRight { .server.proven }

    private let tokenName: String?
    private let rights: NamedRights
    private let seconds: Int?

    /// - Parameters:
    ///   - name: unique over the server; made up when nil.
    ///   - seconds: how long it is good; nil for the usual time.
    package init(name: String?, rights: NamedRights, seconds: Int?) {
        tokenName = name
        self.rights = rights
        self.seconds = seconds
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(item: tokenName)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> OperatorTokens.Created {
        try data.accountUseCases.operatorTokens.create(
            name: tokenName, rights: try rights.found(in: data), seconds: seconds,
            now: data.clock.now())
    }
}

/// Lists the operator tokens that were made, without their text; searched by their names.
///
/// Refusals: `UnusableCursor`.
package struct ListOperatorTokens: AdministrativeAction {
    package var name: String { "operator-token list" }

    package var right: ActionRight { .server }

    private let request: ListRequest

    package init(_ request: ListRequest = ListRequest()) { self.request = request }

    package var changes: Bool { false }

    package func run(
        in data: any ServerData, by actor: Operator
    ) throws -> ListPage<OperatorTokenRecord> {
        try data.accountUseCases.catalog.operatorTokens(request)
    }
}

/// Ends an operator token at once.
///
/// Refusals: `CatalogRefusal.operatorTokenUnknown`.
package struct RevokeOperatorToken: AdministrativeAction {
    package var name: String { "operator-token revoke" }

    package var right: ActionRight { .server }

    private let tokenName: String

    package init(name: String) { tokenName = name }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(item: tokenName)
    }

    package func run(in data: any ServerData, by actor: Operator) throws {
        try data.accountUseCases.catalog.delete(.operatorToken(name: tokenName))
    }
}
