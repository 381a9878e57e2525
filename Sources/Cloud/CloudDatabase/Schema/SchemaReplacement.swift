import CloudModel
import Storage

/// What becomes of a store's schema: what is changed, and what stays since records need it.
package struct SchemaOutcome: Sendable {
    package var made: SchemaDifference
    /// What would have gone, and in how many records it is.
    package var kept: [(change: SchemaChange, count: Int)] = []
    /// How many records each thing is in that goes, or would go.
    package var usage = SchemaUsage()

    package init(_ made: SchemaDifference) { self.made = made }
}

/// Changes the schema of one store, in an order that never leaves a record with what no schema has.
///
/// First it holds the types and fields that are to go, so that no save brings them. Then it looks whether
/// a record has them. Then it writes all changes at once, or none. Blocks: never on an event loop.
struct SchemaReplacement: Sendable {
    let storage: any Store
    /// Who is written down in the history.
    let who: String
    /// What is wanted, over the schema as it then is.
    let plan: @Sendable (Schema) throws -> SchemaDifference
    /// What of it is done, by what records have, over the schema as it then is.
    let decide: @Sendable (SchemaDifference, SchemaUsage, Schema) throws -> SchemaOutcome

    /// How long what is to go stays held without a sign that somebody is still at it: as long as saves are refused
    /// after a crash.
    private static let holdMilliseconds: Milliseconds = 60_000

    /// Says what `run` would do, and does nothing.
    func preview() throws -> SchemaOutcome {
        let schema = try storage.schema
        let difference = try plan(schema)
        return try decide(
            difference, try SchemaUsage(of: difference.removals, in: storage), schema)
    }

    /// Does it.
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
            let usage = try SchemaUsage(of: removals, in: storage) { try goOnHolding(removals) }
            return try write(removals, usage)
        } catch {
            try storage.writeAndWait { transaction in
                guard try transaction.schema.leaving == removals else { return }
                try transaction.hold(Schema.Parts(), until: 0)
            }
            throw error
        }
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
            // What was saved meanwhile may have changed the schema.
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
