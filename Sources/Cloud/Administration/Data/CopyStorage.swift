import Accounts
import CloudModel
import Storage

/// What is copied, and where to.
package struct CopyRequest: Sendable {
    /// One container; nil for all that the server has.
    package let container: ContainerID?
    /// Where the data are, as the operator named it.
    package let source: StorageAddress
    /// What takes it, which no server may serve meanwhile.
    package let target: StorageAddress
    /// The settings of the server there; nil for those of a new one.
    package let settings: String?

    package init(
        container: ContainerID?, source: StorageAddress, target: StorageAddress, settings: String?
    ) {
        self.container = container
        self.source = source
        self.target = target
        self.settings = settings
    }
}

/// What was copied and compared.
package struct CopyReport: Sendable {
    package var containers: [ContainerID] = []
    /// Of all stores, without what an engine derives.
    package var rows = 0
    package var assets = 0
    /// A line for each asset that was not whole here before.
    package var problems: [String] = []

    package init() {}
}

/// Copies containers to another server's data and takes them out of use here.
///
/// Refusals: `StorageAddressRefusal`, `AccountsRefusal.containerNameIllegal`, `CatalogRefusal.containerUnknown`,
/// `CopyRefusal`.
package struct CopyStorage: AdministrativeAction {
    package var name: String { "storage copy" }

    private let source: String
    private let target: String
    private let settings: String?
    private let container: String?
    private let tell: (String) -> Bool

    /// - Parameters:
    ///   - source: the address of the server's own data.
    ///   - target: that of the data that take the copy.
    ///   - settings: the path of the settings of the server there; nil for none.
    ///   - container: nil for all.
    ///   - tell: as of `CheckProgress`.
    package init(
        from source: String, to target: String, settings: String?, only container: String?,
        tell: @escaping (String) -> Bool = { _ in true }
    ) {
        self.source = source
        self.target = target
        self.settings = settings
        self.container = container
        self.tell = tell
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(container: try container.map { try data.containers.find($0).id })
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> CopyReport {
        let request = CopyRequest(
            container: try container.map { try data.containers.find($0).id },
            source: try StorageAddress(source), target: try StorageAddress(target),
            settings: settings)
        return try data.copyStorage(request, CheckProgress(tell))
    }
}

/// Has containers used here again that `CopyStorage` has taken out of use.
///
/// Refusals: `AccountsRefusal.containerNameIllegal`, `CatalogRefusal.containerUnknown`.
package struct ReopenStorage: AdministrativeAction {
    package var name: String { "storage copy" }

    private let source: String
    private let container: String?

    /// - Parameters:
    ///   - source: the address of the server's own data.
    ///   - container: nil for all.
    package init(in source: String, only container: String?) {
        self.source = source
        self.container = container
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(
            container: try container.map { try data.containers.find($0).id }, item: "--reopen")
    }

    /// - Returns: those that were out of use.
    package func run(in data: any ServerData, by actor: Operator) throws -> [ContainerID] {
        try data.reopen(
            container.map { try data.containers.find($0).id },
            in: StorageAddress(source))
    }
}
