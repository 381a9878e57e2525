import CloudModel
import Storage

/// A record that an index proposes.
package struct Candidate {
    /// The value by which the order sorts it, before the record's number; nil when only the number counts.
    package var key: SortKey?
    package var record: RecordNumber
    /// The index of its zone among the zones that the query asks.
    package var zone: Int

    package init(key: SortKey?, record: RecordNumber, zone: Int) {
        self.key = key
        self.record = record
        self.zone = zone
    }

    /// The value under which the index has it, if there is one.
    var value: IndexValue? { if case .value(let value)? = key { value } else { nil } }
}

/// Proposes records one after the other, in an order.
package protocol Candidates: AnyObject {
    func next() throws -> Candidate?
}

/// Walks ranges of an index, one after the other.
package final class IndexWalk: Candidates {
    /// A range and what its rows are sorted by.
    package struct Section {
        package var range: IndexRange
        /// Nil when rows are sorted by their own values.
        package var key: SortKey?

        package init(range: IndexRange, key: SortKey? = nil) {
            self.range = range
            self.key = key
        }
    }

    private let reader: any IndexReading
    private let zone: Int
    private let descending: Bool
    /// Whether candidates carry the values by which they are sorted.
    private let isKeyed: Bool
    private var sections: ArraySlice<Section>
    private var rows: [IndexRow] = []
    private var position = 0
    private var rowsAtOnce: Int

    private static let rowsAtOnceMax = 1_024

    package init(
        _ sections: [Section], zone: Int, descending: Bool, isKeyed: Bool, rowsAtOnce: Int,
        reader: any IndexReading
    ) {
        self.sections = sections[...]
        self.zone = zone
        self.descending = descending
        self.isKeyed = isKeyed
        self.rowsAtOnce = rowsAtOnce
        self.reader = reader
    }

    package func next() throws -> Candidate? {
        while position == rows.count {
            guard try load() else { return nil }
        }
        defer { position += 1 }
        let row = rows[position]
        return Candidate(
            key: isKeyed ? sections.first?.key ?? .value(row.value) : nil, record: row.record,
            zone: zone)
    }

    /// Reads on behind the last row that was read.
    private func load() throws -> Bool {
        if let last = rows.last, rows.count == lastLimit {
            let position = IndexPosition(last.value, last.record)
            if descending {
                sections[sections.startIndex].range.to = position
            } else {
                sections[sections.startIndex].range.from = position
            }
        } else if lastLimit > 0 {
            sections = sections.dropFirst()
        }
        rows.removeAll(keepingCapacity: true)
        position = 0
        guard let section = sections.first else {
            lastLimit = 0
            return false
        }
        lastLimit = rowsAtOnce
        rowsAtOnce = min(2 * rowsAtOnce, Self.rowsAtOnceMax)
        try reader.append(
            section.range, descending: descending, limit: lastLimit, to: &rows)
        return true
    }

    /// How many rows were asked for last; 0 before the first time.
    private var lastLimit = 0
}

/// Finds the records that have certain words, in the order of their numbers.
final class WordWalk: Candidates {
    private let reader: any IndexReading
    private let index: Int64
    private let zone: (index: Int, number: ZoneNumber)
    private let search: WordSearch
    private var after: RecordNumber
    private var records: [RecordNumber] = []
    private var position = 0
    private var isAtEnd = false

    private static let recordsAtOnce = 256

    init(
        _ search: WordSearch, of index: Int64, in zone: (index: Int, number: ZoneNumber),
        after: RecordNumber, reader: any IndexReading
    ) {
        self.search = search
        self.index = index
        self.zone = zone
        self.after = after
        self.reader = reader
    }

    func next() throws -> Candidate? {
        if position == records.count {
            guard !isAtEnd else { return nil }
            records = try reader.records(
                of: index, in: zone.number, with: search, after: after, limit: Self.recordsAtOnce)
            position = 0
            isAtEnd = records.count < Self.recordsAtOnce
            guard let last = records.last else { return nil }
            after = last
        }
        defer { position += 1 }
        return Candidate(key: nil, record: records[position], zone: zone.index)
    }
}

/// Proposes records that are all known in advance.
final class KnownCandidates: Candidates {
    private var rest: ArraySlice<Candidate>

    init(_ candidates: [Candidate]) { rest = candidates[...] }

    func next() throws -> Candidate? { rest.popFirst() }
}

/// Merges candidates that all come in one order; proposes each record once.
final class MergedCandidates: Candidates {
    private var sources: [any Candidates]
    /// A heap of the next candidate of each source.
    private var heads: [(candidate: Candidate, source: Int)] = []
    private let precedes: (Candidate, Candidate) -> Bool
    private var last: Candidate?

    init(
        _ sources: [any Candidates], by precedes: @escaping (Candidate, Candidate) -> Bool
    ) throws {
        self.sources = sources
        self.precedes = precedes
        for index in sources.indices {
            guard let first = try sources[index].next() else { continue }
            heads.append((first, index))
            rise(heads.count - 1)
        }
    }

    /// A single source needs no merging.
    static func merging(
        _ sources: [any Candidates], by precedes: @escaping (Candidate, Candidate) -> Bool
    ) throws -> any Candidates {
        if sources.count == 1, let only = sources.first { return only }
        return try MergedCandidates(sources, by: precedes)
    }

    func next() throws -> Candidate? {
        while let head = heads.first {
            if let following = try sources[head.source].next() {
                heads[0].candidate = following
            } else {
                let tail = heads.removeLast()
                if heads.isEmpty { return isNew(head.candidate) ? head.candidate : nil }
                heads[0] = tail
            }
            sink(0)
            if isNew(head.candidate) { return head.candidate }
        }
        return nil
    }

    /// Equal candidates come one after the other.
    private func isNew(_ candidate: Candidate) -> Bool {
        defer { last = candidate }
        return last?.record != candidate.record || last?.key != candidate.key
    }

    private func rise(_ from: Int) {
        var child = from
        while child > 0 {
            let parent = (child - 1) / 2
            guard precedes(heads[child].candidate, heads[parent].candidate) else { return }
            heads.swapAt(child, parent)
            child = parent
        }
    }

    private func sink(_ from: Int) {
        var parent = from
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heads.count && precedes(heads[child].candidate, heads[least].candidate) {
                least = child
            }
            guard least != parent else { return }
            heads.swapAt(least, parent)
            parent = least
        }
    }
}
