import CloudModel
import Storage

/// Gives production what development's schema has, and takes nothing away unless asked to.
///
/// Blocks: for commands, never on an event loop.
package struct DeploySchema: Sendable {
    package let development: any Store
    package let production: any Store
    package let limits: ServiceLimits
    /// Whether production loses what development does not have and no record needs.
    package let prunes: Bool

    package init(
        from development: any Store, to production: any Store, limits: ServiceLimits,
        prunes: Bool
    ) {
        self.development = development
        self.production = production
        self.limits = limits
        self.prunes = prunes
    }

    /// Tells what would change and what would stay.
    ///
    /// - Throws: `SchemaRefusal` where `run` would, and what the stores report.
    package func preview() throws -> SchemaOutcome { try replacement(by: "").preview() }

    /// Changes production's schema.
    ///
    /// - Parameter who: for the history.
    /// - Throws: `SchemaRefusal`, and what the stores report.
    package func run(by who: String) throws -> SchemaOutcome { try replacement(by: who).run() }

    private func replacement(by who: String) -> SchemaReplacement {
        SchemaReplacement(storage: production, who: who) {
            try difference(over: $0)
        } decide: {
            prunes ? try pruned($0, $1, over: $2) : SchemaOutcome($0)
        }
    }

    private func difference(over schema: Schema) throws -> SchemaDifference {
        var difference = SchemaDifference(
            from: schema, to: try development.schema.settled(over: schema))
        if !prunes {
            let retyped = difference.retyped
            guard retyped.isEmpty else {
                throw SchemaRefusal(
                    "production has fields of another type, which --prune replaces where no record "
                        + "has them", retyped)
            }
            difference.changes.removeAll { !$0.isAddition }
        }
        var target = schema
        for change in difference.changes { target.apply(change) }
        try limits.check(target)
        return difference
    }

    /// The part of the changes that is made when removals are wanted: all except removals of what records
    /// have.
    private func pruned(
        _ difference: SchemaDifference, _ usage: SchemaUsage, over schema: Schema
    ) throws(SchemaRefusal) -> SchemaOutcome {
        var outcome = SchemaOutcome(SchemaDifference([]))
        outcome.usage = usage
        let retyped = Set(difference.retyped)
        for change in difference.changes {
            let count = usage.count(change)
            guard count == 0 else {
                guard !retyped.contains(change.description) else {
                    throw SchemaRefusal(
                        "the type of a field that records have cannot change",
                        ["\(change) (in \(count) records)"])
                }
                outcome.kept.append((change, count))
                continue
            }
            outcome.made.changes.append(change)
        }
        // A type that stays keeps its grants, and the roles that they name.
        var target = schema
        for change in outcome.made.changes { target.apply(change) }
        let needed = Set(target.types.values.flatMap { $0.grants.keys })
        outcome.made.changes.removeAll { change in
            guard case .roleRemoved(let role) = change, needed.contains(role) else { return false }
            outcome.kept.append((change, 0))
            return true
        }
        return outcome
    }
}

extension SchemaDifference {
    /// Fields that are removed and added again with another type.
    fileprivate var retyped: [String] {
        var added: [RecordTypeName: Set<FieldName>] = [:]
        for case .fieldAdded(let type, let name, _) in changes {
            added[type, default: []].insert(name)
        }
        return changes.compactMap { change in
            guard case .fieldRemoved(let type, let name, _) = change else { return nil }
            return added[type]?.contains(name) == true ? change.description : nil
        }
    }
}
