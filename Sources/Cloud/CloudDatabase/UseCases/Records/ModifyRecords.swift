import CloudModel
import Storage

/// Saves and deletes records in one zone (web-services.md §4.2, rulings.md 10-20).
///
/// - Limits: `ServiceLimits.operationsPerRequestMax` operations, one for each record.
/// - Atomic: either all operations are applied or none. When one fails, the others report ATOMIC_ERROR.
package struct ModifyRecords: Sendable {
    package let database: Database
    package let zone: ZoneID
    package let operations: [DecodedOperation]
    private let users: Set<UserRecordName>
    private let isAtomic: Bool
    private let device: String
    /// The `deviceID` that the records will carry.
    private let stampedDevice: String
    private let clientToken: [UInt8]?

    /// Accepts a batch.
    ///
    /// - Parameters:
    ///   - atomic: as sent; absent means atomic in a custom zone (rulings.md 12).
    ///   - device: what saves; the `deviceID` that the records will carry.
    ///   - write: what the device calls this request; it stands behind the device, after a slash.
    ///   - clientToken: data to be kept for the device; empty to forget what there is.
    ///   - users: those whose `Users` records the operations name.
    /// - Throws: `Fault` BAD_REQUEST for too many operations, two on one record, or an atomic batch
    ///   in a default zone; ACCESS_DENIED for a caller who may not write.
    package init(
        _ operations: [DecodedOperation], in zone: ZoneID, of database: Database, atomic: Bool?,
        device: String, write: String? = nil, clientToken: [UInt8]? = nil,
        users: Set<UserRecordName> = []
    ) throws(Fault) {
        try database.limits.check(operationCount: operations.count)
        guard database.caller.userRecordName != nil else {
            throw Fault(.accessDenied, "CREATE operation not permitted")
        }
        try database.check(zone)
        if zone.name.isDefault, atomic == true {
            throw .badRequest("atomic operations not supported in default zone")
        }
        try Self.checkReferences(operations, database.limits)
        try Self.checkNames(operations)
        self.database = database
        self.zone = zone
        self.operations = operations
        self.isAtomic = !zone.name.isDefault && (atomic ?? true)
        self.device = device
        stampedDevice = write.map { "\(device)/\($0)" } ?? device
        self.clientToken = clientToken
        self.users = users
    }

    private static func checkNames(_ operations: [DecodedOperation]) throws(Fault) {
        guard operations.count > 1 else { return }
        var names: Set<String> = []
        names.reserveCapacity(operations.count)
        for operation in operations {
            let name = operation.recordName
            guard names.insert(name).inserted else {
                throw .badRequest("operations: two on one record, '\(name)'; expected one each")
            }
        }
    }

    private static func checkReferences(
        _ operations: [DecodedOperation], _ limits: ServiceLimits
    ) throws(Fault) {
        let most = limits.referencesPerRequestMax
        var count = 0
        for case .operation(let operation) in operations {
            for field in operation.fields.fields where !field.references.isEmpty {
                // A list may name one target thousands of times; it counts once.
                count += Set(field.references.lazy.filter { $0.action != .none }).count
                guard count <= most else {
                    throw .limitExceeded(
                        "operations: more than \(most) DELETE_SELF and VALIDATE references in one "
                            + "request")
                }
            }
        }
    }

    /// Runs the batch in the writer's next group; a batch that takes long to decide is decided beside the
    /// writer.
    ///
    /// - Parameters:
    ///   - work: where long decisions are made.
    ///   - completion: gets one outcome for each operation, in order. Or it gets `Fault` ZONE_NOT_FOUND;
    ///     `Fault` TRY_AGAIN_LATER when others keep changing what a long decision relies on; or a failure of
    ///     the machinery. Success means that all of it is on disk. It is never called when `work` was
    ///     abandoned.
    package func run(
        beside work: LongWork,
        completion: @escaping @Sendable (Result<[RecordOutcome], any Error>) -> Void
    ) {
        do {
            let parts = try parts()
            guard parts.count > 1 else { return runWhole(beside: work, completion: completion) }
            go(on: [], parts[...], work, completion)
        } catch {
            completion(.failure(error))
        }
    }

    /// The parts in which the batch is carried out; in the public database none may hold up the writer long.
    private func parts() throws -> [ModifyRecords] {
        let parts = PublicParts(operations, database.limits)
        guard database.scope == .public, parts.mayBeSeveral else { return [self] }
        return try parts.parts(database.storage.schema).map { ModifyRecords(self, $0) }
    }

    private init(_ whole: ModifyRecords, _ part: Range<Int>) {
        database = whole.database
        zone = whole.zone
        operations = Array(whole.operations[part])
        (users, isAtomic, device) = (whole.users, whole.isAtomic, whole.device)
        stampedDevice = whole.stampedDevice
        clientToken = whole.clientToken
    }

    /// Carries out one part after the other; what the store does not take after others is TRY_AGAIN_LATER.
    private func go(
        on done: [RecordOutcome], _ parts: ArraySlice<ModifyRecords>, _ work: LongWork,
        _ completion: @escaping @Sendable (Result<[RecordOutcome], any Error>) -> Void
    ) {
        guard let part = parts.first else { return completion(.success(done)) }
        part.runWhole(beside: work) { result in
            switch result {
            case .success(let outcomes):
                go(on: done + outcomes, parts.dropFirst(), work, completion)
            case .failure(let error as StorageFailure) where !done.isEmpty:
                guard let fault = error.refusalOfRemainder else {
                    return completion(.failure(error))
                }
                let left = operations[done.count...].map {
                    RecordOutcome.failed(name: $0.recordName, fault)
                }
                completion(.success(done + left))
            case .failure(let error): completion(.failure(error))
            }
        }
    }

    private func runWhole(
        beside work: LongWork,
        completion: @escaping @Sendable (Result<[RecordOutcome], any Error>) -> Void
    ) {
        let frees = operations.allSatisfy {
            if case .operation(let operation) = $0 { operation.kind.deletes } else { true }
        }
        let load = WriteLoad(
            cost: operations.count, bytes: operations.reduce(0) { $0 + $1.bytes }, frees: frees,
            caller: StoreCaller(database.caller), author: database.author, needs: { needs })
        let isLong = work.habits.isLong(load.caller)
        database.storage.write(load) {
            try begin(in: $0, isLong: isLong)
        } completion: { result in
            switch result {
            case .success(let outcomes?): completion(.success(outcomes))
            case .success(nil): BatchBesideWriter(self, load, work, completion: completion).begin()
            case .failure(let error): completion(.failure(error))
            }
        }
    }

    /// What the decision asks for in any case.
    private var needs: StoreNeeds {
        var needs = StoreNeeds()
        needs.owner = database.owner(of: zone)
        needs.zone = zone.name
        if database.scope != .private { needs.viewer = database.caller.userRecordName }
        needs.records = BatchContext.names(
            of: operations, in: zone.name, withTargets: true)
        return needs
    }

    /// Makes what the batch needs to exist, decides the batch and writes it, within one transaction.
    ///
    /// - Parameter isLong: whether the decision is expected to take long.
    /// - Returns: nil when it does take long: then only what the batch needs was made.
    private func begin(
        in transaction: any StoreTransaction, isLong: Bool
    ) throws -> [RecordOutcome]? {
        if let outcomes = try outcomesOfHavingLeft(transaction) { return outcomes }
        let milliseconds = database.limits.writerMillisecondsMax
        let basis = try DecisionBasis(
            transaction, time: DecisionTime(millisecondsMax: milliseconds))
        var made: StoredZone?
        if database.scope != .shared {
            let zone = try database.madeZone(self.zone, transaction)
            try UserRecord.makeMissing(users, in: zone, of: database, transaction)
            made = zone
        }
        guard milliseconds > 0, !isLong else { return nil }
        let decided: BatchPlan
        do {
            decided = try plan(on: basis, in: made)
        } catch is DecisionTakesLong {
            return nil
        }
        guard !isAtomic || decided.isWhole else { return refused(decided) }
        return try write(decided, in: transaction)
    }

    /// Decides the batch and writes it within a transaction, however long that takes.
    ///
    /// For what operators have done.
    ///
    /// - Throws: as `run` reports.
    func apply(in transaction: any StoreTransaction) throws -> [RecordOutcome] {
        let plan = try plan(on: DecisionBasis(transaction, time: nil))
        guard !isAtomic || plan.isWhole else { return refused(plan) }
        return try write(plan, in: transaction)
    }

    /// The result of a decision beside the writer.
    enum Decision {
        /// There is nothing to write.
        case answered([RecordOutcome])
        case decided(CheckedPlan)
    }

    /// How the writer carried out a plan that was decided beside it.
    enum Outcome: Sendable {
        case done([RecordOutcome])
        /// Something has changed that the plan relies on; nothing is written.
        case moved
        /// Too much has changed to check here; nothing is written.
        case tooManyChanges
    }

    /// Wraps a snapshot for a decision.
    func basis(_ snapshot: any StoreSnapshot, until stop: StopSignal) throws -> DecisionBasis {
        try DecisionBasis(snapshot, now: database.assets?.now ?? 0, until: stop)
    }

    /// Decides the batch on a snapshot, for as long as it takes.
    func decide(_ snapshot: any StoreSnapshot, until stop: StopSignal) throws -> Decision {
        let plan = try plan(on: basis(snapshot, until: stop))
        guard !isAtomic || plan.isWhole else { return .answered(refused(plan)) }
        // If everything fails, that is already the answer: it was judged on the snapshot.
        if plan.isRefused, clientToken == nil { return .answered(refused(plan)) }
        return .decided(CheckedPlan(plan: plan, check: try DecisionCheck(plan, snapshot)))
    }

    /// Writes what was decided beside the writer, if the decision still holds.
    func carryOut(
        _ decided: CheckedPlan, in transaction: any StoreTransaction
    ) throws -> Outcome {
        let basis = try DecisionBasis(transaction, time: nil)
        switch try decided.check.finding(
            on: basis, changesMax: database.limits.changesRecheckedMax)
        {
        case .moved: return .moved
        case .tooManyChanges: return .tooManyChanges
        case .stands:
            decided.plan.context.goOn(on: basis)
            return .done(try write(decided.plan, in: transaction))
        }
    }

    /// - Parameter known: the zone; nil in the shared database, and when it must still be looked up.
    private func plan(
        on basis: DecisionBasis, in known: StoredZone? = nil
    ) throws -> BatchPlan {
        let access =
            database.scope == .shared ? try database.access(to: zone, basis.stored) : nil
        // Only a decision without a time limit is checked afterwards, and only that check needs the notes.
        if basis.time == nil { access?.beginNoting() }
        guard let zone = try access?.zone ?? known ?? database.zone(zone, basis.stored) else {
            throw Fault.zoneNotFound
        }
        do {
            let context = try BatchContext(
                operations, in: zone, owner: database.owner(of: self.zone), access: access,
                of: database, isAtomic: isAtomic, on: basis)
            var decision = try BatchDecision(context)
            return try decision.plan()
        } catch let refused as RefusedBatch {
            throw refused.fault
        }
    }

    private func write(
        _ plan: BatchPlan, in transaction: any StoreTransaction
    ) throws -> [RecordOutcome] {
        guard let user = database.caller.userRecordName else { throw Fault.zoneNotFound }
        var writer = try BatchWriter(
            plan,
            stamp: RecordBody.Stamp(
                moment: transaction.now, user: user, device: stampedDevice),
            in: transaction)
        try keepClientToken(user, in: plan.context.zone, transaction)
        return try writer.write()
    }

    /// Stores the data that the device will find with the zone's feed; default zones have no feed.
    private func keepClientToken(
        _ user: UserRecordName, in zone: StoredZone, _ transaction: any StoreTransaction
    ) throws {
        guard let clientToken, !zone.name.isDefault else { return }
        try transaction.setClientToken(
            clientToken, ClientTokenKey(zone: zone.number, user: user, device: device),
            devicesMax: database.limits.clientTokensPerZoneMax)
    }

    /// The outcomes for a participant who has left a share and leaves it again, though they no longer see the
    /// zone.
    ///
    /// - Returns: nil unless every operation deletes the record of a share that they have left.
    private func outcomesOfHavingLeft(
        _ transaction: any StoreTransaction
    ) throws -> [RecordOutcome]? {
        guard database.scope == .shared, let owner = zone.owner,
            let user = database.caller.userRecordName
        else { return nil }
        let names = operations.compactMap { decoded -> RecordName? in
            guard case .operation(let operation) = decoded, operation.kind.deletes else {
                return nil
            }
            return operation.name
        }
        guard names.count == operations.count, !names.isEmpty,
            let stored = try transaction.zone(named: zone.name, ofOwnerNamed: owner),
            try transaction.view(of: user, in: stored.number)?.ended != nil
        else { return nil }
        let records = try transaction.heads(of: names, in: stored.number)
            .compactMap { $0?.record }
        let shares = try transaction.shares(.records(records)).compactMap { $0?.number }
        guard shares.count == names.count else { return nil }
        let hasLeft = try transaction.participants(of: shares).allSatisfy { participants in
            participants.contains { $0.user == user && $0.status == .removed }
        }
        return hasLeft ? names.map { .deleted($0) } : nil
    }

    /// The answer of an atomic batch in which an operation fails: nothing was written.
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

extension DecodedOperation {
    /// How many bytes the fields of the record take.
    fileprivate var bytes: Int {
        if case .operation(let operation) = self { operation.fields.bytes.count } else { 0 }
    }
}
