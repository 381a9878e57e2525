import CloudModel
import Storage

// What a batch writes because of shares, in addition to the records that it saves and deletes.
extension BatchWriter {
    /// What root records will say about the shares that the batch begins.
    static func marks(_ plan: BatchPlan) throws -> [RecordKey: RecordBody.Sharing] {
        var marks: [RecordKey: RecordBody.Sharing] = [:]
        let context = plan.context
        for beginning in plan.beginnings {
            guard let root = beginning.beginning.root else { continue }
            let shortGUID =
                try plan.save(of: root)?.sharing.shortGUID
                ?? ShareRule(context).shortGUID(of: context.previous(root).head?.record)
            marks[root] = RecordBody.Sharing(share: beginning.record, shortGUID: shortGUID)
            marks[context.key(beginning.record)] = RecordBody.Sharing(shortGUID: shortGUID)
        }
        return marks
    }

    /// What a saved record says about sharing once the batch is done.
    func sharing(_ save: PlannedSave, _ key: RecordKey) -> RecordBody.Sharing {
        if let mark = marks[key] { return mark }
        var sharing = save.sharing
        if let share = sharing.share, plan.isDeleted(RecordKey(zone: key.zone, name: share)) {
            sharing.share = nil
        }
        return sharing
    }

    /// Begins or changes a share, once all records of the batch are written.
    mutating func write(_ planned: PlannedShare, of key: RecordKey) throws {
        guard let record = try previous(key).head?.record else { throw Fault.recordNotFound }
        var share: StoredShare
        if let existing = planned.existing {
            share = existing
        } else {
            let root = planned.beginning?.root
            if let root, let mark = marks[root], plan.save(of: root) == nil {
                try rewrite(root) { $0 = mark }
            }
            share = try transaction.makeShare(
                in: key.zone, record: record,
                root: try root.flatMap { try previous($0).head?.record },
                publicPermission: planned.publicPermission)
            try coverage(of: key.zone) { try $0.began(share) }
        }
        let shares = ShareWriter(transaction: transaction)
        try shares.write(planned.participants, over: planned.previous, of: share)
        try shares.write(planned.requests, over: planned.previousRequests, of: share)
        if share.publicPermission != planned.publicPermission
            || share.allowsRequests != planned.allowsRequests
        {
            share.publicPermission = planned.publicPermission
            share.allowsRequests = planned.allowsRequests
            try transaction.save(share)
        }
    }

    /// Sets the outcomes of the saves of share records, as the caller sees them once all shares are written.
    func show(
        _ saves: [(index: Int, name: RecordName)], in outcomes: inout [RecordOutcome]
    ) throws {
        guard !saves.isEmpty else { return }
        var current: [(index: Int, record: CurrentRecord)] = []
        try transaction.current(
            of: saves.map(\.name), in: context.zone.number, inOrder: true
        ) { key, version in
            current.append((saves[key].index, CurrentRecord(version, withBody: true)))
            return true
        }
        let shares = ShownShares(transaction) { current.compactMap { $0.record.head?.record } }
        for (index, saved) in current {
            guard let record = saved.head?.record else { continue }
            outcomes[index] = .saved(
                try (saved.body ?? []).withUnsafeBytes {
                    try context.database.shown(record, .share, $0, with: shares)
                }, saved.flags)
        }
    }

    /// Lets the caller leave a share; the share record stays, and shows the others that they left.
    mutating func leave(_ share: StoredShare, _ key: RecordKey) throws {
        guard let user = context.database.caller.userRecordName else { return }
        let previous = ParticipantList(try transaction.participants(of: share.number))
        var participants = previous
        guard participants.leave(user) else { return }
        try ShareWriter(transaction: transaction).write(participants, over: previous, of: share)
        try rewrite(key) { _ in }
    }

    /// Ends the share whose record is about to be deleted.
    ///
    /// - Returns: the root, which still names the share.
    mutating func end(_ record: RecordNumber) throws -> RecordKey? {
        guard let share = try transaction.share(ofRecord: record) else { return nil }
        try coverage(of: share.zone) { try $0.end(share) }
        guard let root = share.root, let location = try transaction.location(of: root) else {
            return nil
        }
        let key = RecordKey(zone: location.zone, name: location.name)
        // If the batch itself touches the root, it writes the root without the share anyway.
        return plan.touches(key) ? nil : key
    }

    mutating func rewrite(
        _ key: RecordKey, _ change: (inout RecordBody.Sharing) -> Void
    ) throws {
        guard let (zone, json) = try zoneAndJSON(key.zone) else { return }
        let rewritten = try RecordRewriter(transaction: transaction).rewrite(
            key, in: zone, json, change)
        if let rewritten { noteWritten(rewritten, key) }
    }
}
