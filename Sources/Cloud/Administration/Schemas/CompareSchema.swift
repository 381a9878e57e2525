import CloudDatabase
import CloudModel

/// Says what would make an environment's schema that of a file, or production's that of development.
///
/// Refusals: `SchemaFileRefusal`; `AccountsRefusal.containerNameIllegal`,
/// `CatalogRefusal.containerUnknown`.
package struct CompareSchema: AdministrativeAction {
    private let target: NamedEnvironment
    private let file: SchemaFile?

    /// - Parameter file: nil to compare production with development, whatever environment is named.
    package init(of target: NamedEnvironment, with file: SchemaFile?) {
        self.target = target
        self.file = file
    }

    package var name: String { "schema diff" }

    package var right: ActionRight { .container }
    package var changes: Bool { false }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> SchemaDifference {
        if let wanted = try file?.schema(data.limits) {
            let schema = try target.store(in: data).schema
            return SchemaDifference(from: schema, to: wanted.settled(over: schema))
        }
        return try difference(fromProductionOf: target.container, in: data)
    }

    private func difference(
        fromProductionOf container: String, in data: any ServerData
    ) throws -> SchemaDifference {
        let schema = try NamedEnvironment(container, .production).store(in: data).schema
        let wanted = try NamedEnvironment(container, .development).store(in: data).schema
        return SchemaDifference(from: schema, to: wanted.settled(over: schema))
    }
}
