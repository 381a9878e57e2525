import CloudModel
import Storage

/// What an operator does with containers.
///
/// Throws `AccountsRefusal` and `CatalogRefusal` for what cannot be done, and what the catalog
/// reports.
package struct Containers: Sendable {
    private let catalog: any CatalogStorage

    package init(catalog: any CatalogStorage) { self.catalog = catalog }

    /// - Throws: `containerNameIllegal`, `containerExists`.
    package func create(_ name: String, now: Milliseconds) throws -> ContainerRecord {
        let container = ContainerRecord(id: try Containers.id(name), createdAt: now)
        try catalog.add(container)
        return container
    }

    package func list() throws -> [ContainerRecord] { try catalog.containers() }

    /// - Throws: `containerNameIllegal`, `containerUnknown`.
    package func find(_ name: String) throws -> ContainerRecord {
        guard let container = try catalog.container(Containers.id(name)) else {
            throw CatalogRefusal.containerUnknown
        }
        return container
    }

    /// Sets keys of `ContainerSetting`; an empty value goes back to the default.
    ///
    /// - Throws: `settingUnknown`, `settingValueIllegal`, `containerUnknown`.
    package func set(_ values: [String: String], of name: String) throws -> ContainerRecord {
        let id = try Containers.id(name)
        var settings: [String: String?] = [:]
        for (key, value) in values {
            guard let setting = ContainerSetting(rawValue: key) else {
                throw AccountsRefusal.settingUnknown
            }
            guard value.isEmpty || setting.accepts(value) else {
                throw AccountsRefusal.settingValueIllegal
            }
            settings.updateValue(value.isEmpty ? nil : value, forKey: key)
        }
        try catalog.set(settings, of: id)
        return try find(name)
    }

    /// Deletes the container with its tokens and keys from the catalog, not from the disk.
    ///
    /// - Throws: `containerNameIllegal`, `containerUnknown`.
    package func delete(_ name: String) throws { try catalog.delete(Containers.id(name)) }

    static func id(_ name: String) throws(AccountsRefusal) -> ContainerID {
        guard let id = ContainerID(name) else { throw .containerNameIllegal }
        return id
    }
}
