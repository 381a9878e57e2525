import Storage

/// What an operator is to have, by the names that somebody gives.
package struct NamedRights: Sendable {
    private let containers: [String]
    private let isReadOnly: Bool

    /// - Parameter containers: empty for all.
    package init(containers: [String], isReadOnly: Bool) {
        self.containers = containers
        self.isReadOnly = isReadOnly
    }

    /// - Throws: `AccountsRefusal.containerNameIllegal`, `CatalogRefusal.containerUnknown`.
    func found(in data: any ServerData) throws -> OperatorRights {
        OperatorRights(
            containers: containers.isEmpty ? nil : try data.containers.ids(of: containers),
            isReadOnly: isReadOnly)
    }
}
