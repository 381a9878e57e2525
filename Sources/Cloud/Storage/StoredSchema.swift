import CloudModel

/// What a read sees of the schema, and of what tells this life of the store from others.
///
/// Both are of the snapshot's moment: what a read shows of records goes by the schema that they were saved
/// under. Engines keep what they have read of them and look only whether it has moved since.
package protocol SchemaReading: AnyObject {
    /// The schema, with what is held (`SchemaWriting.hold`); within a transaction as that has made it, without what is
    /// held no longer.
    var schema: Schema { get throws }

    /// What tells this life of the store from others, and how far it has come.
    var identity: StoreIdentity { get throws }

    /// The numbers of all record types by their names, those included that the schema no longer has.
    func recordTypes() throws -> [String: Int64]

    /// What has been changed in the schema, the latest first.
    func schemaHistory(limit: Int) throws -> [StoredSchemaChange]

    /// The numbers of the container's own roles that a user has been given; of most, none.
    ///
    /// A role that the schema no longer has may still be among them.
    func assignedRoles(of user: UserRecordName) throws -> Set<Int64>
}

/// What a write does with the schema.
package protocol SchemaWriting: SchemaReading {
    /// Puts another schema in place of the stored one, and a line into its history.
    ///
    /// Of what is held, what its `leaving` has stays so, until the same moment.
    /// Types and fields that go must have no records; indexes that go are dropped.
    ///
    /// - Parameters:
    ///   - who: makes the change: a user record name, a key, or a command.
    ///   - difference: what changes, a line each.
    func replaceSchema(by schema: Schema, who: String, difference: [String]) throws

    /// Has every save refused, in any process, that brings one of these types or fields: somebody finds out whether
    /// they can go.
    ///
    /// Takes the place of the former hold; no parts end it. Ends by itself at a moment, by the clock of the transaction that
    /// looks: whoever holds parts for longer says so again before that.
    func hold(_ parts: Schema.Parts, until moment: Milliseconds) throws

    /// Gives a user these roles, by their numbers in the schema, and no others.
    func assign(_ roles: Set<Int64>, to user: UserRecordName) throws
}

/// One change of the schema, as its history has it.
package struct StoredSchemaChange: Sendable, Equatable {
    /// The schema's version since.
    package let number: Int
    package let madeAt: Milliseconds
    package let who: String
    /// A line for each thing that changed.
    package let difference: [String]

    package init(number: Int, madeAt: Milliseconds, who: String, difference: [String]) {
        self.number = number
        self.madeAt = madeAt
        self.who = who
        self.difference = difference
    }
}
