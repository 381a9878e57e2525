import CloudModel
import Storage

/// Gives back to the file system what holds nothing, in steps between the writes of others.
///
/// Refusals: `AccountsRefusal.containerNameIllegal`, `CatalogRefusal.containerUnknown`.
package struct ShrinkStores: AdministrativeAction {
    /// What one environment took before and takes now.
    package struct Shrunk: Sendable {
        package let target: ContainerEnvironment
        package let before: StoreSpace
        package let after: StoreSpace
    }

    /// How far it has come in one environment.
    package struct Progress: Sendable {
        package let target: ContainerEnvironment
        package let before: StoreSpace
        package let now: StoreSpace
    }

    package var name: String { "shrink" }

    package var right: ActionRight { .container }

    private let selected: SelectedEnvironments
    private let tell: @Sendable (Progress) -> Bool

    /// - Parameter tell: told before each step how far it has come; false ends it.
    package init(
        _ selected: SelectedEnvironments, telling tell: @escaping @Sendable (Progress) -> Bool
    ) {
        self.selected = selected
        self.tell = tell
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try selected.subject(in: data)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> [Shrunk] {
        try selected.found(in: data).map { target in
            let store = try data.space(of: target)
            let before = try store.size(owners: 0).space
            try store.giveBackSpace { now in
                tell(Progress(target: target, before: before, now: now))
            }
            return Shrunk(
                target: target, before: before, after: try store.size(owners: 0).space)
        }
    }
}
