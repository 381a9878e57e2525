import Accounts
import CloudModel
import Storage

/// Deletes a container with everything in it, for ever.
///
/// Refusals: `AccountsRefusal.containerNameIllegal`, `CatalogRefusal.containerUnknown`.
package struct DeleteContainer: AdministrativeAction {
    package var name: String { "container delete" }

    package var right: ActionRight { .server.proven }

    private let id: String

    package init(_ id: String) { self.id = id }

    package func subject(in data: any ServerData) -> ActionSubject {
        ActionSubject(container: ContainerID(id))
    }

    /// - Returns: its name in the spelling in which it was made.
    package func run(in data: any ServerData, by actor: Operator) throws -> ContainerID {
        let container = try data.containers.find(id).id
        try data.deleteContainer(container)
        return container
    }
}
