import Storage

/// Lists the API tokens, searched by their names, which tells nothing of their text.
///
/// Refusals: `UnusableCursor`.
package struct ListAPITokens: AdministrativeAction {
    package var name: String { "api-token list" }

    package var right: ActionRight { .filtered }

    private let request: ListRequest

    package init(_ request: ListRequest = ListRequest()) { self.request = request }

    package var changes: Bool { false }

    package func run(
        in data: any ServerData, by actor: Operator
    ) throws -> ListPage<APITokenRecord> {
        try data.apiTokens.list(request, of: actor.rights.containers)
    }
}
