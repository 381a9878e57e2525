import CloudModel

/// What a request asks of one page of a query (web-services.md §4.1).
package struct QueryRequest: Sendable {
    /// As the schema allows it: comparators fit their fields, and every field has the index option.
    package var query: RecordQuery
    /// Nil for all zones of the database.
    package var zone: ZoneID?
    /// Nil or empty for the first page.
    package var continuationMarker: String?
    /// Records in the page; capped at `ServiceLimits.recordsPerResponseMax`.
    package var resultsLimit: Int
    package var rendering: RecordRendering
    /// Which records the caller may see; in the public database the grants decide instead.
    package var access: QueryAccess
    /// Whether the answer tells where the zone's feed goes on (rulings.md 52).
    package var wantsSyncToken: Bool

    package init(
        query: RecordQuery, zone: ZoneID?, continuationMarker: String? = nil, resultsLimit: Int,
        rendering: RecordRendering = .whole, access: QueryAccess = .all,
        wantsSyncToken: Bool = false
    ) {
        self.query = query
        self.zone = zone
        self.continuationMarker = continuationMarker
        self.resultsLimit = resultsLimit
        self.rendering = rendering
        self.access = access
        self.wantsSyncToken = wantsSyncToken
    }
}

/// How a page of a query ended.
package struct QueryEnd: Sendable {
    /// The marker of the next page; nil on the last page.
    package var marker: String?
    /// Where the zone's feed goes on after what the page was read from.
    ///
    /// Nil unless the request asked for it, and for zones without a feed.
    package var syncToken: String?
    /// How many the page shows.
    package var records = 0
}

/// Which records of the type the caller may see at all; others appear nowhere.
package enum QueryAccess: Sendable {
    case all
    /// Those that they made.
    case own(UserRecordName)
}
