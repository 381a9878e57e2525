import CloudModel
import Storage

/// How an app is shown to people.
package struct AppLabel: Sendable, Equatable {
    /// The name that the operator gave it, else the container's.
    package let name: String
    /// The name of its picture; nil where it has none.
    package let icon: String?
    /// The app's own page; nil where it has none.
    package let website: String?

    package init(name: String, icon: String? = nil, website: String? = nil) {
        self.name = name
        self.icon = icon
        self.website = website
    }

    package init(_ container: ContainerRecord) {
        func value(_ setting: ContainerSetting) -> String? { container.settings[setting.rawValue] }
        self.init(
            name: value(.name) ?? container.id.name, icon: value(.icon), website: value(.website))
    }

    /// The host of the app's own page, by which people know it; nil where it has none.
    package var site: String? { website.flatMap { WebURL($0)?.site } }
}

extension AccountUseCases {
    /// How the app of a container is shown to people.
    package func label(of container: ContainerID) throws -> AppLabel {
        try catalog.container(container).map { AppLabel($0) } ?? AppLabel(name: container.name)
    }
}
