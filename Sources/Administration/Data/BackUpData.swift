/// Copies everything, also while the server runs.
package struct BackUpData: AdministrativeAction {
    package var name: String { "backup" }

    private let destination: any BackupDestination

    package init(to destination: any BackupDestination) { self.destination = destination }

    package var changes: Bool { false }

    /// - Returns: a line for each asset that is not in the copy because it is not there or damaged.
    package func run(in data: any ServerData, by actor: Operator) throws -> [String] {
        try data.backUp(to: destination)
    }
}
