import CloudDatabase

/// Reads everything and says what is wrong.
package struct CheckData: AdministrativeAction {
    package var name: String { "check" }

    package var right: ActionRight { removesDamaged ? .server.proven : .server }

    /// What was found.
    package struct Outcome: Sendable {
        /// A line each; empty when nothing is wrong.
        package let problems: [String]
        /// Assets whose checksums were made again, as a crash or decay of these leaves them: no problem.
        package let mendedSums: Int
        /// Files of assets in the trash, which is no problem.
        package let trashedAssets: Int
        /// Records that were removed because they are not what was written.
        package let removedRecords: Int
    }

    private let removesDamaged: Bool

    /// - Parameter removesDamaged: whether records that are not what was written are deleted first.
    package init(removingDamaged removesDamaged: Bool = false) {
        self.removesDamaged = removesDamaged
    }

    package var changes: Bool { removesDamaged }

    package func run(in data: any ServerData, by actor: Operator) throws -> Outcome {
        var removed = RemoveDamagedRecords.Report()
        if removesDamaged {
            try data.forEachEnvironment { target in
                let store = try data.store(of: target.container, in: target.environment)
                let report = try RemoveDamagedRecords(
                    in: store, of: target.environment, limits: data.limits
                ).run()
                removed.removed += report.removed
                removed.kept += report.kept
            }
        }
        let problems = try data.problems() + removed.kept
        return Outcome(
            problems: problems, mendedSums: try data.mendSums(),
            trashedAssets: try data.trashedAssets(), removedRecords: removed.removed)
    }
}
