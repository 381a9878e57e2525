import CloudModel
import Cryptography
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

    /// - Parameter some: only those among these; nil for all.
    /// - Throws: `UnusableCursor`.
    package func list(
        _ request: ListRequest = ListRequest(), among some: Set<ContainerID>? = nil
    ) throws -> ListPage<ContainerRecord> {
        try catalog.containers(request, usedBy: nil, among: some)
    }

    /// - Throws: `containerNameIllegal`, `containerUnknown`.
    package func find(_ name: String) throws -> ContainerRecord {
        guard let container = try catalog.container(Containers.id(name)) else {
            throw CatalogRefusal.containerUnknown
        }
        return container
    }

    /// Those that some names are of.
    ///
    /// - Throws: `containerNameIllegal`; `containerUnknown` where there is one that is not.
    package func ids(of names: [String]) throws -> Set<ContainerID> {
        let ids = Set(try names.map { try Containers.id($0) })
        guard try catalog.containers(ids).count == ids.count else {
            throw CatalogRefusal.containerUnknown
        }
        return ids
    }

    /// Sets keys of `ContainerSetting`; an empty value goes back to the default.
    ///
    /// - Parameter icon: the picture for the setting `icon`, whose value then says only that there is one.
    /// - Throws: `settingUnknown`, `settingValueIllegal`, `containerUnknown`.
    package func set(
        _ values: [String: String], icon: [UInt8]? = nil, of name: String
    ) throws -> ContainerRecord {
        let id = try Containers.id(name)
        var settings: [String: String?] = [:]
        var picture: NamedPicture?
        for (key, value) in values {
            guard let setting = ContainerSetting(rawValue: key) else {
                throw AccountsRefusal.settingUnknown
            }
            if setting == .icon, !value.isEmpty, let icon, ContainerSetting.isIcon(icon) {
                let named = NamedPicture(icon)
                settings[key] = named.name
                picture = named
                continue
            }
            guard value.isEmpty || setting.accepts(value) else {
                throw AccountsRefusal.settingValueIllegal(setting)
            }
            settings.updateValue(value.isEmpty ? nil : value, forKey: key)
        }
        try catalog.set(settings, icon: picture, of: id)
        return try find(name)
    }

    static func id(_ name: String) throws(AccountsRefusal) -> ContainerID {
        guard let id = ContainerID(name) else { throw .containerNameIllegal }
        return id
    }
}

extension NamedPicture {
    private static let nameBytes = 16

    /// A picture under the name that its bytes give it.
    package init(_ bytes: [UInt8]) {
        let digest = SHA256.digest(bytes).prefix(Self.nameBytes)
        self.init(name: Hexadecimal.encode(digest), bytes: bytes)
    }
}
