import CloudModel
import Storage

/// Saves and deletes records in one zone (web-services.md §4.2, rulings.md 10-20).
///
/// - Limits: `ServiceLimits.operationsPerRequestMax` operations, one for each record.
/// - Atomic: either every operation is applied or none, and the others report ATOMIC_ERROR.
package struct ModifyRecords: Sendable {
    package let database: Database
    package let zone: ZoneID
    package let operations: [DecodedOperation]
    private let users: Set<UserRecordName>
    private let isAtomic: Bool
    private let device: String

    /// Accepts a batch.
    ///
    /// - Parameters:
    ///   - atomic: as sent; absent means atomic in a custom zone (rulings.md 12).
    ///   - device: the `deviceID` that the records will carry.
    ///   - users: those whose `Users` records the operations name.
    /// - Throws: `Fault` BAD_REQUEST for too many operations, two on one record, or an atomic batch
    ///   in a default zone; ACCESS_DENIED for a caller who may not write.
    package init(
        _ operations: [DecodedOperation], in zone: ZoneID, of database: Database, atomic: Bool?,
        device: String, users: Set<UserRecordName> = []
    ) throws(Fault) {
        let most = database.limits.operationsPerRequestMax
        guard operations.count <= most else {
            throw .limitExceeded(
                "operations: \(operations.count) given; the limit is \(most) "
                    + "(limits.operationsPerRequestMax)")
        }
        guard database.caller.userRecordName != nil else {
            throw Fault(.accessDenied, "CREATE operation not permitted")
        }
        try database.check(zone)
        if zone.name.isDefault, atomic == true {
            throw .badRequest("atomic operations not supported in default zone")
        }
        var names: Set<String> = []
        names.reserveCapacity(operations.count)
        for operation in operations {
            let name = operation.recordName
            guard names.insert(name).inserted else {
                throw .badRequest("operations: two on one record, '\(name)'; expected one each")
            }
        }
        self.database = database
        self.zone = zone
        self.operations = operations
        self.isAtomic = !zone.name.isDefault && (atomic ?? true)
        self.device = device
        self.users = users
    }

    /// Runs the batch in the next group of the writer.
    ///
    /// - Parameter completion: gets one outcome an operation, in order; or `Fault` ZONE_NOT_FOUND,
    ///   or a failure of the machinery. Success means that all of it is on disk.
    package func run(
        completion: @escaping @Sendable (Result<[RecordOutcome], any Error>) -> Void
    ) {
        let frees = operations.allSatisfy {
            if case .operation(let operation) = $0 { operation.kind.deletes } else { true }
        }
        database.storage.write(cost: operations.count, frees: frees) {
            try apply(in: $0)
        } completion: {
            completion($0)
        }
    }

    /// Decides and writes, within one transaction.
    private func apply(in transaction: any StoreTransaction) throws -> [RecordOutcome] {
        guard let user = database.caller.userRecordName else { throw Fault.zoneNotFound }
        if let outcomes = try outcomesOfHavingLeft(transaction) {
            return outcomes
        }
        let access = database.scope == .shared ? try database.access(to: zone, transaction) : nil
        let zone = try access?.zone ?? database.madeZone(self.zone, transaction)
        try UserRecord.makeMissing(users, in: zone, of: database, transaction)
        let plan = try BatchPlan(
            operations, in: zone, owner: database.owner(of: self.zone), access: access,
            of: database, isAtomic: isAtomic,
            transaction: transaction)
        let isWhole: Bool
        do { isWhole = try plan.decide() } catch let refused as RefusedBatch { throw refused.fault }
        guard isWhole || !isAtomic else { return refused(plan) }
        var writer = try BatchWriter(
            plan, stamp: RecordBody.Stamp(moment: transaction.now, user: user, device: device))
        return try writer.write()
    }

    /// Who has left a share may leave it again, though the zone is no longer there for him.
    ///
    /// - Returns: nil for everything but deletions of share records that he has left.
    private func outcomesOfHavingLeft(
        _ transaction: any StoreTransaction
    ) throws -> [RecordOutcome]? {
        guard database.scope == .shared, let owner = zone.owner,
            let user = database.caller.userRecordName,
            let stored = try transaction.zone(named: zone.name, ofOwnerNamed: owner),
            try transaction.view(of: user, in: stored.number)?.ended != nil
        else { return nil }
        var outcomes: [RecordOutcome] = []
        for case .operation(let operation) in operations where operation.kind.deletes {
            guard let head = try transaction.head(of: operation.name, in: stored.number),
                let share = try transaction.share(ofRecord: head.record),
                try transaction.participants(of: share.number)
                    .contains(where: { $0.user == user && $0.status == .removed })
            else { return nil }
            outcomes.append(.deleted(operation.name))
        }
        return outcomes.count == operations.count && !outcomes.isEmpty ? outcomes : nil
    }

    /// What an atomic batch answers when one of it fails: nothing was written.
    private func refused(_ plan: BatchPlan) -> [RecordOutcome] {
        zip(operations, plan.steps).map { decoded, step in
            switch (decoded, step) {
            case (.fault(let name, let fault), _): .failed(name: name, fault)
            case (.operation(let operation), .fault(let fault)):
                .failed(name: operation.name.text, fault)
            case (.operation(let operation), _):
                .failed(
                    name: operation.name.text,
                    Fault(.atomicError, "another operation of the atomic batch failed"))
            }
        }
    }
}
