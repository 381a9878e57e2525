import CloudModel

/// What an operator may act on, and whether they may change it.
package struct OperatorRights: Sendable, Hashable {
    /// The containers that they have; nil for all, and for what belongs to none.
    package let containers: Set<ContainerID>?
    /// Whether they may only look.
    package let isReadOnly: Bool

    /// Those of who gives commands on the server's own machine.
    package static let all = OperatorRights(containers: nil, isReadOnly: false)

    package init(containers: Set<ContainerID>?, isReadOnly: Bool) {
        self.containers = containers
        self.isReadOnly = isReadOnly
    }

    package var hasAllContainers: Bool { containers == nil }

    package func reach(_ container: ContainerID) -> Bool { containers?.contains(container) ?? true }
}
