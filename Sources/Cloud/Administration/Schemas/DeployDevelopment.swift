import CloudDatabase
import CloudModel

/// Brings production what development's schema has, or only says what would change.
///
/// Refusals: `SchemaRefusal`; `AccountsRefusal.containerNameIllegal`, `CatalogRefusal.containerUnknown`.
package struct DeployDevelopment: AdministrativeAction {
    private let container: String
    private let prunes: Bool
    private let isMeant: Bool

    /// - Parameters:
    ///   - prunes: whether production loses what development does not have and no record needs.
    ///   - isMeant: false to change nothing and to hear what would change.
    package init(of container: String, prunes: Bool, isMeant: Bool) {
        self.container = container
        self.prunes = prunes
        self.isMeant = isMeant
    }

    package var name: String { "schema deploy" }

    package var right: ActionRight { .container }
    package var changes: Bool { isMeant }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(NamedEnvironment(container, .production), in: data)
    }

    /// - Returns: what has changed and what has stayed, or would.
    package func run(in data: any ServerData, by actor: Operator) throws -> SchemaOutcome {
        let deployment = DeploySchema(
            from: try NamedEnvironment(container, .development).store(in: data),
            to: try NamedEnvironment(container, .production).store(in: data),
            limits: data.limits, prunes: prunes)
        return isMeant ? try deployment.run(by: actor.author(of: name)) : try deployment.preview()
    }
}
