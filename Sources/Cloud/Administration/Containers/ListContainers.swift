import Storage

/// Lists the containers with their settings.
package struct ListContainers: AdministrativeAction {
    package var name: String { "container list" }

    package init() {}

    package var changes: Bool { false }

    package func run(in data: any ServerData, by actor: Operator) throws -> [ContainerRecord] {
        try data.containers.list()
    }
}
