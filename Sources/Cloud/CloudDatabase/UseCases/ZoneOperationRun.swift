import CloudModel
import Storage

/// Carries out operations on zones within one write.
///
/// What they need is read at once. Operations of one kind that follow each other are written at once.
struct ZoneOperationRun {
    /// How many zones the owner has.
    private struct Counts {
        var living: Int
        /// With deleted ones that are still kept.
        var stored: Int
    }

    private let database: Database
    private let transaction: any StoreTransaction
    private var outcomes: [ModifyZones.Outcome?] = []
    /// The living zones among those that are spoken of, as the operations so far have left them.
    private var zones: [ZoneName: StoredZone] = [:]
    /// Those that are shared as a whole.
    private var shared: Set<ZoneNumber> = []
    private var counts: Counts?
    /// Zones to be made, in their order, each with the operations that it answers.
    private var making: [(name: ZoneName, operations: [Int])] = []
    private var deleting: [StoredZone] = []

    init(_ database: Database, in transaction: any StoreTransaction) {
        self.database = database
        self.transaction = transaction
    }

    /// Carries out operations in their order.
    mutating func outcomes(
        of operations: [ModifyZones.Operation]
    ) throws -> [ModifyZones.Outcome] {
        try look(at: operations)
        outcomes = [ModifyZones.Outcome?](repeating: nil, count: operations.count)
        for (index, operation) in operations.enumerated() {
            do {
                try apply(operation, index)
            } catch let fault as Fault {
                outcomes[index] = .failure(fault)
            }
        }
        try write()
        return outcomes.map { $0 ?? .failure(Fault(.internalError, "internal error")) }
    }

    private mutating func look(at operations: [ModifyZones.Operation]) throws {
        let names = Array(Set(operations.map(\.zone.name)))
        let owner = database.ownerRecordName
        for zone in try transaction.zones(names.map { .nameOfOwner($0, owner) }) {
            if let zone { zones[zone.name] = zone }
        }
        shared = try transaction.sharedZones(among: zones.values.map(\.number))
    }

    private mutating func apply(_ operation: ModifyZones.Operation, _ index: Int) throws {
        let name = operation.zone.name
        try database.check(operation.zone)
        guard !name.isDefault else {
            throw Fault.badRequest("zoneID: the default zone can be neither made nor deleted")
        }
        switch operation.kind {
        case .create: try create(name, index)
        case .delete:
            if !making.isEmpty { try write() }
            guard let zone = zones.removeValue(forKey: name) else { throw Fault.zoneNotFound }
            deleting.append(zone)
            counts?.living -= 1
            outcomes[index] = .success(.deleted(name))
        }
    }

    private mutating func create(_ name: ZoneName, _ index: Int) throws {
        if !deleting.isEmpty { try write() }
        if let zone = zones[name] {
            return outcomes[index] = .success(
                .made(
                    zone, isShared: shared.contains(zone.number),
                    identity: try transaction.identity))
        }
        if let known = making.firstIndex(where: { $0.name == name }) {
            return making[known].operations.append(index)
        }
        try countOneMore()
        making.append((name, [index]))
    }

    private mutating func countOneMore() throws {
        var known = try counts ?? count()
        counts = known
        let (most, storedMax) = (
            database.limits.zonesPerUserMax, database.limits.zonesPerOwnerMax
        )
        guard known.living < most else {
            throw Fault.limitExceeded(
                "zoneID: a database has at most \(most) zones (limits.zonesPerUserMax)")
        }
        guard known.stored < storedMax else {
            throw Fault.limitExceeded(
                "zoneID: a database has at most \(storedMax) zones, with deleted "
                    + "ones that are still kept (retention.tombstoneDays); use zones that are there"
            )
        }
        known.living += 1
        known.stored += 1
        counts = known
    }

    private func count() throws -> Counts {
        guard let owner = try database.owner(transaction) else {
            return Counts(living: 0, stored: 0)
        }
        let stored = try transaction.zones(
            of: owner.number, .stored(limit: database.limits.zonesPerOwnerMax))
        return Counts(living: stored.count { !$0.isDeleted }, stored: stored.count)
    }

    /// Writes what is to be deleted and made.
    private mutating func write() throws {
        if !deleting.isEmpty { try transaction.deleteZones(deleting) }
        deleting = []
        guard !making.isEmpty else { return }
        let made = try transaction.makeZones(
            named: making.map(\.name), ofOwnerNamed: database.ownerRecordName)
        let identity = try transaction.identity
        for (zone, (name, operations)) in zip(made, making) {
            zones[name] = zone
            for index in operations {
                outcomes[index] = .success(.made(zone, isShared: false, identity: identity))
            }
        }
        making = []
    }
}
