/// Copies everything, also while the server runs.
package struct BackUpData: AdministrativeAction {
    package var name: String { "backup" }

    package var right: ActionRight { .server.proven }

    private let destination: any BackupDestination

    package init(to destination: any BackupDestination) { self.destination = destination }

    package var changes: Bool { false }

    package var isNoted: Bool { true }

    package func run(in data: any ServerData, by actor: Operator) throws -> BackupReport {
        try data.backUp(to: destination)
    }
}
