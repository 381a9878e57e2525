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
    private let tell: (String) -> Bool

    /// - Parameters:
    ///   - removesDamaged: whether records that are not what was written are deleted first.
    ///   - tell: as of `CheckProgress`.
    package init(
        removingDamaged removesDamaged: Bool = false,
        tell: @escaping (String) -> Bool = { _ in true }
    ) {
        self.removesDamaged = removesDamaged
        self.tell = tell
    }

    package var changes: Bool { removesDamaged }

    package func run(in data: any ServerData, by actor: Operator) throws -> Outcome {
        var removed = RemoveDamagedRecords.Report()
        let progress = CheckProgress(tell)
        let parts = try data.checkedParts()
        progress.expect(parts: parts + (removesDamaged ? 1 : 0))
        if removesDamaged {
            try progress.begin("damaged records")
            try data.forEachEnvironment { target in
                try progress.advance(0, of: 1)
                let store = try data.store(of: target.container, in: target.environment)
                let report = try RemoveDamagedRecords(
                    in: store, of: target.environment, limits: data.limits
                ).run()
                removed.removed += report.removed
                removed.kept += report.kept
            }
        }
        let problems = try data.problems(progress) + removed.kept
        return Outcome(
            problems: problems, mendedSums: try data.mendSums(progress),
            trashedAssets: try data.trashedAssets(), removedRecords: removed.removed)
    }
}
