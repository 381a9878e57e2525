import MigrationHistory
import Storage

extension MigrationError: EngineFault {
    package var finding: EngineFinding { .foreign }
}
