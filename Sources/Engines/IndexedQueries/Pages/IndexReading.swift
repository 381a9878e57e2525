import CloudModel
import Storage

/// What an engine's indexes tell a query, as of one snapshot.
package protocol IndexReading: AnyObject {
    /// The indexes of a record type, in any state.
    func indexes(ofType type: Int64) throws -> [StoredIndex]

    /// Whether the index lacks entries of a zone's living records that were left for later, or has some of a former
    /// version: then it finds too few records, or wrong ones.
    func isLate(_ index: Int64, in zone: ZoneNumber) throws -> Bool

    /// Appends the first rows of a range in ascending order, or the last ones in descending order.
    func append(
        _ range: IndexRange, descending: Bool, limit: Int, to rows: inout [IndexRow]) throws

    /// How many rows a range has, counted up to a limit.
    func count(_ range: IndexRange, limit: Int) throws -> Int

    /// How many rows several values have, counted up to a limit.
    func count(_ values: ValueSearch, limit: Int) throws -> Int

    /// Proposes the records that have any of several values, in the order of their numbers.
    ///
    /// - Parameter limit: about how many are wanted.
    /// - Returns: candidates to merge; one record may be among several of them.
    func candidates(
        _ values: ValueSearch, after: RecordNumber, limit: Int
    ) throws -> [any Candidates]

    /// The records of a zone in a rectangle, in no order, that an index of locations holds.
    func locations(
        of index: Int64, in zone: ZoneNumber, _ rectangle: RecordQuery.Coordinate.Rectangle,
        limit: Int
    ) throws -> [LocatedRecord]

    /// The records of a zone in a ring, in no order, that an index of locations holds.
    ///
    /// Some of them may lie near the ring's edges without being in it.
    func locations(
        of index: Int64, in zone: ZoneNumber, _ ring: GlobeRing, limit: Int
    ) throws -> [LocatedRecord]

    /// A record's exact place, as the record itself has it, not rounded as in an index of locations.
    ///
    /// - Parameter record: one that `locations` has found.
    func location(of record: RecordNumber, in index: Int64) throws -> RecordQuery.Coordinate?

    /// The records of a zone that have words: in the order of their numbers, after one, at most `limit`.
    func records(
        of index: Int64, in zone: ZoneNumber, with search: WordSearch, after: RecordNumber,
        limit: Int
    ) throws -> [RecordNumber]

    /// Visits the current versions of records, in the records' order; skips those that have none.
    ///
    /// - Parameter visit: gets the index of the record in `records`, and the version; false ends the visits.
    func versions(
        of records: [RecordNumber], _ visit: (_ index: Int, StoredVersion) throws -> Bool
    ) throws
}

/// Several values that are looked for in an index of one zone.
package struct ValueSearch {
    package let values: [IndexValue]
    package let index: Int64
    package let zone: ZoneNumber
    /// The index of the zone among the zones that the query asks.
    package let zoneIndex: Int

    /// The rows of one of the values, behind a record.
    package func range(_ value: IndexValue, after: RecordNumber) -> IndexRange {
        IndexRange(
            index: index, zone: zone, from: IndexPosition(value, after), to: .after(value))
    }
}
