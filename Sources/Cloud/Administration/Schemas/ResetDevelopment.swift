import CloudDatabase
import CloudModel

/// Sets development back to production's schema and deletes its data, or only says what would change.
///
/// Refusals: `AccountsRefusal.containerNameIllegal`, `CatalogRefusal.containerUnknown`.
package struct ResetDevelopment: AdministrativeAction {
    private let container: String
    private let isMeant: Bool

    /// - Parameter isMeant: false to change nothing and to hear what would change.
    package init(of container: String, isMeant: Bool) {
        self.container = container
        self.isMeant = isMeant
    }

    package var name: String { "schema reset" }

    package var right: ActionRight { isMeant ? .container.proven : .container }
    package var changes: Bool { isMeant }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(NamedEnvironment(container, .development), in: data)
    }

    /// - Returns: what has changed in the schema, or would.
    package func run(in data: any ServerData, by actor: Operator) throws -> SchemaDifference {
        let schema = try NamedEnvironment(container, .production).store(in: data).schema
        let development = NamedEnvironment(container, .development)
        let difference = SchemaDifference(
            from: try development.store(in: data).schema, to: schema)
        guard isMeant else { return difference }
        try data.reset(
            try development.found(in: data),
            to: EnvironmentBeginning(
                schema: schema, author: actor.author(of: name),
                difference: difference.lines + ["- all data"]))
        return difference
    }
}
