import CloudModel
import Storage

/// Walks the places of one zone by their distance from a centre, ring by ring.
///
/// Rings grow outwards from the centre until one holds enough records.
///
/// For the farthest records first, rings grow from the antipode. The index tells only about where a record
/// is. The exact place is looked up when it may be the record's turn.
final class DistanceWalk: Candidates {
    /// What is to be walked.
    struct Input {
        let index: Int64
        let zone: (index: Int, number: ZoneNumber)
        let centre: RecordQuery.Coordinate
        let ascending: Bool
        /// The distance in metres beyond which the walk does not look.
        let metresMax: Double
        /// Metres at which to begin, included; nil for the beginning.
        let start: Double?
    }

    /// A record of the ring, and its distance from the origin according to the index.
    private typealias About = (metres: Double, record: RecordNumber)

    private static let halfway = Double.pi * RecordQuery.Coordinate.earthRadius
    private static let firstMetres = 50.0
    /// When a ring holds more rows, only its first part is read: a page shows a few hundred records.
    private static let rowsInRingMax = 4_096
    private static let off = LocatedRecord.metresOff

    private let input: Input
    private let reader: any IndexReading
    private let budget: QueryBudget
    /// The point that rings grow from.
    private let origin: RecordQuery.Coordinate
    /// How far from the origin the last ring reaches.
    private let end: Double
    private var inner: Double
    private var width: Double
    private var ring: ArraySlice<About> = []
    private var isAtEnd = false
    /// Candidates whose exact places are known, in order.
    private var known: ArraySlice<Candidate> = []

    init(_ input: Input, reader: any IndexReading, budget: QueryBudget) {
        self.input = input
        self.reader = reader
        self.budget = budget
        origin = input.ascending ? input.centre : input.centre.antipode
        // A place is as far from one point as it is near to the other, except for rounding.
        let whole = Self.halfway + Self.off
        end = input.ascending ? min(whole, input.metresMax + Self.off) : whole
        var start = input.start.map { input.ascending ? $0 : Self.halfway - $0 } ?? 0
        if !input.ascending { start = max(start, Self.halfway - input.metresMax) }
        inner = max(0, start - Self.off)
        width = max(Self.firstMetres, inner / 16)
    }

    func next() throws -> Candidate? {
        while true {
            if let first = known.first, fromOrigin(first) < frontier { return known.popFirst() }
            if ring.isEmpty {
                guard !isAtEnd else { return nil }
                try loadRing()
            } else {
                try lookUp()
            }
        }
    }

    /// Records that are not known yet are at least this far from the origin.
    private var frontier: Double {
        if let first = ring.first { return first.metres - Self.off }
        return isAtEnd ? .infinity : inner - Self.off
    }

    private func fromOrigin(_ candidate: Candidate) -> Double {
        guard case .distance(let metres)? = candidate.key else { return 0 }
        return input.ascending ? metres : Self.halfway - metres
    }

    /// Looks up the exact places of the ring's nearest records: of all that might come first.
    private func lookUp() throws {
        let nearest = (ring.first?.metres ?? 0) + 2 * Self.off
        var found = Array(known)
        while let about = ring.first, about.metres <= nearest {
            ring.removeFirst()
            guard let location = try reader.location(of: about.record, in: input.index) else {
                continue
            }
            let metres = location.distance(to: input.centre)
            guard metres <= input.metresMax else { continue }
            found.append(
                Candidate(key: .distance(metres), record: about.record, zone: input.zone.index))
        }
        found.sort(by: precedes)
        known = found[...]
    }

    private func loadRing() throws {
        // Reads nothing beyond what the query asks for.
        let outer = min(inner + width, end)
        let isNarrow = outer - inner <= Self.firstMetres
        let rowsMax = min(Self.rowsInRingMax, max(1, budget.rowsAtOnceMax / 16))
        let locations = try reader.locations(
            of: input.index, in: input.zone.number,
            GlobeRing(around: origin, from: inner - Self.off, to: outer + Self.off),
            limit: isNarrow ? budget.rowsAtOnceMax : rowsMax + 1)
        try budget.spend(locations.count)
        guard isNarrow || locations.count <= rowsMax else {
            width = max(Self.firstMetres, (outer - inner) / 8)
            return
        }
        var found: [About] = []
        for placed in locations {
            let metres = placed.location.distance(to: origin)
            guard metres >= inner || inner == 0, metres < outer || outer == end else { continue }
            found.append((metres, placed.record))
        }
        found.sort { ($0.metres, $0.record.value) < ($1.metres, $1.record.value) }
        ring = found[...]
        isAtEnd = outer == end
        inner = outer
        // When few records are found, the next rings are wider.
        if found.count < rowsMax / 8 { width *= found.isEmpty ? 4 : 2 }
    }

    private func precedes(_ left: Candidate, _ right: Candidate) -> Bool {
        let (first, second) = (left.key ?? .absent, right.key ?? .absent)
        if first != second { return (first < second) == input.ascending }
        return left.record != right.record
            && (left.record.value < right.record.value) == input.ascending
    }
}

extension RecordQuery.Coordinate {
    /// The point on the other side of the globe.
    fileprivate var antipode: RecordQuery.Coordinate {
        RecordQuery.Coordinate(
            latitude: -latitude, longitude: longitude > 0 ? longitude - 180 : longitude + 180)
    }
}
