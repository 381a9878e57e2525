import CloudModel
import Storage

/// Notes which share covers each record, as records of one zone are saved, moved and deleted.
///
/// A share covers its root and its share record. Any other record is covered by what covers its parent. When
/// a record moves, the records below it follow. If they are many, queued work does the rest, and the shares
/// concerned are not whole until it has finished.
struct Coverage {
    private let transaction: any StoreTransaction
    private let zone: ZoneNumber
    /// How many more records this transaction may look at.
    private var recordsLeft: Int
    /// Whether the zone has trees to maintain; nil until that is known.
    private var hasTrees: Bool?
    /// Where records have come into a share by this same change.
    private var arrivals: [RecordNumber: Position] = [:]
    /// Records that have been written and whose own turn is still to come.
    private var expected: Set<RecordNumber> = []
    /// What was read at once for records that were written together.
    private var known = Known()

    /// What is known of records, and changes with what is written.
    private struct Known {
        var memberships: [RecordNumber: CurrentMembership?] = [:]
        /// The standing share of which a record is the root or the share record.
        var shares: [RecordNumber: ShareNumber?] = [:]
        var locations: [RecordNumber: RecordLocation?] = [:]
        var heads: [RecordName: RecordNumber?] = [:]
    }

    /// - Parameter recordsMax: how many records below the saved ones it may look at.
    init(_ transaction: any StoreTransaction, zone: ZoneNumber, recordsMax: Int) {
        self.transaction = transaction
        self.zone = zone
        recordsLeft = recordsMax
    }

    /// A record that has just been written.
    struct Saved {
        let record: RecordNumber
        let name: RecordName
        let position: Position
        let type: Int64
        let parent: RecordName?
    }

    /// Takes note of records that have been written together; `saved` follows for each of them, in this order, and
    /// then `settle`.
    ///
    /// - Parameter parents: those that the records name.
    mutating func expect(_ records: [RecordNumber], below parents: Set<RecordName>) throws {
        guard try keepsTrees() else { return }
        expected.formUnion(records)
        try look(at: records)
        let names = Array(parents)
        var above: [RecordNumber] = []
        for (name, head) in zip(names, try transaction.heads(of: names, in: zone)) {
            known.heads[name] = .some(head?.record)
            if let head, known.memberships[head.record] == nil { above.append(head.record) }
        }
        try lookAtMemberships(of: above)
    }

    /// Forgets what was read for records that have had their turns.
    mutating func settle() {
        expected = []
        known = Known()
    }

    /// Reads at once what is asked of each record.
    private mutating func look(at records: [RecordNumber]) throws {
        try lookAtMemberships(of: records)
        for (record, share) in zip(records, try transaction.shares(.roots(records))) {
            known.shares[record] = .some(share?.number)
        }
        for (record, share) in zip(records, try transaction.shares(.records(records))) {
            if let share { known.shares[record] = .some(share.number) }
        }
    }

    private mutating func lookAtMemberships(of records: [RecordNumber]) throws {
        guard !records.isEmpty else { return }
        for (record, membership) in zip(records, try transaction.currentMemberships(of: records)) {
            known.memberships[record] = .some(membership)
        }
    }

    private func currentMembership(of record: RecordNumber) throws -> CurrentMembership? {
        if let known = known.memberships[record] { return known }
        return try transaction.currentMembership(of: record)
    }

    /// The share of which a record is the root or the share record.
    private func share(of record: RecordNumber) throws -> ShareNumber? {
        if let known = known.shares[record] { return known }
        return try transaction.share(ofRoot: record)?.number
            ?? transaction.share(ofRecord: record)?.number
    }

    /// Updates the coverage after a save, once the record's links are written.
    mutating func saved(_ saved: Saved) throws {
        guard try keepsTrees() else { return }
        expected.remove(saved.record)
        let previous = try currentMembership(of: saved.record)
        let target = try target(of: saved.record, parent: saved.parent)
        if let previous, previous.share == target {
            return try move(
                MembershipMove(
                    saved.record, at: saved.position, from: previous,
                    into: .init(previous.share, version: saved.position, type: saved.type)))
        }
        if let previous {
            try leave(
                saved.record, previous, at: transaction.takePosition(), left: saved.position)
        }
        if let target {
            try enter(
                saved.record, .init(target, version: saved.position, type: saved.type),
                at: saved.position)
        }
        guard previous != nil || target != nil else { return }
        try spread(
            from: Moved(
                record: saved.record, name: saved.name, from: previous?.share, to: target,
                since: saved.position))
    }

    /// Updates the coverage after deletions.
    mutating func deleted(_ gone: [(record: RecordNumber, position: Position)]) throws {
        guard try keepsTrees() else { return }
        let memberships = try transaction.currentMemberships(of: gone.map(\.record))
        for ((record, position), previous) in zip(gone, memberships) {
            guard let previous else { continue }
            try leave(record, previous, at: position, left: position)
        }
    }

    /// Covers the records of a new share; leaves the rest of a large tree to queued work.
    mutating func began(_ share: StoredShare) throws {
        hasTrees = nil
        guard let root = share.root else { return }
        for record in [root, share.record] { try take(record, into: share.number) }
        guard let location = try transaction.location(of: root) else { return }
        try spread(
            from: Moved(
                record: root, name: location.name, from: nil, to: share.number, since: share.created
            ))
    }

    /// Ends a share: in this transaction, its viewers lose what they saw of it.
    mutating func end(_ share: StoredShare) throws {
        try transaction.endShare(share.number)
        hasTrees = nil
    }

    /// Moves one record into a share, out of whatever covers it.
    private mutating func take(_ record: RecordNumber, into share: ShareNumber) throws {
        let previous = try currentMembership(of: record)
        guard previous?.share != share, let location = try transaction.location(of: record),
            let type = try livingType(at: location)
        else { return }
        let position = try transaction.takePosition()
        if let previous { try leave(record, previous, at: position, left: position) }
        let entered = previous == nil ? position : try transaction.takePosition()
        try enter(
            record, .init(share, version: location.position, type: type), at: entered)
    }

    private mutating func enter(
        _ record: RecordNumber, _ next: MembershipMove.Next, at position: Position
    ) throws {
        arrivals[record] = position
        try move(MembershipMove(record, at: position, into: next))
    }

    /// Writes a move, and takes it over where the membership has been read.
    private mutating func move(_ move: MembershipMove) throws {
        try transaction.move(move)
        guard known.memberships[move.record] != nil else { return }
        known.memberships[move.record] = .some(
            move.next.map { CurrentMembership(share: $0.share, position: move.position) })
    }

    /// Nobody has seen a record that came in by this same change, so it goes as if it had never come.
    private mutating func leave(
        _ record: RecordNumber, _ previous: CurrentMembership, at position: Position, left: Position
    ) throws {
        try move(
            MembershipMove(
                record, at: position, outOf: previous, left: arrivals[record] ?? left))
    }

    private mutating func keepsTrees() throws -> Bool {
        if let hasTrees { return hasTrees }
        let found = try transaction.keepsTrees(zone)
        hasTrees = found
        return found
    }

    private func target(of record: RecordNumber, parent: RecordName?) throws -> ShareNumber? {
        if let own = try share(of: record) { return own }
        guard let parent else { return nil }
        let above =
            if let known = known.heads[parent] {
                known
            } else {
                try transaction.head(of: parent, in: zone)?.record
            }
        return try above.flatMap { try currentMembership(of: $0)?.share }
    }

    // MARK: - What lies below

    /// A record whose coverage has changed, so that its children's may have to change too.
    private struct Moved {
        let record: RecordNumber
        let name: RecordName
        let from: ShareNumber?
        let to: ShareNumber?
        let since: Position
    }

    private static let childrenPerRead = 100

    private mutating func spread(from first: Moved) throws {
        // Beyond this, somebody else may change what was read.
        defer { if expected.isEmpty { known = Known() } }
        var waiting = [first]
        while let next = waiting.popLast() {
            var cursor = RecordNumber(0)
            while true {
                let children = try transaction.children(
                    of: next.name, in: zone, after: cursor, limit: Self.childrenPerRead)
                guard let last = children.last else { break }
                guard children.count <= recordsLeft else {
                    try queue(next)
                    break
                }
                recordsLeft -= children.count
                try look(at: children.filter { known.memberships[$0] == nil })
                try lookAtLocations(of: children)
                for child in children where !expected.contains(child) {
                    if let moved = try move(child, below: next) { waiting.append(moved) }
                }
                cursor = last
            }
        }
    }

    private mutating func queue(_ moved: Moved) throws {
        try transaction.enqueue(
            .cover(moved.record, in: zone),
            concerning: MovedChildren(
                of: [moved.from, moved.to].compactMap { $0 }, since: moved.since))
    }

    /// Covers a child as its parent is covered, unless the child is a root itself.
    ///
    /// - Returns: nil when nothing has changed, neither for it nor for what is below.
    private mutating func move(_ child: RecordNumber, below parent: Moved) throws -> Moved? {
        let previous = try currentMembership(of: child)
        guard previous?.share != parent.to, try share(of: child) == nil,
            let location = try location(of: child), let type = try livingType(at: location)
        else { return nil }
        var since = parent.since
        if let previous {
            // If an earlier move took it out, and nobody has gained it since, it left at that move.
            if previous.share != parent.from {
                since =
                    try transaction.coverageWork([
                        .children(of: parent.record, concerning: previous.share)
                    ]).first.flatMap { $0 } ?? since
            }
            try leave(child, previous, at: transaction.takePosition(), left: since)
        }
        if let share = parent.to {
            let position = try transaction.takePosition()
            try enter(
                child, .init(share, version: location.position, type: type), at: position)
        }
        return Moved(
            record: child, name: location.name, from: previous?.share, to: parent.to, since: since)
    }

    private mutating func lookAtLocations(of records: [RecordNumber]) throws {
        for (record, location) in zip(records, try transaction.locations(of: records)) {
            known.locations[record] = .some(location)
        }
    }

    private func location(of record: RecordNumber) throws -> RecordLocation? {
        if let known = known.locations[record] { return known }
        return try transaction.location(of: record)
    }

    /// The type of a record; nil when it is deleted.
    private func livingType(at location: RecordLocation) throws -> Int64? {
        let found = try transaction.version(at: location.position, in: location.zone) { version in
            version.flags.contains(.tombstone) ? nil : version.type
        }
        return found ?? nil
    }

    // MARK: - Work left for later

    /// Covers the children of a record as the record is covered now, and queues children that have children.
    ///
    /// - Parameters:
    ///   - cursor: the last child that was looked at.
    ///   - recordsMax: how many children to look at.
    static func workOff(
        _ record: RecordNumber, in zone: ZoneNumber, after cursor: RecordNumber, recordsMax: Int,
        _ transaction: any StoreTransaction
    ) throws -> WorkSteps.Outcome {
        guard try transaction.zone(zone)?.isDeleted == false,
            let location = try transaction.location(of: record)
        else { return WorkSteps.Outcome(records: 1, cursor: nil) }
        var coverage = Coverage(transaction, zone: zone, recordsMax: 0)
        let children = try transaction.children(
            of: location.name, in: zone, after: cursor, limit: recordsMax)
        try coverage.look(at: children)
        try coverage.lookAtLocations(of: children)
        let parent = Moved(
            record: record, name: location.name, from: nil,
            to: try transaction.currentMembership(of: record)?.share,
            since: try transaction.takePosition())
        for child in children {
            guard let moved = try coverage.move(child, below: parent),
                let location = try coverage.location(of: child),
                try !transaction.children(
                    of: location.name, in: zone, after: RecordNumber(0), limit: 1
                ).isEmpty
            else { continue }
            try coverage.queue(moved)
        }
        let isDone = children.count < recordsMax
        return WorkSteps.Outcome(
            records: children.count + 1, cursor: isDone ? nil : children.last?.value)
    }
}
