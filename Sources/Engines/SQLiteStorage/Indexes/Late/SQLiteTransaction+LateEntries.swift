import CloudModel
import IndexedQueries
import Storage

/// How much of indexes a write does at once.
enum IndexBounds {
    /// What the entries that one write brings up to date by itself may weigh (`IndexEntry.weight`), beyond `freeBytes`
    /// of each record's words; above, the entries are left for later.
    static let directWeightMax = 32_768
    /// Bytes of a record's words that do not count, and of a body in which no index has much to find.
    static let freeBytes = 512
    /// For records whose writer has seen to it that they have few entries (`NewVersion.isFoundAtOnce`).
    static let fewEntriesBytesMax = 8 * directWeightMax
    /// Bodies up to this size are looked into for what they bring to indexes; of larger ones every byte counts.
    static let weighedBytesMax = 16_384
    /// Entries that one step of the work on what is left for later writes.
    static let stepEntriesMax = 1_024

    /// What a body counts where nobody looks into it.
    static func weight(_ bytes: Int) -> Int { max(0, bytes - freeBytes) }
}

extension IndexEntry {
    /// What it costs to write all that indexes say of one record, in bytes of words: those beyond the free ones, and
    /// as much as three words for each value.
    static func weight(_ entries: [Set<IndexEntry>]) -> Int {
        var (values, words) = (0, 0)
        for entry in entries.joined() {
            switch entry {
            case .absent, .value, .location: values += 1
            case .words(let text): words += text.count
            }
        }
        return values * valueWeight + IndexBounds.weight(words)
    }

    private static let valueWeight = 16
}

/// How a write is to change the indexes.
enum IndexChange {
    /// What one index says of the record so far, and from now on.
    typealias Entries = (previous: Set<IndexEntry>, new: Set<IndexEntry>)

    /// At once: of each index of the record's type, in their order.
    case direct([Entries])
    /// Later, from a body; nil for none.
    case later([UInt8]?)
}

// What a write leaves of indexes for later.
extension SQLiteTransaction {
    /// Decides whether a write changes indexes at once, before the previous version goes.
    func indexChange(_ version: NewVersion, _ indexes: [StoredIndex]) throws -> IndexChange {
        if !(try hasLateEntries(version, indexes)),
            let entries = try directEntries(version, indexes)
        {
            return .direct(entries)
        }
        return .later(try previousBody(version))
    }

    private func hasLateEntries(_ version: NewVersion, _ indexes: [StoredIndex]) throws -> Bool {
        let table = try group.preparedIndexWriter(snapshot.connection).late
        guard let previous = version.previous, try table.hasAny() else { return false }
        return try indexes.contains {
            try table.row(of: previous.record, in: version.zone.number, $0.number) != nil
        }
    }

    /// The entries that a write changes at once; nil where they are too many.
    private func directEntries(
        _ version: NewVersion, _ indexes: [StoredIndex]
    ) throws -> [IndexChange.Entries]? {
        let isDeletion = version.flags.contains(.tombstone)
        let newBytes = isDeletion ? 0 : version.body.count
        let previousBytes = version.previousIsAlive ? version.previousBytes : 0
        let bytes = IndexBounds.weight(newBytes) + IndexBounds.weight(previousBytes)
        let left = IndexBounds.directWeightMax - indexedWeight
        let hasFew = version.isFoundAtOnce && !isDeletion
        if hasFew {
            guard bytes <= IndexBounds.fewEntriesBytesMax else { return nil }
        } else {
            guard bytes <= left || max(newBytes, previousBytes) <= IndexBounds.weighedBytesMax
            else { return nil }
        }
        let previous = try previousFields(version)
        let new = try isDeletion ? nil : version.body.withUnsafeBytes { try StoredFields($0) }
        let entries: [IndexChange.Entries] = indexes.map { index in
            (
                previous.map { IndexEntry.entries(of: $0, for: index.need) } ?? [],
                new.map { IndexEntry.entries(of: $0, for: index.need) } ?? []
            )
        }
        guard !hasFew else { return entries }
        let weight =
            IndexEntry.weight(entries.map(\.previous)) + IndexEntry.weight(entries.map(\.new))
        guard weight <= left else { return nil }
        indexedWeight += weight
        return entries
    }

    private func previousBody(_ version: NewVersion) throws -> [UInt8]? {
        guard version.previousIsAlive, !version.previousIsDamaged, let previous = version.previous
        else { return nil }
        return try snapshot.version(at: previous.position, in: version.zone.number) {
            $0.flags.contains(.tombstone) ? nil : [UInt8]($0.body)
        } ?? nil
    }

    /// Leaves for later what indexes are to say of a record.
    func leave(
        _ record: RecordNumber, in zone: ZoneNumber, to indexes: [StoredIndex],
        previous: [UInt8]?, isAwaited: Bool
    ) throws {
        let isLeft = try group.preparedIndexWriter(snapshot.connection).late.leave(
            record, in: zone, to: indexes, previous: previous, isAwaited: isAwaited)
        if isLeft { try enqueue(.maintenance(.lateEntries)) }
    }

    func hasLateEntries() throws -> Bool {
        try group.preparedIndexWriter(snapshot.connection).late.hasAny()
    }

    /// Writes some entries that were left for later.
    ///
    /// - Parameter entriesMax: at most so many are written, and counted off.
    /// - Returns: what is left of them; nil when nothing is, or something else has happened to the record since.
    func write(_ late: LateEntries, entriesMax: inout Int) throws -> LateEntries? {
        let writer = try group.preparedIndexWriter(snapshot.connection)
        let row = late.row
        guard try writer.late.row(of: row.record, in: row.zone, row.index) == row else {
            return nil
        }
        guard let index = indexes.all.first(where: { $0.number == row.index }) else {
            // Nobody can ask an index that has gone.
            try writer.late.remove(row)
            return nil
        }
        guard late.isWanted == index.holds(row.record),
            try late.position == location(of: row.record)?.position
        else { return nil }
        let step = late.step(entriesMax: entriesMax)
        entriesMax -= step.gone.count + step.come.count
        try writer.replace(step, of: row)
        guard let next = step.row else {
            try writer.late.remove(row)
            try end(row, of: index, writer)
            return nil
        }
        try writer.late.put(next)
        if next.previous == nil { try writer.late.forgetBody(row.previous) }
        return step.rest
    }

    /// Tells those who wait for the entries of a row that they are there.
    private func end(_ row: LateRow, of index: StoredIndex, _ writer: IndexWriter) throws {
        if row.isAwaited, try !writer.late.isAwaited(row.zone, row.index) { moved.insert(.indexes) }
        // It waits for its last entries to be gone.
        if index.state != .whole, try !writer.late.hasAny(of: row.index) {
            try enqueue(.maintenance(.index))
        }
    }

    /// Has what was written put in order, where that is due.
    func finishLateEntries() throws {
        let writer = try group.preparedIndexWriter(snapshot.connection)
        try writer.values.finish()
        try orderEntries(of: writer)
    }
}
