import CloudModel
import Cryptography
import JSON
import Storage

/// Makes and deletes zones of a private database (web-services.md §4.9, rulings.md 25).
///
/// It tries every operation, in order; one that fails does not affect the others.
package struct ModifyZones: Sendable {
    /// One operation on one zone.
    package struct Operation: Sendable {
        package enum Kind: String, Sendable, CaseIterable { case create, delete }

        package let kind: Kind
        package let zone: ZoneID

        package init(kind: Kind, zone: ZoneID) {
            self.kind = kind
            self.zone = zone
        }
    }

    /// What an operation has done.
    package enum Change: Sendable {
        /// The zone exists, made now or before.
        ///
        /// - Parameter identity: the store's identity after the change, for the zone's token.
        case made(StoredZone, isShared: Bool, identity: StoreIdentity)
        case deleted(ZoneName)
    }

    /// What became of one operation.
    package typealias Outcome = Result<Change, Fault>

    private let database: Database
    private let operations: [Operation]
    private let key: HMACSHA256

    /// - Throws: `Fault` BAD_REQUEST outside the private database or for too many operations.
    package init(_ operations: [Operation], in database: Database, key: HMACSHA256) throws(Fault) {
        try database.refuse(unless: database.scope == .private)
        try database.limits.check(operationCount: operations.count)
        self.database = database
        self.operations = operations
        self.key = key
    }

    /// Runs the operations, some at a time.
    ///
    /// - Parameter completion: gets one outcome an operation, in order; success means on disk. What the store could
    ///   not take after others were carried out is TRY_AGAIN_LATER.
    package func run(completion: @escaping @Sendable (Result<[Outcome], any Error>) -> Void) {
        let apply = self
        database.writeInParts(
            operations, frees: { $0.kind == .delete },
            { part, transaction in
                var counts: Counts?
                return try part.map { operation in
                    do {
                        return .success(try apply.apply(operation, transaction, &counts))
                    } catch let fault as Fault {
                        return .failure(fault)
                    }
                }
            }, completion: completion)
    }

    /// How many zones the owner has, once they were counted.
    private struct Counts {
        var living: Int
        /// With deleted ones that are still kept.
        var kept: Int
    }

    private func apply(
        _ operation: Operation, _ transaction: any StoreTransaction, _ counts: inout Counts?
    ) throws -> Change {
        try database.check(operation.zone)
        guard !operation.zone.name.isDefault else {
            throw Fault.badRequest("zoneID: the default zone can be neither made nor deleted")
        }
        switch operation.kind {
        case .create: return try create(operation.zone.name, transaction, &counts)
        case .delete:
            guard let zone = try database.zone(operation.zone, transaction) else {
                throw Fault.zoneNotFound
            }
            try transaction.deleteZone(zone)
            counts?.living -= 1
            return .deleted(zone.name)
        }
    }

    /// Appends what the answer says of a change.
    package func append(_ change: Change, to writer: inout JSONWriter) {
        switch change {
        case .made(let zone, let isShared, let identity):
            let tokens = SyncTokens(database, key: key, identity: identity)
            ZoneJSON.append(
                ListedZone(
                    name: zone.name, owner: database.ownerRecordName,
                    syncToken: tokens.token(.zone, zone: zone, position: zone.changed),
                    isShared: isShared), to: &writer)
        case .deleted(let name):
            writer.raw("{\"zoneID\":")
            writer.raw(ZoneJSON.identifier(name, owner: database.ownerRecordName))
            writer.raw(",\"deleted\":true}")
        }
    }

    private func create(
        _ name: ZoneName, _ transaction: any StoreTransaction, _ counts: inout Counts?
    ) throws -> Change {
        let zone =
            try transaction.zone(named: name, ofOwnerNamed: database.ownerRecordName)
            ?? make(name, transaction, &counts)
        return .made(
            zone, isShared: try transaction.isShared(zone), identity: try transaction.identity)
    }

    private func make(
        _ name: ZoneName, _ transaction: any StoreTransaction, _ counts: inout Counts?
    ) throws -> StoredZone {
        let most = database.limits.zonesPerUserMax
        let keptMax = database.limits.zonesPerOwnerMax
        var known = try counts ?? count(transaction)
        guard known.living < most else {
            counts = known
            throw Fault.limitExceeded(
                "zoneID: a database has at most \(most) zones (limits.zonesPerUserMax)")
        }
        guard known.kept < keptMax else {
            counts = known
            throw Fault.limitExceeded(
                "zoneID: a database has at most \(keptMax) zones, with deleted "
                    + "ones that are still kept (retention.tombstoneDays); use zones that are there"
            )
        }
        known.living += 1
        known.kept += 1
        counts = known
        return try transaction.makeZone(named: name, ofOwnerNamed: database.ownerRecordName)
    }

    private func count(_ transaction: any StoreTransaction) throws -> Counts {
        guard let owner = try database.owner(transaction) else { return Counts(living: 0, kept: 0) }
        let kept = try transaction.zones(
            of: owner.number, .kept(limit: database.limits.zonesPerOwnerMax))
        return Counts(living: kept.count { !$0.isDeleted }, kept: kept.count)
    }
}
