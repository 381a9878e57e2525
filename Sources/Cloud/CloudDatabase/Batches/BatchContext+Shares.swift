import CloudModel
import Storage

/// What is stored of one share that a batch concerns.
struct StoredShareEntry {
    let share: StoredShare
    let participants: [StoredParticipant]
    let requests: [StoredAccessRequest]
}

/// What a batch has read of shares, each by a record.
struct SharesRead {
    var entries: [RecordNumber: StoredShareEntry?] = [:]
    var byRoot: [RecordNumber: StoredShare?] = [:]
    var shortGUIDs: [RecordNumber: String?] = [:]
}

// What is stored of the shares that operations concern, read at once for all of them.
extension BatchContext {
    /// What is stored of the standing share with a share record.
    func shareEntry(of record: RecordNumber) throws -> StoredShareEntry? {
        if let known = sharesRead.entries[record] { return known }
        let records = together(with: record, isFirst: sharesRead.entries.isEmpty) {
            $0.flags.contains(.share)
        }
        for record in records { sharesRead.entries[record] = .some(nil) }
        let shares = try stored.shares(.records(records)).compactMap { $0 }
        guard !shares.isEmpty else { return nil }
        let participants = try stored.participants(of: shares.map(\.number))
        let requests = try stored.accessRequests(shares.map { .share($0.number) })
        for (share, (participants, requests)) in zip(shares, zip(participants, requests)) {
            sharesRead.entries[share.record] = StoredShareEntry(
                share: share, participants: participants, requests: requests)
        }
        return sharesRead.entries[record] ?? nil
    }

    /// The standing share whose tree has a record as its root; asked at once of all roots that are known.
    func share(ofRoot record: RecordNumber) throws -> StoredShare? {
        if let known = sharesRead.byRoot[record] { return known }
        let roots = previousRecords.values.lazy.filter { $0.flags.contains(.root) }
            .compactMap { $0.head?.record }.filter { self.sharesRead.byRoot[$0] == nil }
        let records = Array(Set(roots).union([record]))
        for (record, share) in zip(records, try stored.shares(.roots(records))) {
            sharesRead.byRoot[record] = .some(share)
        }
        return sharesRead.byRoot[record] ?? nil
    }

    /// The short identifier that a record has; asked at once of all that operations want one for.
    func shortGUID(of record: RecordNumber) throws -> String? {
        if let known = sharesRead.shortGUIDs[record] { return known }
        var asked: Set<RecordNumber> = [record]
        if sharesRead.shortGUIDs.isEmpty {
            for case .operation(let operation) in operations
            where operation.createsShortGUID || operation.concernsShare {
                for name in [operation.name, operation.share?.root?.name] {
                    let known = name.flatMap { previousRecords[key($0)] }
                    if let head = known?.head { asked.insert(head.record) }
                }
            }
        }
        let records = Array(asked)
        for (record, value) in zip(records, try stored.shortGUIDs(of: records)) {
            sharesRead.shortGUIDs[record] = .some(value)
        }
        return sharesRead.shortGUIDs[record] ?? nil
    }
}
