import CloudModel
import Storage

/// Writes records anew that are not saved themselves: what they say about sharing has changed, or who
/// takes part in the share that they are.
struct RecordRewriter {
    let transaction: any StoreTransaction

    /// Gives a living record its next version, with fields, creator and modifier as they are.
    ///
    /// - Parameters:
    ///   - zone: the record's zone.
    ///   - zoneJSON: the zone's ID as records of it show it.
    /// - Returns: the record as it is then; nil when it does not live.
    func rewrite(
        _ key: RecordKey, in zone: StoredZone, _ zoneJSON: [UInt8],
        _ change: (inout RecordBody.Sharing) -> Void = { _ in }
    ) throws -> CurrentRecord? {
        let former = try CurrentRecord(key, withBody: true, in: transaction)
        guard let body = former.body, let head = former.head else { return nil }
        var sharing = try body.withUnsafeBytes { try RecordBody.read($0) }.sharing
        change(&sharing)
        var flags = former.flags.subtracting(.root)
        if sharing.share != nil { flags.insert(.root) }
        let position = try transaction.takePosition()
        let rewritten = try RecordBody.rewritten(
            body, at: position, sharing: sharing, zone: zoneJSON)
        _ = try transaction.save(
            NewVersion(
                zone: zone, name: key.name, position: position, former: head,
                formerBytes: former.bodyBytes, formerIsAlive: true, type: former.type,
                flags: flags, body: rewritten))
        var coverage = Coverage(transaction, zone: zone.number, recordsMax: 0)
        try coverage.saved(
            Coverage.Saved(
                record: head.record, name: key.name, position: position, type: former.type,
                parent: try transaction.parent(of: head.record)))
        if let shortGUID = sharing.shortGUID, sharing.share != nil {
            try ShareWriter(transaction: transaction).keep(shortGUID, of: head.record)
        }
        return .saved(
            StoredHead(record: head.record, position: position), bodyBytes: rewritten.count,
            type: former.type, flags: flags)
    }
}
