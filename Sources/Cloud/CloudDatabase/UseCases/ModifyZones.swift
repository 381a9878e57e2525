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
                var run = ZoneOperationRun(apply.database, in: transaction)
                return try run.outcomes(of: part)
            }, completion: completion)
    }

    /// Appends what the answer says of a change.
    package func append(_ change: Change, to writer: inout JSONWriter) {
        switch change {
        case .made(let zone, let isShared, let identity):
            let tokens = SyncTokens(database, key: key, identity: identity)
            ZoneJSON.append(
                ListedZone(
                    name: zone.name, owner: database.ownerRecordName,
                    syncToken: zone.changed.map {
                        tokens.token(.zone, zone: zone, position: $0)
                    },
                    isShared: isShared), to: &writer)
        case .deleted(let name):
            writer.raw("{\"zoneID\":")
            writer.raw(ZoneJSON.identifier(name, owner: database.ownerRecordName))
            writer.raw(",\"deleted\":true}")
        }
    }
}
