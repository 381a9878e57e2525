import CloudModel
import Storage

/// What one page of a query is asked for (web-services.md §4.1).
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
    /// Outside the public database, where grants say it.
    package var access: QueryAccess
    /// Whether the answer says from where the zone's feed goes on (rulings.md 52).
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
    /// Of the next page; nil when this is the last one.
    package var marker: String?
    /// From where the zone's feed goes on after what the page was read from; nil unless asked for, and
    /// for zones without a feed.
    package var syncToken: String?
}

/// Which records of the type the caller may see at all; the others show nowhere.
package enum QueryAccess: Sendable {
    case all
    /// Those that they made.
    case own(UserRecordName)
}
