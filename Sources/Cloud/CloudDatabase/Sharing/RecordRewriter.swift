import CloudModel
import Storage

/// Writes a new version of a record that nobody saves.
///
/// It is needed when something has changed that the record says about sharing. For a share's own record it is
/// also needed when other people take part.
struct RecordRewriter {
    let transaction: any StoreTransaction

    /// Gives a living record its next version; fields, creator and modifier stay.
    ///
    /// - Parameters:
    ///   - zone: the record's zone.
    ///   - zoneJSON: the zone's ID as its records show it.
    /// - Returns: the new record; nil when the record does not live.
    func rewrite(
        _ key: RecordKey, in zone: StoredZone, _ zoneJSON: [UInt8],
        _ change: (inout RecordBody.Sharing) -> Void = { _ in }
    ) throws -> CurrentRecord? {
        let previous = try CurrentRecord(key, withBody: true, in: transaction)
        guard let body = previous.body, let head = previous.head else { return nil }
        var sharing = RecordBody.Sharing(try StoredBody(body, fields: previous.fields))
        change(&sharing)
        var flags = previous.flags.subtracting(.root)
        if sharing.share != nil { flags.insert(.root) }
        let position = try transaction.takePosition()
        let rewritten = try RecordBody.rewritten(
            body, at: position, sharing: sharing, zone: zoneJSON)
        var version = NewVersion(
            zone: zone, name: key.name, position: position, previous: head,
            previousBytes: previous.bodyBytes, previousIsAlive: true, type: previous.type,
            flags: flags, body: rewritten)
        if sharing.share != nil { version.shortGUID = sharing.shortGUID?.text }
        _ = try transaction.save(version)
        var coverage = Coverage(transaction, zone: zone.number, recordsMax: 0)
        try coverage.saved(
            Coverage.Saved(
                record: head.record, name: key.name, position: position, type: previous.type,
                parent: try transaction.parent(of: head.record)))
        return .saved(
            StoredHead(record: head.record, position: position), bodyBytes: rewritten.count,
            type: previous.type, flags: flags)
    }
}
