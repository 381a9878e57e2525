import CloudModel
import Storage

/// Lists the containers with their settings, and what is missing of them; searched by their IDs.
///
/// Refusals: `UnusableCursor`.
package struct ListContainers: AdministrativeAction {
    /// A container as it stands.
    package struct Listed: Sendable {
        package let container: ContainerRecord
        /// The environments whose data is not in its place, or another's is.
        package let missing: [Environment]
    }

    package var name: String { "container list" }

    package var right: ActionRight { .filtered }

    private let request: ListRequest

    package init(_ request: ListRequest = ListRequest()) { self.request = request }

    package var changes: Bool { false }

    package func run(
        in data: any ServerData, by actor: Operator
    ) throws -> ListPage<Listed> {
        let page = try data.containers.list(request, among: actor.rights.containers)
        let findings = try data.findings(of: Set(page.items.map(\.id)))
        return page.map {
            Listed(container: $0, missing: findings.environments(of: $0.id, .missing))
        }
    }
}
