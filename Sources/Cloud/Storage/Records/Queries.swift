import CloudModel

/// What one page of a query is asked for.
///
/// It says what is wanted and never how it is found: an engine makes its own plan, and the indexes that the plan needs.
package struct StoreQuery: Sendable {
    /// The type, what records must have, and their order; as the schema allows it.
    package let query: RecordQuery
    /// The number of the type.
    package let type: Int64
    /// Where to look.
    package let zones: [StoredZone]
    package let sight: QuerySight
    /// For each filter that searches words, those to look for; none finds nothing.
    package let words: [Int: [[UInt8]]]
    /// Where the page before ended; nil for the first.
    package let start: QueryCursor?
    /// How many records are shown at most, and after how many bytes of them the page ends.
    package let limit: Int
    package let bytesMax: Int
    package let bounds: QueryBounds

    package init(
        _ query: RecordQuery, type: Int64, zones: [StoredZone], sight: QuerySight,
        words: [Int: [[UInt8]]], start: QueryCursor?, limit: Int, bytesMax: Int,
        bounds: QueryBounds
    ) {
        self.query = query
        self.type = type
        self.zones = zones
        self.sight = sight
        self.words = words
        self.start = start
        self.limit = limit
        self.bytesMax = bytesMax
        self.bounds = bounds
    }
}

/// Which records a query may show.
///
/// Nothing tells of the others: neither the order, nor where a page ends, nor the time that it takes.
package enum QuerySight: Sendable, Equatable {
    case all
    /// Those that one user has made.
    case made(by: UserRecordName)
    /// In another user's zone, those that a viewer's shares cover, whose trees are all whole.
    ///
    /// - Parameter isWhole: whether the viewer has the zone as a whole, and so sees all that is in it.
    case shared(with: UserRecordName, isWhole: Bool)
}

/// What one page may cost.
package struct QueryBounds: Sendable {
    /// How many records it may look at.
    package let recordsMax: Int
    /// How long it may take; the snapshot ends with that time.
    package let millisecondsMax: Int
    /// Up to how many records that a viewer's shares cover all of them are looked at, rather than others too.
    package let sharedRecordsMax: Int

    package init(recordsMax: Int, millisecondsMax: Int, sharedRecordsMax: Int) {
        self.recordsMax = recordsMax
        self.millisecondsMax = millisecondsMax
        self.sharedRecordsMax = sharedRecordsMax
    }
}

/// Where a page of a query ended, in the engine's own form; good for the very same query.
///
/// It holds what the order sorts by, not a count. So a record that changes between two pages makes the query neither
/// skip nor repeat others.
package struct QueryCursor: Sendable, Equatable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// Why a page of a query does not come.
package enum QueryRefusal: Error, Sendable {
    /// It looked at as many records as it may, and found too few.
    case tooManyRecords
    /// It took as long as it may.
    case tooLong
    /// The cursor is of another query, or of one that may show other records by now.
    case unknownCursor
}

/// The engine must do some work before it can answer a query; `Store.prepare` asks for it.
package struct QueryUnprepared: Error, Sendable {
    package let query: StoreQuery
    /// The fields that the work is about, by their names in the schema language.
    package let fields: Set<String>
    /// Whether the work goes on already, and is about what was saved just now.
    package let isLate: Bool

    package init(_ query: StoreQuery, fields: Set<String>, isLate: Bool) {
        self.query = query
        self.fields = fields
        self.isLate = isLate
    }
}

/// Finding records by what is in them: part of every snapshot.
///
/// Values sort alike on every machine, whatever its language: numbers by value and before all text, texts by code
/// points, as their UTF-8 does. Records without a value come before all that have one, those without a place behind.
/// Records that are equal by all sorts come in the order in which their names were first used; in the reverse order
/// when the first sort descends.
package protocol QueryReading: AnyObject {
    /// Visits the records of a page in its order.
    ///
    /// - Parameter visit: may read anything but further versions.
    /// - Returns: where the next page begins; nil when nothing comes after this one.
    /// - Throws: `QueryUnprepared`, before the first visit; `QueryRefusal`; `DamagedVersion` when the first record that
    ///   might be shown is not what was written; `StorageFailure.interrupted` when the snapshot ended meanwhile.
    func page(
        of query: StoreQuery, _ visit: (StoredVersion) throws -> Void
    ) throws -> QueryCursor?
}
