import Accounts
import CloudDatabase
import CloudModel
import Storage

/// The databases of an environment's people as they see them, for what shows their records.
struct ViewedDatabases {
    private let environment: ContainerEnvironment
    private let store: any Store
    private let identities: any Identities
    private let data: any ServerData

    init(_ environment: ContainerEnvironment, _ store: any Store, _ data: any ServerData) {
        self.environment = environment
        self.store = store
        self.data = data
        identities = KnownPeople(catalog: data.accountUseCases.catalog)
            .people(of: environment.container)
    }

    /// Without links to assets, since nobody gets them.
    func database(of owner: UserRecordName) -> Database {
        let isPublic = owner == .publicOwner
        return Database(
            scope: isPublic ? .public : .private, container: environment.container,
            environment: environment.environment,
            caller: Caller(
                kind: isPublic ? .serverKey : .user, userRecordName: owner, passesRoles: isPublic),
            limits: data.limits, storage: store, identities: identities, random: data.random)
    }
}
