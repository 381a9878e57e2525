import CloudModel
import Storage

/// Lists the containers with their settings, and what is missing of them.
package struct ListContainers: AdministrativeAction {
    /// A container as it stands.
    package struct Listed: Sendable {
        package let container: ContainerRecord
        /// The environments whose data is not in its place, or another's is.
        package let missing: [Environment]
    }

    package var name: String { "container list" }

    package init() {}

    package var changes: Bool { false }

    package func run(in data: any ServerData, by actor: Operator) throws -> [Listed] {
        let missing = try data.missingEnvironments()
        return try data.containers.list().map { container in
            Listed(
                container: container,
                missing: missing.filter { $0.container == container.id }.map(\.environment))
        }
    }
}
