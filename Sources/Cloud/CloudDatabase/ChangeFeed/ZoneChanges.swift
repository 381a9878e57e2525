import CloudModel
import Storage

/// What one page of a zone's feed is asked for (web-services.md §4.6).
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
    /// The device that asks; nil for one that has left nothing.
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
    /// Set when it shows nothing only because a shared tree of this zone is still being worked through: the
    /// answer may wait until the zone moves.
    package var awaited: ZoneNumber?
    /// What the device left with its last change of the zone; on the last page.
    package var clientToken: [UInt8]?
}

/// How much an answer may still take; shared by the zones of one request.
package struct PageBudget: Sendable {
    package var bytes: Int
    /// Feed rows that may still be looked at, shown or not.
    package var rows: Int

    /// Whether a page ended because of it, so that later zones must wait.
    package var isExhausted: Bool { bytes <= 0 || rows <= 0 }

    package init(bytes: Int, rows: Int) {
        self.bytes = bytes
        self.rows = rows
    }
}
