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

    /// Updates the coverage after a save, once the record's links are written.
    mutating func saved(_ saved: Saved) throws {
        guard try keepsTrees() else { return }
        let former = try transaction.cover(of: saved.record)
        let target = try target(of: saved.record, parent: saved.parent)
        if let former, former.share == target {
            return try transaction.renew(
                saved.record, former, at: saved.position, type: saved.type)
        }
        if let former {
            try leave(
                saved.record, former, at: transaction.takePosition(), left: saved.position)
        }
        if let target {
            try enter(
                StoredStay(
                    share: target, position: saved.position, record: saved.record,
                    version: saved.position, type: saved.type, entered: saved.position, left: nil))
        }
        guard former != nil || target != nil else { return }
        try spread(
            from: Moved(
                record: saved.record, name: saved.name, from: former?.share, to: target,
                since: saved.position))
    }

    /// Updates the coverage after a deletion.
    mutating func deleted(_ record: RecordNumber, at position: Position) throws {
        guard try keepsTrees(), let former = try transaction.cover(of: record) else { return }
        try leave(record, former, at: position, left: position)
    }

    /// Covers the records of a new share; leaves the rest of a large tree to queued work.
    mutating func began(_ share: StoredShare) throws {
        hasTrees = nil
        guard let root = share.root else { return }
        for record in [root, share.record] { try take(record, into: share.number) }
        guard let place = try transaction.place(of: root) else { return }
        try spread(
            from: Moved(
                record: root, name: place.name, from: nil, to: share.number, since: share.created))
    }

    /// Ends a share: in this transaction, its viewers lose what they saw of it.
    mutating func end(_ share: StoredShare) throws {
        try transaction.endShare(share.number)
        hasTrees = nil
    }

    /// Moves one record into a share, out of whatever covers it.
    private mutating func take(_ record: RecordNumber, into share: ShareNumber) throws {
        let former = try transaction.cover(of: record)
        guard former?.share != share, let place = try transaction.place(of: record),
            let type = try livingType(at: place)
        else { return }
        let position = try transaction.takePosition()
        if let former { try leave(record, former, at: position, left: position) }
        let entered = former == nil ? position : try transaction.takePosition()
        try enter(
            StoredStay(
                share: share, position: entered, record: record, version: place.position,
                type: type, entered: entered, left: nil))
    }

    private mutating func enter(_ stay: StoredStay) throws {
        arrivals[stay.record] = stay.entered
        try transaction.enter(stay)
    }

    /// Nobody has seen a record that came in by this same change, so it goes as if it had never come.
    private func leave(
        _ record: RecordNumber, _ former: StoredCover, at position: Position, left: Position
    ) throws {
        try transaction.leave(record, former, at: position, left: arrivals[record] ?? left)
    }

    private mutating func keepsTrees() throws -> Bool {
        if let hasTrees { return hasTrees }
        let found = try transaction.keepsTrees(zone)
        hasTrees = found
        return found
    }

    private func target(of record: RecordNumber, parent: RecordName?) throws -> ShareNumber? {
        if let own = try transaction.share(ofRoot: record) { return own.number }
        if let own = try transaction.share(ofRecord: record) { return own.number }
        guard let parent, let head = try transaction.head(of: parent, in: zone) else { return nil }
        return try transaction.cover(of: head.record)?.share
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
                for child in children {
                    if let moved = try move(child, below: next) { waiting.append(moved) }
                }
                cursor = last
            }
        }
    }

    private mutating func queue(_ moved: Moved) throws {
        try transaction.enqueue(.cover(moved.record, in: zone))
        try transaction.markCoverWork(
            moved.record, in: zone, concerning: [moved.from, moved.to].compactMap { $0 },
            since: moved.since)
    }

    /// Covers a child as its parent is covered, unless the child is a root itself.
    ///
    /// - Returns: nil when nothing has changed, neither for it nor for what is below.
    private mutating func move(_ child: RecordNumber, below parent: Moved) throws -> Moved? {
        let former = try transaction.cover(of: child)
        guard former?.share != parent.to, try transaction.share(ofRoot: child) == nil,
            try transaction.share(ofRecord: child) == nil,
            let place = try transaction.place(of: child), let type = try livingType(at: place)
        else { return nil }
        var since = parent.since
        if let former {
            // If an earlier move took it out, and nobody has gained it since, it left at that move.
            if former.share != parent.from {
                since =
                    try transaction.coverWorkSince(parent.record, concerning: former.share)
                    ?? since
            }
            try leave(child, former, at: transaction.takePosition(), left: since)
        }
        if let share = parent.to {
            let position = try transaction.takePosition()
            try enter(
                StoredStay(
                    share: share, position: position, record: child, version: place.position,
                    type: type, entered: position, left: nil))
        }
        return Moved(
            record: child, name: place.name, from: former?.share, to: parent.to, since: since)
    }

    /// The type of a record; nil when it is deleted.
    private func livingType(at place: RecordPlace) throws -> Int64? {
        let found = try transaction.version(at: place.position, in: place.zone) { version in
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
            let place = try transaction.place(of: record)
        else { return WorkSteps.Outcome(records: 1, cursor: nil) }
        var coverage = Coverage(transaction, zone: zone, recordsMax: 0)
        let children = try transaction.children(
            of: place.name, in: zone, after: cursor, limit: recordsMax)
        let parent = Moved(
            record: record, name: place.name, from: nil,
            to: try transaction.cover(of: record)?.share, since: try transaction.takePosition())
        for child in children {
            guard let moved = try coverage.move(child, below: parent),
                let place = try transaction.place(of: child),
                try !transaction.children(
                    of: place.name, in: zone, after: RecordNumber(0), limit: 1
                ).isEmpty
            else { continue }
            try coverage.queue(moved)
        }
        let isDone = children.count < recordsMax
        return WorkSteps.Outcome(
            records: children.count + 1, cursor: isDone ? nil : children.last?.value)
    }
}
