/// Reads everything and says what is wrong.
package struct CheckData: AdministrativeAction {
    package var name: String { "check" }

    /// What was found.
    package struct Outcome: Sendable {
        /// A line each; empty when nothing is wrong.
        package let problems: [String]
        /// Files of assets in the trash, which is no problem.
        package let trashedAssets: Int
    }

    package init() {}

    package var changes: Bool { false }

    package func run(in data: any ServerData, by actor: Operator) throws -> Outcome {
        Outcome(problems: try data.problems(), trashedAssets: try data.trashedAssets())
    }
}
