import Accounts
import CloudModel

/// Ends pushes to one of a container's apps.
///
/// Refusals: `CatalogRefusal.containerUnknown`, `pushKeyUnknown`.
package struct RemovePushKey: AdministrativeAction {
    package var name: String { "push key remove" }

    package var right: ActionRight { .container }

    private let container: String
    private let topic: String

    package init(topic: String, of container: String) {
        self.container = container
        self.topic = topic
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(container: try data.containers.find(container).id, item: topic)
    }

    package func run(in data: any ServerData, by actor: Operator) throws {
        try data.pushKeys.remove(topic: topic, of: try data.containers.find(container).id)
    }
}
