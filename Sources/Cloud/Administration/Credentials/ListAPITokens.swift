import Storage

/// Lists the API tokens, which tells nothing of their text.
package struct ListAPITokens: AdministrativeAction {
    package var name: String { "api-token list" }

    package init() {}

    package var changes: Bool { false }

    package func run(in data: any ServerData, by actor: Operator) throws -> [APITokenRecord] {
        try data.apiTokens.list()
    }
}
