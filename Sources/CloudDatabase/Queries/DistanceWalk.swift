import CloudModel
import Storage

/// Walks the places of one zone by their distance from a centre, ring by ring.
///
/// Rings grow outwards from the centre, or from its antipode for the farthest first, until one has been
/// met that holds what is asked for.
final class DistanceWalk: Candidates {
    /// What is walked.
    struct Ground {
        let index: Int64
        let zone: (place: Int, number: ZoneNumber)
        let centre: RecordQuery.Place
        let ascending: Bool
        /// Metres beyond which nobody looks.
        let metresMax: Double
        /// Metres at which to begin, included; nil for the beginning.
        let start: Double?
    }

    private static let halfway = Double.pi * RecordQuery.Place.earthRadius
    private static let firstMetres = 50.0

    private let ground: Ground
    private let reader: any IndexReader
    private let budget: QueryBudget
    /// The point that rings grow from.
    private let origin: RecordQuery.Place
    private var inner: Double
    private var width: Double
    private var rest: ArraySlice<Candidate> = []
    private var isAtEnd = false

    init(_ ground: Ground, reader: any IndexReader, budget: QueryBudget) {
        self.ground = ground
        self.reader = reader
        self.budget = budget
        origin = ground.ascending ? ground.centre : ground.centre.antipode
        var start = ground.start.map { ground.ascending ? $0 : Self.halfway - $0 } ?? 0
        if !ground.ascending { start = max(start, Self.halfway - ground.metresMax) }
        // A place is as far from the one point as it is near to the other, but for rounding.
        inner = max(0, start - 1)
        width = max(Self.firstMetres, inner / 4)
    }

    func next() throws -> Candidate? {
        while rest.isEmpty {
            guard !isAtEnd else { return nil }
            try loadRing()
        }
        return rest.popFirst()
    }

    /// How far from the origin the last ring reaches; a little more than there is, for rounding.
    private var end: Double {
        ground.ascending ? min(Self.halfway + 1, ground.metresMax) : Self.halfway + 1
    }

    private func loadRing() throws {
        // Beyond what is asked for, and for the farthest beyond the centre, nothing is read.
        let outer = min(inner + width, end)
        var found: [Candidate] = []
        for rectangle in origin.surroundings(metres: outer) {
            let places = try reader.places(
                of: ground.index, in: ground.zone.number, rectangle, limit: budget.rowsAtOnceMax)
            try budget.spend(places.count)
            for placed in places {
                let metres = placed.place.distance(to: ground.centre)
                let fromOrigin = ground.ascending ? metres : Self.halfway - metres
                guard inner == 0 || fromOrigin >= inner, fromOrigin < outer || outer == end,
                    metres <= ground.metresMax
                else {
                    continue
                }
                found.append(
                    Candidate(
                        key: .distance(metres), record: placed.record, zone: ground.zone.place))
            }
        }
        found.sort { DistanceWalk.precedes($0, $1, ascending: ground.ascending) }
        rest = Self.withoutRepeats(found)
        isAtEnd = outer == end
        inner = outer
        // Far from everything, rings grow faster.
        width *= found.isEmpty ? 4 : 2
    }

    private static func precedes(_ left: Candidate, _ right: Candidate, ascending: Bool) -> Bool {
        let (first, second) = (left.key ?? .absent, right.key ?? .absent)
        if first != second { return (first < second) == ascending }
        return left.record != right.record
            && (left.record.value < right.record.value) == ascending
    }

    /// A place on the line between two rectangles is in both.
    private static func withoutRepeats(_ found: [Candidate]) -> ArraySlice<Candidate> {
        var kept: [Candidate] = []
        kept.reserveCapacity(found.count)
        for candidate in found where candidate.record != kept.last?.record {
            kept.append(candidate)
        }
        return kept[...]
    }
}

extension RecordQuery.Place {
    /// The point on the other side of the globe.
    fileprivate var antipode: RecordQuery.Place {
        RecordQuery.Place(
            latitude: -latitude, longitude: longitude > 0 ? longitude - 180 : longitude + 180)
    }
}
