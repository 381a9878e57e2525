import CloudModel

/// What a read sees of the schema and of the store's identity.
///
/// Both are of the snapshot's moment, so a read shows records by the schema that they were saved under.
/// Engines cache both, and only check whether they have changed since.
package protocol SchemaReading: AnyObject {
    /// The schema, together with what is held (`SchemaWriting.hold`).
    ///
    /// Within a transaction, it is the schema as the transaction has made it, without holds that have ended.
    var schema: Schema { get throws }

    /// The identity of this life of the store, and how far the store has come.
    var identity: StoreIdentity { get throws }

    /// The changes of the schema, the latest first.
    func schemaHistory(limit: Int) throws -> [StoredSchemaChange]

    /// The numbers of the container's own roles that users have, in the users' order; most users have none.
    ///
    /// A role that the schema no longer has may still be among them.
    func assignedRoles(of users: [UserRecordName]) throws -> [Set<Int64>]
}

extension SchemaReading {
    /// The numbers of the container's own roles that a user has.
    package func assignedRoles(of user: UserRecordName) throws -> Set<Int64> {
        try assignedRoles(of: [user]).first ?? []
    }
}

/// What a write does with the schema.
package protocol SchemaWriting: SchemaReading {
    /// Replaces the stored schema by another, and adds a line to its history.
    ///
    /// Parts that are held and that are in the new schema's `leaving` stay held, until the same moment. Types
    /// and fields that go must have no records. Indexes that go are dropped.
    ///
    /// - Parameters:
    ///   - who: who makes the change: a user record name, a key, or a command.
    ///   - difference: what changes, one line for each thing.
    func replaceSchema(by schema: Schema, who: String, difference: [String]) throws

    /// Holds types and fields: every save that brings one of them is refused, in every process.
    ///
    /// A caller holds parts while they find out whether the parts can be removed from the schema. A new hold
    /// replaces the previous one; a hold without parts ends it. A hold also ends by itself at `moment`, by the
    /// clock of the transaction that looks. To hold longer, call this again before that.
    func hold(_ parts: Schema.Parts, until moment: Milliseconds) throws

    /// Gives a user exactly these roles, by their numbers in the schema.
    func assign(_ roles: Set<Int64>, to user: UserRecordName) throws
}

/// One change of the schema, as its history shows it.
package struct StoredSchemaChange: Sendable, Equatable {
    /// The version of the schema since this change.
    package let number: Int
    package let madeAt: Milliseconds
    package let who: String
    /// What changed, one line for each thing.
    package let difference: [String]

    package init(number: Int, madeAt: Milliseconds, who: String, difference: [String]) {
        self.number = number
        self.madeAt = madeAt
        self.who = who
        self.difference = difference
    }
}
