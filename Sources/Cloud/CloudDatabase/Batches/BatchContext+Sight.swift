import CloudModel
import Storage

// Whose records the caller meets, and which of them they see.
extension BatchContext {
    /// Who made a stored record; nil when nobody is named.
    func creator(of key: RecordKey) throws -> String? {
        if let known = creators[key] { return known }
        if creators.isEmpty { try readCreators(in: key.zone) }
        if let known = creators[key] { return known }
        let previous = try previous(key)
        let read =
            try previous.isDamaged
            ? nil
            : previous.head.flatMap { head in
                try stored.version(at: head.position, in: key.zone) {
                    try RecordBody.creator(of: $0)
                } ?? nil
            }
        creators[key] = .some(read)
        return read
    }

    /// Reads at once who made the stored records that the operations concern.
    private func readCreators(in zone: ZoneNumber) throws {
        let names = previousRecords.compactMap { key, record in
            key.zone == zone && record.isAlive ? key.name : nil
        }
        guard names.count > 1 else { return }
        try stored.current(of: names, in: zone, inOrder: false) { index, version in
            creators[RecordKey(zone: zone, name: names[index])] =
                .some(try RecordBody.creator(of: version))
            return true
        }
    }

    /// Notes the records of operations that the caller cannot see.
    ///
    /// The batch treats them as if they did not exist, also in the faults that it reports.
    func overlookUnseen() throws {
        try access?.prepare(previousRecords.values.compactMap { $0.head?.record })
        for case .operation(let operation) in operations {
            try checkTime()
            let key = key(operation.name)
            do {
                if operation.kind == .create || operation.kind.deletes {
                    try RightRule(self).check(toMakeOrDelete: operation)
                }
                guard try ParticipantRule(self).isOutOfSight(previous(key), operation) else {
                    continue
                }
                unseen.insert(key)
            } catch let fault as Fault {
                faultsOfSight[key] = fault
            }
        }
        for key in unseen { previousRecords[key] = .missing }
    }

    /// - Throws: `Fault` when nobody can tell whether the caller sees the operation's record.
    func checkSight(of key: RecordKey) throws {
        if let fault = faultsOfSight[key] { throw fault }
    }
}
