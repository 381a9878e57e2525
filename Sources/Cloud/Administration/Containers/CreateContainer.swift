import Accounts
import CloudModel
import Storage

/// Makes a container.
///
/// Refusals: `AccountsRefusal.containerNameIllegal`, `CatalogRefusal.containerExists`.
package struct CreateContainer: AdministrativeAction {
    package var name: String { "container create" }

    package var right: ActionRight { .server }

    private let id: String

    package init(_ id: String) { self.id = id }

    package func subject(in data: any ServerData) -> ActionSubject {
        ActionSubject(container: ContainerID(id))
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> ContainerRecord {
        try data.containers.create(id, now: data.clock.now())
    }
}
