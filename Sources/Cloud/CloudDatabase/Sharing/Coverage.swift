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
        let names = Array(parents)
        let above = try transaction.heads(of: names, in: zone)
        for (name, head) in zip(names, above) { known.heads[name] = .some(head?.record) }
        try look(at: records, and: above.compactMap { $0?.record })
    }

    /// Forgets what was read for records that have had their turns.
    mutating func settle() {
        expected = []
        known = Known()
    }

    /// Reads at once what is asked of each record.
    ///
    /// - Parameter above: those of which only the membership is.
    private mutating func look(
        at records: [RecordNumber], and above: [RecordNumber] = []
    ) throws {
        guard !records.isEmpty else { return }
        try lookAtMemberships(of: records + above)
        for (record, share) in zip(records, try transaction.shares(.rootsOrRecords(records))) {
            known.shares[record] = .some(share?.number)
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
        return try transaction.shares(.rootsOrRecords([record])).first.flatMap { $0?.number }
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
        let records = [root, share.record]
        try look(at: records.filter { known.memberships[$0] == nil })
        try lookAtLocations(of: records)
        try take(records, into: share.number)
        guard let location = try location(of: root) else { return }
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

    /// Moves records into a share, out of whatever covers them.
    private mutating func take(_ records: [RecordNumber], into share: ShareNumber) throws {
        let moving = try records.filter { try currentMembership(of: $0)?.share != share }
        for record in try living(moving) {
            let previous = try currentMembership(of: record.number)
            let position = try transaction.takePosition()
            if let previous {
                try leave(record.number, previous, at: position, left: position)
            }
            let entered = previous == nil ? position : try transaction.takePosition()
            try enter(
                record.number, .init(share, version: record.location.position, type: record.type),
                at: entered)
        }
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
    private static let parentsPerRead = 100

    private mutating func spread(from first: Moved) throws {
        // Beyond this, somebody else may change what was read.
        defer { if expected.isEmpty { known = Known() } }
        var waiting = [first]
        while !waiting.isEmpty {
            let parents = Array(waiting.prefix(Self.parentsPerRead))
            waiting.removeFirst(parents.count)
            waiting += try spread(from: parents)
        }
    }

    /// Covers the children of records; queues records that have more of them than may be looked at.
    ///
    /// - Returns: the children whose coverage has changed.
    private mutating func spread(from parents: [Moved]) throws -> [Moved] {
        let pages = try children(of: parents.map(\.name), after: RecordNumber(0))
        let admitted = try zip(parents, pages).filter { try admit($1, of: $0) }
        var moved = try move(
            admitted.flatMap { parent, children in children.map { ($0, parent) } })
        for (parent, page) in admitted where page.count == Self.childrenPerRead {
            var page = page
            while let last = page.last {
                page = try children(of: [parent.name], after: last).first ?? []
                guard try admit(page, of: parent) else { break }
                moved += try move(page.map { ($0, parent) })
            }
        }
        return moved
    }

    private func children(
        of parents: [RecordName], after cursor: RecordNumber
    ) throws -> [[RecordNumber]] {
        try transaction.sources(
            of: parents, in: zone, kinds: .parent ... .parent, after: cursor,
            limit: Self.childrenPerRead
        ).map { $0.map(\.record) }
    }

    /// Counts children that are looked at; where they are too many, their parent is queued.
    private mutating func admit(_ children: [RecordNumber], of parent: Moved) throws -> Bool {
        guard children.count <= recordsLeft else {
            try queue(parent)
            return false
        }
        recordsLeft -= children.count
        return true
    }

    private mutating func queue(_ moved: Moved) throws {
        try transaction.enqueue(
            .cover(moved.record, in: zone),
            concerning: MovedChildren(
                of: [moved.from, moved.to].compactMap { $0 }, since: moved.since))
    }

    /// Covers children as their parents are covered, except those that are roots themselves.
    ///
    /// - Returns: those for whom something has changed, and so may have for what is below.
    private mutating func move(_ below: [(child: RecordNumber, parent: Moved)]) throws -> [Moved] {
        let below = below.filter { !expected.contains($0.child) }
        try look(at: below.map(\.child).filter { known.memberships[$0] == nil })
        let moving = try below.filter { child, parent in
            try currentMembership(of: child)?.share != parent.to && share(of: child) == nil
        }
        let earlier = try earlierMoves(moving)
        let parents = Dictionary(moving.map { ($0.child, $0.parent) }) { parent, _ in parent }
        let records = try living(moving.map(\.child))
        let count = try records.reduce(0) { count, record in
            try count + (currentMembership(of: record.number) == nil ? 0 : 1)
                + (parents[record.number]?.to == nil ? 0 : 1)
        }
        var position = count == 0 ? 0 : try transaction.takePositions(count)
        var moved: [Moved] = []
        for record in records {
            guard let parent = parents[record.number] else { continue }
            let previous = try currentMembership(of: record.number)
            let since = earlier[record.number] ?? parent.since
            if let previous {
                try leave(record.number, previous, at: position, left: since)
                position += 1
            }
            if let share = parent.to {
                try enter(
                    record.number,
                    .init(share, version: record.location.position, type: record.type),
                    at: position)
                position += 1
            }
            moved.append(
                Moved(
                    record: record.number, name: record.location.name, from: previous?.share,
                    to: parent.to, since: since))
        }
        return moved
    }

    /// Since when children are out of shares that an earlier move of their parents took them out of.
    ///
    /// If nobody has gained such a child since, it left at that move.
    private func earlierMoves(
        _ moving: [(child: RecordNumber, parent: Moved)]
    ) throws -> [RecordNumber: Position] {
        let keys = try moving.compactMap { child, parent -> (RecordNumber, CoverageWorkKey)? in
            guard let previous = try currentMembership(of: child), previous.share != parent.from
            else { return nil }
            return (child, .children(of: parent.record, concerning: previous.share))
        }
        guard !keys.isEmpty else { return [:] }
        var found: [RecordNumber: Position] = [:]
        for ((child, _), since) in zip(keys, try transaction.coverageWork(keys.map(\.1))) {
            found[child] = since
        }
        return found
    }

    private mutating func lookAtLocations(of records: [RecordNumber]) throws {
        guard !records.isEmpty else { return }
        for (record, location) in zip(records, try transaction.locations(of: records)) {
            known.locations[record] = .some(location)
        }
    }

    private func location(of record: RecordNumber) throws -> RecordLocation? {
        if let known = known.locations[record] { return known }
        return try transaction.location(of: record)
    }

    /// A record that is not deleted.
    private struct Living {
        let number: RecordNumber
        let location: RecordLocation
        let type: Int64
    }

    /// Those of some records that are not deleted, in their order.
    private mutating func living(_ records: [RecordNumber]) throws -> [Living] {
        guard !records.isEmpty else { return [] }
        try lookAtLocations(of: records.filter { known.locations[$0] == nil })
        var types: [RecordNumber: Int64] = [:]
        try transaction.current(.records(records), inOrder: false) { _, version in
            guard !version.isDamaged else {
                throw DamagedVersion(zone: zone, position: version.position)
            }
            if !version.flags.contains(.tombstone) { types[version.record] = version.type }
            return true
        }
        return try records.compactMap { record in
            guard let type = types[record], let location = try location(of: record) else {
                return nil
            }
            return Living(number: record, location: location, type: type)
        }
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
        let parent = Moved(
            record: record, name: location.name, from: nil,
            to: try transaction.currentMembership(of: record)?.share,
            since: try transaction.takePosition())
        let moved = try coverage.move(children.map { ($0, parent) })
        let further = try transaction.sources(
            of: moved.map(\.name), in: zone, kinds: .parent ... .parent,
            after: RecordNumber(0), limit: 1)
        for (moved, children) in zip(moved, further) where !children.isEmpty {
            try coverage.queue(moved)
        }
        let isDone = children.count < recordsMax
        return WorkSteps.Outcome(
            records: children.count + 1, cursor: isDone ? nil : children.last?.value)
    }
}
