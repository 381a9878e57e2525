import CloudModel
import Storage

/// What happens to a store's schema: what changes, and what stays because records need it.
package struct SchemaOutcome: Sendable {
    package var made: SchemaDifference
    /// What would have been removed, and in how many records each thing is.
    package var kept: [(change: SchemaChange, count: Int)] = []
    /// In how many records each thing is that is removed, or would be.
    package var usage = SchemaUsage()

    package init(_ made: SchemaDifference) { self.made = made }
}

/// Changes the schema of one store, in an order that never leaves a record with something that the schema
/// lacks.
///
/// First it holds the types and fields that should go, so that no save brings them. Then it checks whether
/// any record has them. Then it writes all changes at once, or none. Blocks: never call it on an event loop.
struct SchemaReplacement: Sendable {
    let storage: any Store
    /// Who makes the change, for the history.
    let who: String
    /// Finds the changes that are wanted, given the schema of that moment.
    let plan: @Sendable (Schema) throws -> SchemaDifference
    /// Decides which of them are made, given what records have and the schema of that moment.
    let decide: @Sendable (SchemaDifference, SchemaUsage, Schema) throws -> SchemaOutcome

    /// How long a hold lasts unless it is renewed, in milliseconds.
    ///
    /// After a crash, saves are refused for as long.
    private static let holdMilliseconds: Milliseconds = 60_000

    /// Tells what `run` would do, and changes nothing.
    func preview() throws -> SchemaOutcome {
        let schema = try storage.schema
        let difference = try plan(schema)
        return try decide(difference, usage(of: difference.removals) {}, schema)
    }

    /// Makes the changes.
    ///
    /// - Throws: `SchemaRefusal`, and what the store reports.
    func run() throws -> SchemaOutcome {
        let removals = try plan(storage.schema).removals
        guard !removals.isEmpty else { return try write(removals, SchemaUsage()) }
        try storage.writeAndWait(frees: false) { transaction in
            guard try transaction.schema.leaving.isEmpty else {
                throw SchemaRefusal("another command is changing the schema; try again")
            }
            try transaction.hold(removals, until: transaction.now + Self.holdMilliseconds)
        }
        do {
            let usage = try usage(of: removals) { try goOnHolding(removals) }
            return try write(removals, usage)
        } catch {
            try storage.writeAndWait { transaction in
                guard try transaction.schema.leaving == removals else { return }
                try transaction.hold(Schema.Parts(), until: 0)
            }
            throw error
        }
    }

    /// - Throws: `SchemaRefusal` where records may have them that nobody can read.
    private func usage(
        of removals: Schema.Parts, goesOn: () throws -> Void
    ) throws -> SchemaUsage {
        let usage = try SchemaUsage(of: removals, in: storage, goesOn: goesOn)
        guard usage.damaged == 0 else {
            throw SchemaRefusal(
                "\(usage.damaged) records are not what was written, and may have what would go; "
                    + "`check --remove-damaged` deletes them")
        }
        return usage
    }

    private func goOnHolding(_ parts: Schema.Parts) throws {
        try storage.writeAndWait(frees: false) { transaction in
            guard try transaction.schema.leaving == parts else { throw Self.changed }
            try transaction.hold(parts, until: transaction.now + Self.holdMilliseconds)
        }
    }

    private static let changed = SchemaRefusal("the schema has changed meanwhile; try again")

    private func write(_ held: Schema.Parts, _ usage: SchemaUsage) throws -> SchemaOutcome {
        try storage.writeAndWait(frees: false) { transaction in
            // Saves may have changed the schema in the meantime.
            let difference = try plan(transaction.schema)
            guard
                try difference.removals == held
                    && (held.isEmpty || transaction.schema.leaving == held)
            else { throw Self.changed }
            let outcome = try decide(difference, usage, transaction.schema)
            var schema = try transaction.schema
            for change in outcome.made.changes { schema.apply(change) }
            if !held.isEmpty { schema.leaving = Schema.Parts() }
            if !outcome.made.isEmpty {
                try transaction.replaceSchema(
                    by: schema, who: who, difference: outcome.made.lines)
            } else if !held.isEmpty {
                try transaction.hold(Schema.Parts(), until: 0)
            }
            return outcome
        }
    }
}
