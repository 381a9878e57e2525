import CloudModel
import JSON
import Storage

/// Makes, changes and deletes the caller's subscriptions (web-services.md §4.15, rulings.md 42).
///
/// It tries every operation, in order; one that fails does not affect the others.
package struct ModifySubscriptions: Sendable {
    /// One operation on one subscription.
    package enum Operation: Sendable {
        /// The subscription to make, with its query if it has one.
        case create(Subscription, RecordQuery?)
        case update(Subscription, RecordQuery?)
        case delete(SubscriptionID)

        fileprivate var wanted: Subscription? {
            switch self {
            case .create(let wanted, _), .update(let wanted, _): wanted
            case .delete: nil
            }
        }

        fileprivate var id: SubscriptionID {
            switch self {
            case .create(let wanted, _), .update(let wanted, _): wanted.id
            case .delete(let id): id
            }
        }
    }

    /// The outcome of one operation: its item in the answer, or the fault.
    package typealias Outcome = Result<[UInt8], Fault>

    private let database: Database
    private let owner: SubscriptionOwner
    private let operations: [Operation]

    /// - Throws: `Fault` BAD_REQUEST for too many operations; AUTHENTICATION_REQUIRED for a caller who is no
    ///   user.
    package init(_ operations: [Operation], in database: Database) throws(Fault) {
        try database.limits.check(operationCount: operations.count)
        guard let owner = database.subscriptionOwner else {
            throw Fault(.authenticationRequired, "request needs authorization")
        }
        self.database = database
        self.owner = owner
        self.operations = operations
    }

    /// Runs the operations, some at a time.
    ///
    /// - Parameter completion: gets one outcome an operation, in order; success means on disk. What the store could
    ///   not take after others were carried out is TRY_AGAIN_LATER.
    package func run(completion: @escaping @Sendable (Result<[Outcome], any Error>) -> Void) {
        let apply = self
        database.writeInParts(
            operations, frees: { if case .delete = $0 { true } else { false } },
            { part, transaction in
                var stored = try StoredSubscriptions(
                    of: apply.owner, expecting: part.map(\.id), in: transaction)
                let zones = try apply.zones(of: part, transaction)
                let outcomes: [Outcome] = try part.map { operation in
                    do {
                        return .success(try apply.apply(operation, transaction, zones, &stored))
                    } catch let fault as Fault {
                        return .failure(fault)
                    }
                }
                try stored.write()
                return outcomes
            }, completion: completion)
    }

    /// Whether the zones exist that operations speak of.
    private func zones(
        of operations: [Operation], _ transaction: any StoreTransaction
    ) throws -> [ZoneName: Result<StoredZone?, Fault>] {
        let names = Array(Set(operations.compactMap(\.wanted?.zone)))
        let zones = try database.zones(names.map { ZoneID(name: $0) }, transaction)
        return Dictionary(uniqueKeysWithValues: zip(names, zones))
    }

    private func apply(
        _ operation: Operation, _ transaction: any StoreTransaction,
        _ zones: [ZoneName: Result<StoredZone?, Fault>], _ stored: inout StoredSubscriptions
    ) throws -> [UInt8] {
        var writer = JSONWriter(reserving: 320)
        switch operation {
        case .create(let made, let query):
            if let known = stored.subscription(made.id) {
                guard known == made else {
                    throw Fault.badRequest(
                        "subscriptionID: another subscription of that ID exists; change it by update"
                    )
                }
            } else {
                try check(made, query, transaction, zones, &stored)
                let most = database.limits.subscriptionsPerUserMax
                guard try stored.count() < most else {
                    throw Fault.limitExceeded(
                        "subscriptionID: a user has at most \(most) subscriptions in a database "
                            + "(limits.subscriptionsPerUserMax)")
                }
                save(made, query, &stored)
            }
            SubscriptionJSON.append(made, owner: database.ownerRecordName, to: &writer)
        case .update(let changed, let query):
            guard let known = stored.subscription(changed.id) else {
                throw Fault.subscriptionNotFound
            }
            try check(changed, query, transaction, zones, &stored, insteadOf: known)
            save(changed, query, &stored)
            SubscriptionJSON.append(changed, owner: database.ownerRecordName, to: &writer)
        case .delete(let id):
            guard stored.subscription(id) != nil else { throw Fault.subscriptionNotFound }
            stored.remove(id)
            SubscriptionJSON.append(deleted: id, to: &writer)
        }
        return writer.bytes
    }

    private func save(
        _ subscription: Subscription, _ query: RecordQuery?, _ stored: inout StoredSubscriptions
    ) {
        let match = owner.scope == .public ? query?.subscriptionMatch : nil
        stored.keep(NewSubscription(subscription, requiring: match))
    }

    private func check(
        _ wanted: Subscription, _ query: RecordQuery?, _ transaction: any StoreTransaction,
        _ zones: [ZoneName: Result<StoredZone?, Fault>], _ stored: inout StoredSubscriptions,
        insteadOf known: Subscription? = nil
    ) throws {
        if let zone = wanted.zone { _ = try zones[zone]?.get() }
        try checkSchema(wanted, query, transaction.schema)
        // What tells of the same as before is still alone in it.
        guard wanted.kind == .query, wanted.watched != known?.watched else { return }
        if try stored.hasAnother(watchingTheSameAs: wanted) {
            // Clients know these words (web-services.md §4.15).
            throw Fault(.internalError, "could not find subscription we just created")
        }
    }

    /// Checks against the production schema; in development, fields may come later (rulings.md 42).
    private func checkSchema(
        _ wanted: Subscription, _ query: RecordQuery?, _ schema: Schema
    ) throws(Fault) {
        guard database.environment == .production, let type = wanted.recordType else { return }
        guard let known = schema.types[type] else {
            throw .badRequest("recordType: the production schema has no type '\(type.text)'")
        }
        for case .field(let field) in (query?.filters ?? []).map(\.subject)
        where known.fields[field] == nil {
            throw .badRequest(
                "fieldName: type '\(type.text)' of the production schema has no field "
                    + "'\(field.text)'")
        }
    }
}
