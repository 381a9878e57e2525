import CloudModel
import Storage

/// What a request asks of one page of a zone's feed (web-services.md §4.6).
package struct ZoneChangesRequest: Sendable {
    package var zone: ZoneID
    /// Nil or empty for the zone's beginning.
    package var syncToken: String?
    /// Records in the page; capped at `ServiceLimits.recordsPerResponseMax`.
    package var resultsLimit: Int
    /// Nil for all types; deletions are shown in any case.
    package var recordTypes: Set<String>?
    package var newestFirst: Bool
    package var rendering: RecordRendering
    /// The device that asks; nil for one that has stored no data.
    package var device: String?

    package init(
        zone: ZoneID, syncToken: String? = nil, resultsLimit: Int,
        recordTypes: Set<String>? = nil, newestFirst: Bool = false,
        rendering: RecordRendering = .whole, device: String? = nil
    ) {
        self.zone = zone
        self.syncToken = syncToken
        self.resultsLimit = resultsLimit
        self.recordTypes = recordTypes
        self.newestFirst = newestFirst
        self.rendering = rendering
        self.device = device
    }
}

/// How a page ended.
package struct ZoneChangesPage: Sendable {
    package let syncToken: String
    package let moreComing: Bool
    /// The zone to wait for, when the page is empty only because queued work goes through a shared tree of
    /// it.
    ///
    /// The answer may wait until the zone changes.
    package var awaited: ZoneNumber?
    /// The data that the device stored with its last change of the zone; only on the last page.
    package var clientToken: [UInt8]?
    /// The position of the token that the client sent; nil where it sent none.
    package var from: Position?
    /// The position of the token that it gets.
    package var to: Position?
    /// Records and deletions that the page shows.
    package var records = 0
}

/// How much an answer may still take; shared by the zones of one request.
package struct PageBudget: Sendable {
    package var bytes: Int
    /// Feed rows that may still be looked at, shown or not.
    package var rows: Int

    /// Whether the budget is used up, so that later zones must wait.
    package var isExhausted: Bool { bytes <= 0 || rows <= 0 }

    package init(bytes: Int, rows: Int) {
        self.bytes = bytes
        self.rows = rows
    }
}
