import CloudModel
import Storage

/// The container environments that an operator means: all, those of a container, or one.
package struct SelectedEnvironments: Sendable {
    private let container: String?
    private let environment: Environment?

    package init(container: String? = nil, environment: Environment? = nil) {
        self.container = container
        self.environment = environment
    }

    /// Those of them that have data.
    ///
    /// - Throws: `AccountsRefusal.containerNameIllegal`, `CatalogRefusal.containerUnknown`.
    func found(in data: any ServerData) throws -> [ContainerEnvironment] {
        var found: [ContainerEnvironment] = []
        if let container {
            found = try data.environments(of: data.containers.find(container).id)
        } else {
            try data.forEachEnvironment { found.append($0) }
        }
        return found.filter { environment == nil || $0.environment == environment }
    }

    /// - Throws: as `found`.
    func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(
            container: try container.map { try data.containers.find($0).id },
            environment: environment)
    }
}

/// Tells how much each container environment holds, what that takes on the disk, and who holds the most of it.
///
/// Refusals: `AccountsRefusal.containerNameIllegal`, `CatalogRefusal.containerUnknown`.
package struct MeasureSizes: AdministrativeAction {
    /// What one environment holds.
    package struct Measured: Sendable {
        package let target: ContainerEnvironment
        package let size: StoreSize
    }

    package var name: String { "size" }

    package var right: ActionRight { .container }
    package var changes: Bool { false }

    private let selected: SelectedEnvironments
    private let ownersMax: Int

    /// - Parameter ownersMax: how many of the largest users of each are named.
    package init(of selected: SelectedEnvironments, owners ownersMax: Int = 0) {
        self.selected = selected
        self.ownersMax = ownersMax
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try selected.subject(in: data)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> [Measured] {
        try selected.found(in: data).map {
            Measured(target: $0, size: try data.space(of: $0).size(owners: ownersMax))
        }
    }
}
