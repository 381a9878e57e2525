import CloudDatabase
import CloudModel

/// Writes an environment's schema down in the schema language.
///
/// Refusals: `AccountsRefusal.containerNameIllegal`, `CatalogRefusal.containerUnknown`.
package struct ExportSchema: AdministrativeAction {
    package var name: String { "schema export" }

    package var right: ActionRight { .container }

    private let target: NamedEnvironment

    package init(of target: NamedEnvironment) {
        self.target = target
    }

    package var changes: Bool { false }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> String {
        SchemaLanguage.print(try target.store(in: data).schema)
    }
}
