import CloudModel
import Storage

/// Lists who changed an environment's schema, when and in what, the latest first.
///
/// Refusals: `AccountsRefusal.containerNameIllegal`, `CatalogRefusal.containerUnknown`.
package struct ListSchemaChanges: AdministrativeAction {
    private let target: NamedEnvironment
    private let limit: Int

    /// - Parameter limit: how many changes.
    package init(of target: NamedEnvironment, limit: Int) {
        self.target = target
        self.limit = limit
    }

    package var name: String { "schema history" }

    package var right: ActionRight { .container }
    package var changes: Bool { false }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data)
    }

    package func run(
        in data: any ServerData, by actor: Operator
    ) throws -> [StoredSchemaChange] {
        try target.store(in: data).read { try $0.schemaHistory(limit: limit) }
    }
}
