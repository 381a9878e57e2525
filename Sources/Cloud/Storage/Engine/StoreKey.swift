import CloudModel

/// Names one store: that of one environment of a container.
package struct StoreKey: Hashable, Sendable {
    package let container: ContainerID
    package let environment: Environment

    package init(_ container: ContainerID, _ environment: Environment) {
        self.container = container
        self.environment = environment
    }
}
