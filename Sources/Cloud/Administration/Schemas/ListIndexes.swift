import CloudModel
import Storage

/// Lists the indexes that queries have had made, with how far each has come.
///
/// Refusals: `AccountsRefusal.containerNameIllegal`, `CatalogRefusal.containerUnknown`.
package struct ListIndexes: AdministrativeAction {
    private let target: NamedEnvironment

    package init(of target: NamedEnvironment) { self.target = target }

    package var name: String { "schema indexes" }

    package var right: ActionRight { .container }
    package var changes: Bool { false }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data)
    }

    /// - Returns: in the order of their types, fields and kinds.
    package func run(in data: any ServerData, by actor: Operator) throws -> [IndexSize] {
        try data.space(of: target.found(in: data)).size(owners: 0, counting: .indexes).indexes
            .sorted {
                ($0.type, $0.field, $0.kind.rawValue) < ($1.type, $1.field, $1.kind.rawValue)
            }
    }
}
