import Accounts
import CloudModel
import Storage

/// An environment of a container, by the name that somebody gives.
package struct NamedEnvironment: Sendable {
    package let container: String
    package let environment: Environment

    package init(_ container: String, _ environment: Environment) {
        self.container = container
        self.environment = environment
    }

    /// - Throws: `AccountsRefusal.containerNameIllegal`, `CatalogRefusal.containerUnknown`.
    func found(in data: any ServerData) throws -> ContainerEnvironment {
        ContainerEnvironment(try data.containers.find(container).id, environment)
    }

    /// - Throws: as `found`; `StorageFailure`.
    func store(in data: any ServerData) throws -> any Store {
        let found = try found(in: data)
        return try data.store(of: found.container, in: found.environment)
    }
}

extension ActionSubject {
    /// About an environment, and about a person or an item in it.
    ///
    /// - Parameter email: of the account that it is about; nil for none.
    /// - Throws: as `NamedEnvironment.found`; then `AccountsRefusal.emailIllegal`, `userUnknown`.
    init(
        _ target: NamedEnvironment, in data: any ServerData, email: String? = nil,
        item: String? = nil
    ) throws {
        let found = try target.found(in: data)
        self.init(
            container: found.container, environment: found.environment,
            account: try email.map { try data.users.find(email: $0).id }, item: item)
    }
}
