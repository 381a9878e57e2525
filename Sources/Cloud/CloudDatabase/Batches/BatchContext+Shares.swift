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
    /// All of the zone.
    var ofZone: [StoredShare]?
    /// Whether zones have any.
    var areThere: [ZoneNumber: Bool] = [:]
    /// Those of which records are the roots or the share records.
    var own: [RecordNumber: ShareNumber?] = [:]
    /// Where share records and roots lie.
    var locations: [RecordNumber: RecordLocation?] = [:]
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

    // MARK: - Of the zone

    /// The standing shares of the zone.
    var shares: [StoredShare] {
        get throws {
            if let known = sharesRead.ofZone { return known }
            let read = try stored.shares(in: zone.number, limit: .max)
            sharesRead.ofZone = read
            return read
        }
    }

    /// Whether anything in a zone is shared.
    func hasShares(_ zone: ZoneNumber) throws -> Bool {
        if let known = sharesRead.areThere[zone] { return known }
        let read = try !stored.shares(in: zone, limit: 1).isEmpty
        sharesRead.areThere[zone] = read
        return read
    }

    /// The standing share of which a record is the root or the share record.
    func ownShare(of record: RecordNumber) throws -> ShareNumber? {
        if let known = sharesRead.own[record] { return known }
        let records = Array(knownRecords { sharesRead.own[$0] == nil }.union([record]))
        for (record, share) in zip(records, try stored.shares(.rootsOrRecords(records))) {
            sharesRead.own[record] = .some(share?.number)
        }
        return sharesRead.own[record] ?? nil
    }

    /// Where share records and roots lie, in their order; asked at once of all that are not known.
    func locationsOfShares(_ records: [RecordNumber]) throws -> [RecordLocation?] {
        let unknown = Array(Set(records).filter { sharesRead.locations[$0] == nil })
        if !unknown.isEmpty {
            for (record, location) in zip(unknown, try stored.locations(of: unknown)) {
                sharesRead.locations[record] = .some(location)
            }
        }
        return records.map { sharesRead.locations[$0] ?? nil }
    }

    /// Where a share's record lies; asked at once of all shares whose roots are known.
    func location(of share: StoredShare) throws -> RecordLocation? {
        if let known = sharesRead.locations[share.record] { return known }
        let others = sharesRead.byRoot.values.compactMap { $0?.record }
        return try locationsOfShares([share.record] + others).first ?? nil
    }

    /// Marks those of some damaged records that are shares or roots: their versions do not say it, the shares do.
    func markShares(amongDamaged names: [RecordName], in zone: ZoneNumber) throws {
        let damaged = names.compactMap { name -> (RecordKey, RecordNumber)? in
            let key = RecordKey(zone: zone, name: name)
            return previousRecords[key]?.head.map { (key, $0.record) }
        }
        guard !damaged.isEmpty else { return }
        let records = damaged.map(\.1)
        for ((key, record), share) in zip(damaged, try stored.shares(.rootsOrRecords(records))) {
            guard let share else { continue }
            previousRecords[key]?.flags.insert(share.root == record ? .root : .share)
        }
    }
}
