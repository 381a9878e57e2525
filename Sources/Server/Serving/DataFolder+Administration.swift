import Administration
import CloudModel
import SQLiteStorage
import Storage

extension DataFolder: ServerData {
    package var limits: ServiceLimits { configuration.serviceLimits }

    package func environments() throws -> [ContainerEnvironment] {
        try stores.existing().map { ContainerEnvironment($0.container, $0.environment) }
    }

    package func store(
        of container: ContainerID, in environment: Environment
    ) throws -> any Storage {
        try stores.store(of: container, in: environment)
    }

    package func reset(
        _ place: ContainerEnvironment, to beginning: EnvironmentBeginning
    ) throws {
        try stores.reset(
            Stores.Key(place.container, place.environment),
            SQLiteStore.Beginning(
                schema: beginning.schema, moment: clock.now(), who: beginning.author,
                difference: beginning.difference))
    }

    package func backUp(to destination: any BackupDestination) throws -> [String] {
        try DataBackup.copy(self, to: destination)
    }
}
