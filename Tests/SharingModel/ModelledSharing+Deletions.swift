// What goes with what is deleted: by DELETE_SELF references and by shares.
extension ModelledSharing {
    /// The field that holds references.
    static let referenceField = "r"

    /// A DELETE_SELF reference as a raw value.
    static func reference(to name: String) -> String {
        "{\"recordName\":\"\(name)\",\"action\":\"DELETE_SELF\"}"
    }

    mutating func delete(_ name: String, _ batch: SharingBatch, before: ModelledSharing) {
        let ownedZone = batch.ownedZone
        guard let record = record(name, in: ownedZone) else { return }
        if !batch.isOwners, record.share != nil {
            return leave(name, user: batch.user, in: ownedZone)
        }
        let gone = [name] + goingWith(name, batch, before: before)
        for name in gone {
            if let root = share(ofRoot: name, in: ownedZone) { endShare(root, in: ownedZone) }
        }
        if record.share != nil { return endShare(name, in: ownedZone) }
        for name in gone { zones[ownedZone]?.records[name] = nil }
    }

    private mutating func endShare(_ name: String, in ownedZone: OwnedZone) {
        let root = record(name, in: ownedZone)?.share?.root
        zones[ownedZone]?.records[name] = nil
        if let root { change(root, in: ownedZone) { $0.touch() } }
    }

    package mutating func leave(_ name: String, user: Int, in ownedZone: OwnedZone) {
        change(name, in: ownedZone) {
            for index in ($0.share?.participants ?? []).indices
            where $0.share?.participants[index].user == user {
                $0.share?.participants[index].status = .removed
            }
            $0.touch()
        }
    }

    // MARK: - References

    /// The records that go with one, by reference.
    private func goingWith(
        _ name: String, _ batch: SharingBatch, before: ModelledSharing
    ) -> [String] {
        let records = zones[batch.ownedZone]?.records ?? [:]
        var reached = [name]
        var at = 0
        while at < reached.count {
            let target = reached[at]
            at += 1
            for (source, record) in records.sorted(by: { $0.key < $1.key })
            where record.goesWith == target && !reached.contains(source)
                && mayTake(source, batch, before: before)
                && (!record.isTiedByParticipant || isTogether(source, target, batch, before))
            {
                reached.append(source)
            }
        }
        return Array(reached.dropFirst())
    }

    /// Whether a deletion of the batch's user may take a record along.
    private func mayTake(
        _ name: String, _ batch: SharingBatch, before: ModelledSharing
    ) -> Bool {
        guard !batch.isOwners, before.record(name, in: batch.ownedZone) != nil else { return true }
        return before.permission(of: batch.user, for: name, in: batch.ownedZone) == .readWrite
            && before.share(ofRoot: name, in: batch.ownedZone) == nil
    }

    /// Whether one shared tree holds both records, or none holds either; of shares that stood before.
    private func isTogether(
        _ one: String, _ other: String, _ batch: SharingBatch, _ before: ModelledSharing
    ) -> Bool {
        let roots = shares(in: batch.ownedZone)
            .filter { before.record($0.name, in: batch.ownedZone)?.share != nil }
            .compactMap(\.share.root)
        func root(over name: String) -> String? {
            ([name] + ancestors(of: name, in: batch.ownedZone)).first(where: roots.contains)
        }
        return root(over: one) == root(over: other)
    }

    /// What each deletion of a batch takes away, by its place in it.
    func gone(_ batch: SharingBatch, _ outcomes: [SharingOutcomes]) -> [Int: [String]] {
        var model = self
        var gone: [Int: [String]] = [:]
        for (index, operation) in batch.operations.enumerated() where outcomes[index].contains(nil)
        {
            if operation.deletes, model.record(operation.name, in: batch.ownedZone) != nil {
                gone[index] =
                    [operation.name] + model.goingWith(operation.name, batch, before: self)
            }
            model.perform(operation, batch, before: self)
        }
        return gone
    }

    /// Whether a record goes with one that the batch was to make, and cannot.
    func isTiedToFailure(
        _ record: Record, _ batch: SharingBatch, _ outcomes: [SharingOutcomes]
    ) -> Bool {
        guard let target = record.goesWith, self.record(target, in: batch.ownedZone) == nil else {
            return false
        }
        return zip(batch.operations, outcomes).contains {
            $0.name == target && !$1.contains(nil)
        }
    }
}

extension ModelledSharing.Record {
    /// The record that it goes with.
    var goesWith: String? {
        guard let value = fields[ModelledSharing.referenceField] else { return nil }
        let parts = value.split(separator: "\"", omittingEmptySubsequences: false)
        return parts.count > 3 ? String(parts[3]) : nil
    }
}
