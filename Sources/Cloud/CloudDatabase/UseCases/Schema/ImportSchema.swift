import CloudModel
import Storage

/// Makes development's schema what a text says, or changes nothing at all.
///
/// It refuses to remove what production has (unless asked to), and what a record in development has. Blocks:
/// for commands, never on an event loop.
package struct ImportSchema: Sendable {
    package let wanted: Schema
    package let development: any Store
    package let production: any Store
    package let limits: ServiceLimits
    /// Whether development may lose what production has, so that a deployment can then remove it there.
    package let prunes: Bool

    package init(
        _ wanted: Schema, into development: any Store, production: any Store,
        limits: ServiceLimits, prunes: Bool = false
    ) {
        self.wanted = wanted
        self.development = development
        self.production = production
        self.limits = limits
        self.prunes = prunes
    }

    /// Tells what would change.
    ///
    /// - Throws: `SchemaRefusal` where `run` would, and what the stores report.
    package func validate() throws -> SchemaDifference { try replacement(by: "").preview().made }

    /// Changes the schema.
    ///
    /// - Parameter who: for the history.
    /// - Throws: `SchemaRefusal`, and what the stores report.
    package func run(by who: String) throws -> SchemaDifference {
        try replacement(by: who).run().made
    }

    private func replacement(by who: String) -> SchemaReplacement {
        SchemaReplacement(storage: development, who: who) {
            try difference(over: $0)
        } decide: {
            difference, usage, _ in
            let used = difference.changes.compactMap { change in
                usage.count(change) > 0 ? "\(change) (in \(usage.count(change)) records)" : nil
            }
            guard used.isEmpty else {
                throw SchemaRefusal(
                    "records of development have what would go; delete them, or reset development",
                    used)
            }
            return SchemaOutcome(difference)
        }
    }

    private func difference(over schema: Schema) throws -> SchemaDifference {
        let deployed = try production.schema
        let target = wanted.withBuiltInTypes.settled(over: schema).settled(over: deployed)
        try limits.check(target)
        let lost = SchemaDifference(from: deployed, to: target).changes.filter {
            switch $0 {
            case .typeRemoved, .fieldRemoved: true
            default: false
            }
        }
        guard prunes || lost.isEmpty else {
            throw SchemaRefusal(
                "development would lose what production has (--prune lets it)",
                lost.map(\.description))
        }
        return SchemaDifference(from: schema, to: target)
    }
}
