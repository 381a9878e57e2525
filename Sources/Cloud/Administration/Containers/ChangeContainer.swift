import Accounts
import CloudModel
import Storage

/// Changes settings of a container; an empty value goes back to the default.
///
/// Refusals: `AccountsRefusal.settingUnknown`, `settingValueIllegal`, `containerNameIllegal`;
/// `CatalogRefusal.containerUnknown`.
package struct ChangeContainer: AdministrativeAction {
    package var name: String { "container set" }

    package var right: ActionRight { .container }

    private let id: String
    private let settings: [String: String]
    private let icon: [UInt8]?

    /// - Parameter icon: the picture for the setting `icon`, where that is set.
    package init(_ id: String, settings: [String: String], icon: [UInt8]? = nil) {
        self.id = id
        self.settings = settings
        self.icon = icon
    }

    package func subject(in data: any ServerData) -> ActionSubject {
        ActionSubject(container: ContainerID(id))
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> ContainerRecord {
        try data.containers.set(settings, icon: icon, of: id)
    }
}
