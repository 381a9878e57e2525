import CloudModel
import Storage

/// Deletes the public records of others that referred by DELETE_SELF to a record that was deleted
/// (rulings.md 45).
///
/// The deletion itself took along as many records as its limits allow; this takes the rest. A record is
/// deleted when it was last saved before the deletion, whatever has come under the target's name since: it
/// meant the record that is gone.
///
/// Two kinds of records stay. The first was saved since the deletion, like a record that is made then. The
/// second is held by a VALIDATE reference or a child whose creator may write it; in a request, that would
/// have refused the deletion.
///
/// Feeds show each as an ordinary deletion. The deletion of the records that referred to it is queued in
/// turn.
struct SourceDeletion {
    private let transaction: any StoreTransaction
    private let limits: ServiceLimits
    private let target: RecordName
    private let zone: ZoneNumber
    private let deletedAt: Position

    init(
        _ transaction: any StoreTransaction, limits: ServiceLimits, target: RecordName,
        in zone: ZoneNumber, deletedAt: Position
    ) {
        self.transaction = transaction
        self.limits = limits
        self.target = target
        self.zone = zone
        self.deletedAt = deletedAt
    }

    func step(after cursor: RecordNumber, recordsMax: Int) throws -> WorkSteps.Outcome {
        let sources = try transaction.sources(
            of: target, in: zone, kind: .deleteSelf, after: cursor, limit: recordsMax)
        for source in sources { try delete(RecordKey(zone: source.zone, name: source.name)) }
        let isDone = sources.count < recordsMax
        return WorkSteps.Outcome(
            records: sources.count, cursor: isDone ? nil : sources.last?.record.value)
    }

    private func delete(_ key: RecordKey) throws {
        let previous = try CurrentRecord(key, withBody: true, in: transaction)
        guard let head = previous.head, let body = previous.body, head.position < deletedAt,
            let zone = try transaction.zone(key.zone), !zone.isDeleted,
            try !isHeld(
                key, previous, creator: body.withUnsafeBytes { try RecordBody.creator(of: $0) })
        else { return }
        try RecordRemoval(transaction).remove(key, previous, head, from: zone)
    }

    /// Whether another record needs this one, and that record's creator may write this one.
    ///
    /// A request asks the same (`HoldRule`).
    private func isHeld(
        _ key: RecordKey, _ previous: CurrentRecord, creator: String?
    ) throws -> Bool {
        for kind in [LinkKind.validate, .parent] {
            let holders = try transaction.sources(
                of: key.name, in: key.zone, kind: kind, after: RecordNumber(0),
                limit: limits.holdersJudgedMax)
            var makers: Set<UserRecordName> = []
            try transaction.current(.records(holders.map(\.record)), inOrder: false) {
                guard !$1.flags.contains(.tombstone) else { return true }
                if let user = try RecordBody.creator(of: $1).flatMap({ UserRecordName($0) }) {
                    makers.insert(user)
                }
                return true
            }
            let accesses = try RecordAccess.all(of: makers, transaction).values
            if try accesses.contains(where: {
                try $0.allows(.write, ofType: previous.type, creator: { creator })
            }) {
                return true
            }
        }
        return false
    }
}
