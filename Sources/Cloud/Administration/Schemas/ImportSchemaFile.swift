import CloudDatabase
import CloudModel

/// Makes development's schema what a file says, or only says what would change.
///
/// Refusals: `SchemaFileRefusal`; `SchemaRefusal` for what production or a record of development has;
/// `AccountsRefusal.containerNameIllegal`, `CatalogRefusal.containerUnknown`.
package struct ImportSchemaFile: AdministrativeAction {
    private let file: SchemaFile
    private let container: String
    private let prunes: Bool
    private let isMeant: Bool

    /// - Parameters:
    ///   - prunes: whether development may lose what production has.
    ///   - isMeant: false to change nothing and to hear what would change.
    package init(_ file: SchemaFile, into container: String, prunes: Bool, isMeant: Bool) {
        self.file = file
        self.container = container
        self.prunes = prunes
        self.isMeant = isMeant
    }

    package var name: String { isMeant ? "schema import" : "schema validate" }

    package var right: ActionRight { .container }
    package var changes: Bool { isMeant }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(NamedEnvironment(container, .development), in: data)
    }

    /// - Returns: what has changed, or would.
    package func run(in data: any ServerData, by actor: Operator) throws -> SchemaDifference {
        let schemas = ImportSchema(
            try file.schema(data.limits),
            into: try NamedEnvironment(container, .development).store(in: data),
            production: try NamedEnvironment(container, .production).store(in: data),
            limits: data.limits, prunes: prunes)
        return isMeant ? try schemas.run(by: actor.author(of: name)) : try schemas.validate()
    }
}
